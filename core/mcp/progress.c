/* SPDX-License-Identifier: MIT */
#include "mcp/progress.h"
#include "base/clock.h"
#include "wire/json.h"
#include "wire/progress.h"

/*
 * Sent at the start, when the tool writes, and in silence often enough for
 * clients, which give up after 60 s by default, some after 10 s, and for
 * proxies.
 */
#define HEARTBEAT_MS 5000
#define SPACING_MS 50 /* between two, while a tool writes without pause */
#define TICK_MS 200   /* at most so late comes the last line of a burst */

#define LOGGED_BYTES 8192 /* bytes of a log message */
#define LOGGED_LINES 1000 /* of one run */

/* A tool that runs, for a client that wants to hear of it. */
struct watched {
	struct mcp *m;
	const struct rpc_value *token; /* NULL: no progress is wanted */
	bool logs;
	struct buf line; /* of its stderr, not sent yet */
	size_t logged;
	enum spec_progress kind;
	struct progress lines; /* that tell the progress, or of its stderr */
	struct buf out[2];     /* what the tool wrote, by stream */
	size_t sent;           /* bytes of both that were reported */
	bool wrote;            /* the tool, and that was reported */
	uint64_t started_ms, sent_ms;
	uint64_t value; /* in thousandths; must rise each time */
};

static size_t
bytes_written(const struct watched *p)
{
	return p->out[0].len + p->out[1].len;
}

/* Has the tool written since the last notification, or told how far it is? */
static bool
has_news(const struct watched *p)
{
	return p->kind == SPEC_PROGRESS_NONE ? bytes_written(p) > p->sent
					     : p->lines.news;
}

/*
 * What the tool counts, else, for one that does not tell its progress, the
 * milliseconds.  A text without numbers, and a count that falls back, add a
 * thousandth: the protocol wants each value above the last one.
 */
static uint64_t
next_value(const struct watched *p, uint64_t now)
{
	uint64_t value = p->kind == SPEC_PROGRESS_NONE ? now - p->started_ms
						       : p->lines.value;

	return value > p->value ? value : p->value + 1;
}

static void
write_line(struct watched *p, struct buf *text)
{
	bool counts = p->kind != SPEC_PROGRESS_NONE;
	struct buf line = BUF_INIT(PROGRESS_TEXT_MAX);

	if (counts && p->value <= p->lines.total)
		buf_printf(
			text, ",\"total\":%.3f", (double)p->lines.total / 1000);
	if (p->lines.news)
		progress_message(&p->lines, counts, &line);
	p->lines.news = false;
	if (line.len > 0) {
		buf_text(text, ",\"message\":");
		json_string(text, line.data, line.len);
	}
	text->failed |= line.failed;
	buf_release(&line);
}

static void
send_progress(struct watched *p)
{
	struct buf text = BUF_INIT(8192);
	uint64_t now = clock_ms();

	p->value = next_value(p, now);
	p->sent_ms = now;
	p->sent = bytes_written(p);
	p->wrote = has_news(p) || p->sent > 0;
	buf_text(&text,
		"{\"jsonrpc\":\"2.0\",\"method\":"
		"\"notifications/progress\",\"params\":{"
		"\"progressToken\":");
	rpc_write(&text, p->token);
	buf_printf(&text, ",\"progress\":%.3f", (double)p->value / 1000);
	write_line(p, &text);
	buf_text(&text, "}}");
	if (buf_ok(&text))
		p->m->client.notify(
			p->m->client.notify_ctx, text.data, text.len);
	buf_release(&text);
}

/* notifications/message, which this revision has for one request alone. */
static void
send_log(struct watched *p)
{
	struct buf text = BUF_INIT(16 * LOGGED_BYTES);

	if (p->logged++ < LOGGED_LINES) {
		buf_text(&text,
			"{\"jsonrpc\":\"2.0\",\"method\":"
			"\"notifications/message\",\"params\":{"
			"\"level\":\"info\",\"logger\":\"stderr\",\"data\":");
		json_string(&text, p->line.data, p->line.len);
		buf_text(&text, "}}");
	}
	if (text.len > 0 && buf_ok(&text))
		p->m->client.notify(
			p->m->client.notify_ctx, text.data, text.len);
	buf_clear(&p->line);
	p->line.full = false;
	buf_release(&text);
}

