/* SPDX-License-Identifier: MIT */
/*
 * News of a running tool, for a request that gave a token for them: at the
 * start, when it writes, and often enough in silence that neither clients
 * (60 s by default) nor what lies between lose patience.
 */
#include "base/clock.h"
#include "mcp/parts.h"
#include "wire/json.h"

#define HEARTBEAT_MS 10000
#define SPACING_MS 50 /* a tool that writes without pause is told this often */
#define TICK_MS 200   /* so late at most is the last line of a burst */
#define LINE_MAX 200

struct progress {
	struct mcp *m;
	const struct rpc_value *token;
	struct buf out[2]; /* what the tool wrote, by stream */
	size_t told_err;   /* of its stderr */
	size_t told;       /* of both */
	bool spoke;        /* the tool, and that was told */
	uint64_t started_ms, told_ms;
	uint64_t value; /* milliseconds; must rise each time */
};

/* The last whole line of stderr, when it is a new one: where a tool is. */
static struct ss_text
last_line(struct progress *p)
{
	const struct buf *b = &p->out[1];
	size_t end = b->len, start;

	while (end > p->told_err && b->data[end - 1] != '\n')
		end--;
	if (end == p->told_err)
		return TEXT("");
	p->told_err = end--;
	if (end > 0 && b->data[end - 1] == '\r')
		end--;
	for (start = end; start > 0 && b->data[start - 1] != '\n';)
		start--;
	return (struct ss_text){ b->data + start,
		utf8_cut(b->data + start, end - start, LINE_MAX) };
}

static size_t
written(const struct progress *p)
{
	return p->out[0].len + p->out[1].len;
}

/* Has the tool written since it was last told? */
static bool
has_news(const struct progress *p)
{
	return written(p) > p->told;
}

static void
tell(struct progress *p)
{
	uint64_t now = clock_ms(), value = now - p->started_ms;
	struct buf text = BUF_INIT(8192);
	struct ss_text line = last_line(p);

	p->value = value > p->value ? value : p->value + 1;
	p->told_ms = now;
	p->told = written(p);
	p->spoke = p->told > 0;
	buf_text(&text,
		"{\"jsonrpc\":\"2.0\",\"method\":"
		"\"notifications/progress\",\"params\":{"
		"\"progressToken\":");
	rpc_write(&text, p->token);
	buf_printf(&text, ",\"progress\":%.3f", (double)p->value / 1000);
	if (line.len > 0) {
		buf_text(&text, ",\"message\":");
		json_string(&text, line.data, line.len);
	}
	buf_text(&text, "}}");
	if (buf_ok(&text))
		p->m->notify(p->m->notify_ctx, text.data, text.len);
	buf_release(&text);
}

static void
watch(void *ctx, int stream, const char *data, size_t len)
{
	struct progress *p = ctx;

	uint64_t silent_ms = clock_ms() - p->told_ms;

	if (stream > 0)
		buf_add(&p->out[stream - 1], data, len);
	if (silent_ms >= HEARTBEAT_MS ||
		(has_news(p) && (!p->spoke || silent_ms >= SPACING_MS)))
		tell(p);
}

/* A copy for as long as the request: the buffers are released. */
static bool
keep(struct mcp *m, const struct buf *b, struct ss_text *out)
{
	out->len = b->len;
	out->data = arena_copy(&m->site->arena, b->data, b->len);
	return out->data != NULL && !b->failed;
}

static enum ss_err
run_watched(struct mcp *m, struct call *job, const struct rpc_value *token)
{
	size_t ceiling = m->site->config.limits.max_output_bytes;
	struct progress p = { .m = m,
		.token = token,
		.out = { BUF_INIT(ceiling), BUF_INIT(ceiling) },
		.started_ms = clock_ms() };
	const char *stage = "call";
	enum ss_err code;

	job->output = watch;
	job->output_ctx = &p;
	job->tick_ms = TICK_MS;
	tell(&p);
	code = call_run(m->site, job, &stage, &m->result, &m->err);
	job->output = NULL;
	job->output_ctx = NULL;
	if ((code == SS_OK || call_was_ended(code)) &&
		(!keep(m, &p.out[0], &m->result.out) ||
			!keep(m, &p.out[1], &m->result.err)))
		code = error_memory(&m->err);
	buf_release(&p.out[0]);
	buf_release(&p.out[1]);
	return code;
}

enum ss_err
mcp_run(struct mcp *m, struct call *job)
{
	const struct rpc_value *token = rpc_member(m->meta, "progressToken");
	const char *stage = "call";

	if (m->notify != NULL && rpc_is_token(token))
		return run_watched(m, job, token);
	return call_run(m->site, job, &stage, &m->result, &m->err);
}
