/* SPDX-License-Identifier: MIT */
/*
 * What a call gave, as MCP's content blocks and structure: text, bytes of a
 * type, or blocks that the tool wrote itself.
 */
#include "mcp/call.h"
#include "wire/json.h"

/* A tool that writes MCP's own content blocks. */
#define CONTENT_TYPE "application/vnd.mcp.content+json"

struct ss_text
mcp_output_type(const struct spec *spec)
{
	struct ss_text type = text_of(spec->output);
	const char *end;

	if (spec->output == NULL || text_is(type, "text") ||
		text_starts(type, "text/") || text_is(type, "application/json"))
		return TEXT("");
	end = strpbrk(type.data, "; ");
	if (end != NULL)
		type.len = (size_t)(end - type.data);
	return type;
}

static void
text_block(struct mcp *m, struct ss_text text)
{
	mcp_comma(m);
	buf_text(m->out, "{\"type\":\"text\",\"text\":");
	json_string(m->out, text.data, text.len);
	buf_char(m->out, '}');
}

static void
structured(struct mcp *m, struct ss_text out, struct ss_text err, int code)
{
	mcp_key(m, "structuredContent");
	buf_text(m->out, "{\"stdout\":");
	json_string(m->out, out.data, out.len);
	buf_text(m->out, ",\"stderr\":");
	json_string(m->out, err.data, err.len);
	buf_printf(m->out, ",\"returncode\":%d}", code);
}

enum rpc_code
mcp_refused(struct mcp *m, struct ss_text type)
{
	struct buf text =
		BUF_INIT(sizeof(m->err.message) + sizeof(m->err.hint) + 2);

	buf_text(&text, m->err.message);
	if (m->err.hint[0] != '\0')
		buf_printf(&text, "\n%s", m->err.hint);
	mcp_key(m, "content");
	buf_char(m->out, '[');
	text_block(m, buf_view(&text));
	buf_char(m->out, ']');
	if (type.len == 0)
		structured(m, TEXT(""), buf_view(&text), 1);
	mcp_key(m, "isError");
	buf_text(m->out, "true");
	buf_release(&text);
	return RPC_OK;
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
	bool image = text_starts(type, "image/");
	bool sound = text_starts(type, "audio/");

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
	mcp_base64(m, m->result.out);
	mcp_key(m, "mimeType");
	json_string(m->out, type.data, type.len);
	buf_text(m->out, image || sound ? "}" : "}}");
}

static void
text_blocks(struct mcp *m)
{
	const struct ss_result *r = &m->result;
	struct buf line = BUF_INIT(256);

	if (r->out.len > 0 || (r->err.len == 0 && r->returncode == 0))
		text_block(m, r->out);
	if (r->err.len > 0)
		text_block(m, r->err);
	if (r->returncode != 0) {
		buf_printf(&line, "exit status %d", r->returncode);
		if (r->limit != NULL)
			buf_printf(&line, " (limit: %s)", r->limit);
		text_block(m, buf_view(&line));
	}
	buf_release(&line);
}

enum rpc_code
mcp_ran(struct mcp *m, struct ss_text type, const char *path)
{
	const struct ss_result *r = &m->result;

	mcp_key(m, "content");
	buf_char(m->out, '[');
	if (type.len == 0 || r->returncode != 0 ||
		(text_is(type, CONTENT_TYPE) && !own_blocks(m, r->out)))
		text_blocks(m);
	else if (!text_is(type, CONTENT_TYPE))
		binary_block(m, type, path);
	buf_char(m->out, ']');
	if (type.len == 0)
		structured(m, r->out, r->err, r->returncode);
	mcp_key(m, "isError");
	buf_text(m->out, r->returncode != 0 ? "true" : "false");
	return RPC_OK;
}
