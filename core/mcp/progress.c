/* SPDX-License-Identifier: MIT */
#include "mcp/progress.h"
#include "base/clock.h"
#include "wire/json.h"

/*
 * Sent at the start, when the tool writes, and in silence often enough for
 * clients, which give up after 60 s by default, and for proxies.
 */
#define HEARTBEAT_MS 10000
#define SPACING_MS 50 /* between two, while a tool writes without pause */
#define TICK_MS 200   /* at most so late comes the last line of a burst */
#define LINE_MAX 200

struct progress {
	struct mcp *m;
	const struct rpc_value *token;
	struct buf out[2]; /* what the tool wrote, by stream */
	size_t sent_err;   /* bytes of its stderr that were reported */
	size_t sent;       /* of both */
	bool wrote;        /* the tool, and that was reported */
	uint64_t started_ms, sent_ms;
	uint64_t value; /* milliseconds; must rise each time */
};

/* The last whole line of stderr, when it is a new one. */
static struct ss_text
last_line(struct progress *p)
{
	const struct buf *b = &p->out[1];
	size_t end = b->len, start;

	while (end > p->sent_err && b->data[end - 1] != '\n')
		end--;
	if (end == p->sent_err)
		return TEXT("");
	p->sent_err = end--;
	if (end > 0 && b->data[end - 1] == '\r')
		end--;
	for (start = end; start > 0 && b->data[start - 1] != '\n';)
		start--;
	return (struct ss_text){ b->data + start,
		utf8_cut(b->data + start, end - start, LINE_MAX) };
}

static size_t
bytes_written(const struct progress *p)
{
	return p->out[0].len + p->out[1].len;
}

/* Has the tool written since the last notification? */
static bool
has_news(const struct progress *p)
{
	return bytes_written(p) > p->sent;
}

static void
send_progress(struct progress *p)
{
	uint64_t now = clock_ms(), value = now - p->started_ms;
	struct buf text = BUF_INIT(8192);
	struct ss_text line = last_line(p);

	p->value = value > p->value ? value : p->value + 1;
	p->sent_ms = now;
	p->sent = bytes_written(p);
	p->wrote = p->sent > 0;
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
		p->m->client.notify(
			p->m->client.notify_ctx, text.data, text.len);
	buf_release(&text);
}

static void
on_output(void *ctx, int stream, const char *data, size_t len)
{
	struct progress *p = ctx;
	uint64_t silent_ms = clock_ms() - p->sent_ms;

	if (stream > 0)
		buf_add(&p->out[stream - 1], data, len);
	if (silent_ms >= HEARTBEAT_MS ||
		(has_news(p) && (!p->wrote || silent_ms >= SPACING_MS)))
		send_progress(p);
}

/* Copies into the arena of the request: the buffers are released. */
static bool
copy_output(struct mcp *m, const struct buf *b, struct ss_text *out)
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

	job->output = on_output;
	job->output_ctx = &p;
	job->tick_ms = TICK_MS;
	send_progress(&p);
	code = call_run(
		&m->site->calls, job, &stage, &m->record.result, &m->err);
	job->output = NULL;
	job->output_ctx = NULL;
	if ((code == SS_OK || call_was_ended(code)) &&
		(!copy_output(m, &p.out[0], &m->record.result.out) ||
			!copy_output(m, &p.out[1], &m->record.result.err)))
		code = error_memory(&m->err);
	buf_release(&p.out[0]);
	buf_release(&p.out[1]);
	return code;
}

enum ss_err
mcp_progress_run(struct mcp *m, struct call *job)
{
	const struct rpc_value *token = rpc_member(m->meta, "progressToken");
	const char *stage = "call";

	if (m->client.notify != NULL && rpc_is_token(token))
		return run_watched(m, job, token);
	return call_run(
		&m->site->calls, job, &stage, &m->record.result, &m->err);
}