/* A longer line is cut. */
static void
log_lines(struct watched *p, const char *data, size_t len)
{
	const char *end;

	while ((end = memchr(data, '\n', len)) != NULL) {
		buf_add(&p->line, data, (size_t)(end - data));
		send_log(p);
		len -= (size_t)(end + 1 - data);
		data = end + 1;
	}
	if (p->line.len + len <= LOGGED_BYTES)
		buf_add(&p->line, data, len);
}

static void
send_in_time(struct watched *p)
{
	uint64_t silent_ms = clock_ms() - p->sent_ms;

	if (p->token == NULL)
		return;
	if (silent_ms >= HEARTBEAT_MS ||
		(has_news(p) && (!p->wrote || silent_ms >= SPACING_MS)))
		send_progress(p);
}

static void
on_output(void *ctx, int stream, const char *data, size_t len)
{
	struct watched *p = ctx;

	if (stream > 0)
		buf_add(&p->out[stream - 1], data, len);
	if (stream == 2 && p->logs)
		log_lines(p, data, len);
	if (stream == 2 && p->kind != SPEC_PROGRESS_FD)
		progress_read(&p->lines, data, len);
	send_in_time(p);
}

static void
on_progress(void *ctx, const char *data, size_t len)
{
	struct watched *p = ctx;

	progress_read(&p->lines, data, len);
	send_in_time(p);
}

/* Copies into the arena of the request: the buffers are released. */
static bool
copy_output(struct mcp *m, const struct buf *b, struct ss_text *out)
{
	out->len = b->len;
	out->data = arena_copy(&m->site->arena, b->data, b->len);
	return out->data != NULL && !b->failed;
}

/* The tool's lines have the level info. */
static bool
wants_logs(const struct mcp *m)
{
	const char *level =
		rpc_text(rpc_member(m->meta, MCP_NAMESPACE "logLevel"));

	return m->revision->in_message && level != NULL &&
		(strcmp(level, "info") == 0 || strcmp(level, "debug") == 0);
}

bool
mcp_progress_wanted(const struct mcp *m)
{
	return rpc_is_token(rpc_member(m->meta, "progressToken")) ||
		wants_logs(m);
}

static enum ss_err
run_watched(struct mcp *m, struct call *job, enum spec_progress kind,
	const struct rpc_value *token)
{
	size_t ceiling = m->site->config.limits.max_output_bytes;
	struct watched p = { .m = m,
		.token = token,
		.kind = kind,
		.out = { BUF_INIT(ceiling), BUF_INIT(ceiling) },
		.logs = wants_logs(m),
		.line = BUF_INIT(LOGGED_BYTES),
		.started_ms = clock_ms() };
	const char *stage = "call";
	enum ss_err code;

	job->output = on_output;
	job->output_ctx = &p;
	job->progress = on_progress;
	job->tick_ms = TICK_MS;
	if (token != NULL)
		send_progress(&p);
	code = call_run(
		&m->site->calls, job, &stage, &m->record.result, &m->err);
	if (p.line.len > 0)
		send_log(&p);
	buf_release(&p.line);
	job->output = NULL;
	job->output_ctx = NULL;
	job->progress = NULL;
	/* A line that came less than SPACING_MS or a tick before the end. */
	if (code == SS_OK && p.lines.news && token != NULL)
		send_progress(&p);
	if ((code == SS_OK || call_was_ended(code)) &&
		(!copy_output(m, &p.out[0], &m->record.result.out) ||
			!copy_output(m, &p.out[1], &m->record.result.err)))
		code = error_memory(&m->err);
	buf_release(&p.out[0]);
	buf_release(&p.out[1]);
	return code;
}

enum ss_err
mcp_progress_run(struct mcp *m, struct call *job, enum spec_progress kind)
{
	const struct rpc_value *token = rpc_member(m->meta, "progressToken");
	const char *stage = "call";

	if (m->client.notify != NULL && mcp_progress_wanted(m))
		return run_watched(
			m, job, kind, rpc_is_token(token) ? token : NULL);
	return call_run(
		&m->site->calls, job, &stage, &m->record.result, &m->err);
}
