/* SPDX-License-Identifier: MIT */
#include "mcp/content.h"

#include <inttypes.h>
#include <strings.h>

#include "mcp/uri.h"
#include "page/toolcall.h"
#include "site/call.h"
#include "site/refusal.h"
#include "site/workspaces.h"
#include "wire/json.h"
#include "wire/media.h"

/* A tool that writes MCP's own content blocks. */
#define CONTENT_TYPE "application/vnd.mcp.content+json"

struct ss_text
mcp_content_type(const struct spec *spec)
{
	const char *type = spec->output;

	if (type == NULL || strcmp(type, "text") == 0 ||
		(media_is_text(type) && !media_is_json(type)))
		return TEXT("");
	return (struct ss_text){ type, media_plain_len(type) };
}

static bool
is_own(struct ss_text type)
{
	return text_is(type, CONTENT_TYPE);
}

/* One value, which becomes the structure. */
static bool
is_value(struct ss_text type)
{
	return type.len > 0 && media_is_json(type.data) && !is_own(type);
}

/* Neither text nor JSON. */
static bool
is_bytes(struct ss_text type)
{
	return type.len > 0 && !media_is_json(type.data);
}

static void
text_block(struct mcp *m, struct ss_text text)
{
	mcp_comma(m);
	buf_text(m->out, "{\"type\":\"text\",\"text\":");
	json_string(m->out, text.data, text.len);
	buf_char(m->out, '}');
}

/* -------------------------------------------------------------- the cut -- */

/* Of the bytes of an event: for the rest of the message. */
#define REST_BYTES 8192
/* Around a value as structure. */
#define VALUE_BYTES 64

/* What a tool wrote, up to the cut. */
struct shown {
	struct ss_text out, err;
	size_t size; /* as JSON strings */
	bool cut;
};

/* How many bytes the output may have. */
static size_t
event_room(const struct mcp *m)
{
	size_t used = m->out->len + REST_BYTES;

	if (m->client.event_max == 0)
		return SIZE_MAX;
	return used < m->client.event_max ? m->client.event_max - used : 0;
}

/* Stdout gets at least three quarters. */
static struct shown
cut_to(struct ss_text out, struct ss_text err, size_t most)
{
	struct shown s = { .out = out, .err = err };
	size_t n, of_out, of_err;

	json_fit(out.data, out.len, SIZE_MAX, &of_out);
	json_fit(err.data, err.len, SIZE_MAX, &of_err);
	s.cut = most < of_out || most - of_out < of_err;
	if (s.cut) {
		n = most > of_out ? most - of_out : 0;
		s.err.len = json_fit(err.data, err.len,
			n > most / 4 ? n : most / 4, &of_err);
		n = most > of_err ? most - of_err : 0;
		s.out.len = json_fit(out.data, out.len, n, &of_out);
	}
	s.size = of_out + of_err;
	return s;
}

static void
cut_block(struct mcp *m, const struct shown *s, size_t whole, bool elsewhere)
{
	struct buf line = BUF_INIT(256);

	if (!s->cut)
		return;
	buf_printf(&line, "[cut: these are %zu of %zu bytes; %s]",
		s->out.len + s->err.len, whole,
		elsewhere ? "structuredContent has all"
			  : "ask for less: a limit, a filter, a range");
	text_block(m, buf_view(&line));
	m->out->failed |= line.failed;
	buf_release(&line);
}

/* The part of a tool with `lines` or `bytes`, for clients that read text. */
static void
part_block(struct mcp *m)
{
	const struct ss_part *p = &m->record.result.part;
	struct buf line = BUF_INIT(1024);

	if (p->lines == 0)
		return;
	buf_printf(&line, "[lines %" PRIu64 " to %" PRIu64 " of %" PRIu64,
		p->first, p->last, p->lines);
	if (p->next != NULL)
		buf_printf(&line,
			"; for what follows call again with the same "
			"arguments and \"next\": \"%s\"",
			p->next);
	else if (p->more)
		buf_text(&line, "; what follows is not kept");
	buf_char(&line, ']');
	text_block(m, buf_view(&line));
	m->out->failed |= line.failed;
	buf_release(&line);
}

/*
 * What a program wants to know of the run besides its text, where there is
 * something to know.  Content alone has the text: some clients give their
 * model content, some structuredContent, and some both.
 */
static void
note_status(struct mcp *m, bool cut)
{
	const struct ss_result *r = &m->record.result;
	struct buf *to = &m->result_meta;

	if (r->returncode != 0)
		buf_printf(to, ",\"" MCP_OWN "returncode\":%d", r->returncode);
	if (r->replayed)
		buf_text(to, ",\"" MCP_OWN "replayed\":true");
	if (r->workspace.len > 0) {
		buf_text(to, ",\"" WORKSPACE_META "\":");
		buf_add(to, r->workspace.data, r->workspace.len);
	}
	if (cut || r->part.more)
		buf_text(to, ",\"" MCP_OWN "truncated\":true");
	if (r->part.next == NULL)
		return;
	buf_text(to, ",\"" MCP_OWN TOOLCALL_NEXT "\":");
	json_string(to, r->part.next, strlen(r->part.next));
}

/* ------------------------------------------------------------ the output -- */

/* status: a last line about how it ended; "": none. */
static void
text_blocks(struct mcp *m, const struct shown *s, size_t whole, bool elsewhere,
	struct ss_text status)
{
	if (s->out.len > 0 || (s->err.len == 0 && status.len == 0))
		text_block(m, s->out);
	if (s->err.len > 0)
		text_block(m, s->err);
	cut_block(m, s, whole, elsewhere);
	part_block(m);
	if (status.len > 0)
		text_block(m, status);
}

static void
write_texts(struct mcp *m, struct ss_text out, struct ss_text err,
	struct ss_text status)
{
	struct shown text = cut_to(out, err, event_room(m));

	mcp_key(m, "content");
	buf_char(m->out, '[');
	text_blocks(m, &text, out.len + err.len, false, status);
	buf_char(m->out, ']');
	note_status(m, text.cut);
}

/* The structure is an object: another value is its member "result". */
static void
write_value(struct mcp *m, struct ss_text json)
{
	bool object = json.data[strspn(json.data, " \t\r\n")] == '{';

	mcp_key(m, "structuredContent");
	buf_text(m->out, object ? "" : "{\"result\":");
	json_compact(m->out, json.data, json.len);
	buf_text(m->out, object ? "" : "}");
}

/* Does the client say that it reads the structure alone? */
static bool
takes_structure(const struct mcp *m)
{
	return rpc_is_true(rpc_member(m->meta, MCP_OWN "structured"));
}

/*
 * Output that is declared to be JSON, as text and as structure; where it is not
 * or too large for an event, as text alone.
 */
static void
ran_value(struct mcp *m)
{
	const struct ss_result *r = &m->record.result;
	size_t most = event_room(m), value = r->out.len + VALUE_BYTES;
	struct buf line = BUF_INIT(512);
	struct ss_error why = { .code = SS_OK };
	bool fits = value <= most, good;
	struct shown text;

	good = fits && json_check(r->out.data, r->out.len, &why) == SS_OK;
	if (fits && !good)
		buf_printf(&line, "no structuredContent: %s", why.message);
	text = cut_to(good && takes_structure(m) ? TEXT("") : r->out, r->err,
		good ? most - value : most);
	mcp_key(m, "content");
	buf_char(m->out, '[');
	if (!good || !takes_structure(m) || r->err.len > 0)
		text_blocks(m, &text, r->out.len + r->err.len, good,
			buf_view(&line));
	buf_char(m->out, ']');
	if (good)
		write_value(m, r->out);
	m->out->failed |= line.failed;
	buf_release(&line);
}

static enum rpc_code
write_is_error(struct mcp *m, bool error)
{
	mcp_key(m, "isError");
	buf_text(m->out, error ? "true" : "false");
	return RPC_OK;
}

/* The reason is the end of stderr. */
static enum rpc_code
write_failure(struct mcp *m, struct ss_text out, struct ss_text err)
{
	struct buf reason = BUF_INIT((size_t)64 << 10);

	buf_text(&reason, m->err.message);
	if (m->err.hint[0] != '\0')
		buf_printf(&reason, "\n%s", m->err.hint);
	buf_text(&reason, "\nnext: ");
	refusal_print(&m->err, &m->record.result, &reason);
	write_texts(m, out,
		call_stderr(&m->site->arena, err, buf_view(&reason)), TEXT(""));
	m->out->failed |= reason.failed;
	buf_release(&reason);
	return write_is_error(m, true);
}

enum rpc_code
mcp_content_text(struct mcp *m, struct ss_text text)
{
	write_texts(m, text, TEXT(""), TEXT(""));
	return write_is_error(m, false);
}

enum rpc_code
mcp_content_refused(struct mcp *m, struct ss_text type)
{
	(void)type;
	return write_failure(m, TEXT(""), TEXT(""));
}

enum rpc_code
mcp_content_ended(struct mcp *m, struct ss_text type)
{
	const struct ss_result *r = &m->record.result;

	/* Half an image is of no use. */
	return is_bytes(type) || is_own(type)
		? mcp_content_refused(m, type)
		: write_failure(m, r->out, r->err);
}

/* Blocks that the tool wrote itself: a JSON list of objects with a type. */
static bool
own_blocks(struct mcp *m, struct ss_text out)
{
	struct rpc wrapped = { 0 };
	struct buf message = BUF_INIT(out.len + 64);
	const struct rpc_value *list = NULL;
	bool good = false;

	buf_text(&message,
		"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":"
		"{\"x\":");
	buf_add(&message, out.data, out.len);
	buf_text(&message, "}}");
	if (buf_ok(&message) &&
		rpc_parse(message.data, message.len, &wrapped, NULL) == RPC_OK)
		list = rpc_member(wrapped.params, "x");
	for (const struct rpc_value *v = rpc_first(list); v != NULL;
		v = rpc_next(v)) {
		good = rpc_text(rpc_member(v, "type")) != NULL;
		if (!good)
			break;
	}
	if (good && rpc_is_list(list))
		for (const struct rpc_value *v = rpc_first(list); v != NULL;
			v = rpc_next(v)) {
			mcp_comma(m);
			rpc_write(m->out, v);
		}
	rpc_release(&wrapped);
	buf_release(&message);
	return good;
}

static void
binary_block(struct mcp *m, struct ss_text type, const char *path)
{
	bool image = strncasecmp(type.data, "image/", 6) == 0;
	bool sound = strncasecmp(type.data, "audio/", 6) == 0;

	mcp_comma(m);
	if (image || sound) {
		buf_printf(
			m->out, "{\"type\":\"%s\"", image ? "image" : "audio");
		mcp_key(m, "data");
	} else {
		buf_text(m->out, "{\"type\":\"resource\",\"resource\":{");
		mcp_key(m, "uri");
		mcp_uri(m, path);
		mcp_key(m, "blob");
	}
	mcp_base64(m, m->record.result.out);
	mcp_key(m, "mimeType");
	json_string(m->out, type.data, type.len);
	buf_text(m->out, image || sound ? "}" : "}}");
}

/* The stderr of a tool that wrote bytes, as much of it as fits. */
static void
stderr_block(struct mcp *m)
{
	struct ss_text err = m->record.result.err;
	size_t used;

	err.len = json_fit(err.data, err.len, event_room(m), &used);
	if (err.len > 0)
		text_block(m, err);
}

static void
ran_texts(struct mcp *m, struct ss_text type)
{
	const struct ss_result *r = &m->record.result;
	struct buf line = BUF_INIT(256);
	struct ss_text out = r->out;

	/* A failed tool may say why, but not in half an image. */
	if (is_bytes(type) && !utf8_valid(out.data, out.len))
		out.len = 0;
	if (r->returncode != 0) {
		buf_printf(&line, "exit status %d", r->returncode);
		if (r->limit != NULL)
			buf_printf(&line, " (limit: %s)", r->limit);
		if (proto_may_be_denied(r))
			buf_text(&line, "\n" PROTO_DENIED_HINT);
	}
	write_texts(m, out, r->err, buf_view(&line));
	buf_release(&line);
}

/* False: the output is no list of blocks, or too large for an event. */
static bool
ran_blocks(struct mcp *m, struct ss_text type, const char *path)
{
	size_t start = m->out->len, most = event_room(m);
	bool own = is_own(type), good = true;

	mcp_key(m, "content");
	buf_char(m->out, '[');
	if (own)
		good = own_blocks(m, m->record.result.out);
	else
		binary_block(m, type, path);
	if (good && m->out->len - start <= most) {
		if (!own)
			stderr_block(m);
		buf_char(m->out, ']');
		return true;
	}
	m->out->len = start;
	if (good)
		error_set(&m->err, SS_OUTPUT_TOO_LARGE,
			"the tool ran; its output of %zu bytes is too large "
			"for an event: call it without a progressToken",
			m->record.result.out.len);
	return false;
}

enum rpc_code
mcp_content_ran(struct mcp *m, struct ss_text type, const char *path)
{
	bool failed = m->record.result.returncode != 0;

	if (is_value(type) && !failed) {
		ran_value(m);
	} else if (type.len == 0 || failed || !ran_blocks(m, type, path)) {
		if (m->err.code == SS_OUTPUT_TOO_LARGE)
			return mcp_content_refused(m, type);
		ran_texts(m, type);
	}
	return write_is_error(m, failed);
}
