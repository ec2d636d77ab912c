/* SPDX-License-Identifier: MIT */
#include "mcp/server.h"
#include "wire/json.h"

#define ERRORS_SHOWN 5
#define INSTRUCTIONS_MAX 32768

void
mcp_server_info(struct mcp *m)
{
	buf_text(m->out,
		"{\"name\":\"statespace\",\"version\":\"" SS_VERSION "\"}");
}

/* The model reads the instructions: it can tell a person what is missing. */
static void
add_page_errors(struct mcp *m, struct buf *text)
{
	const struct catalog_page *page;
	struct catalog *c;
	size_t at = 0, count = 0;

	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK) {
		error_clear(&m->err);
		return;
	}
	while ((page = catalog_next_error(c, &at)) != NULL &&
		count++ < ERRORS_SHOWN)
		buf_printf(text, "%s /%s (%s)",
			count == 1 ? " These pages have an error and offer no "
				     "tools:"
				   : ",",
			page->path, page->error);
	if (page != NULL)
		buf_text(text, " and more");
	if (count > 0)
		buf_char(text, '.');
}

static void
write_capabilities(struct mcp *m)
{
	struct buf text = BUF_INIT(INSTRUCTIONS_MAX);

	mcp_key(m, "capabilities");
	buf_text(m->out,
		"{\"tools\":{},\"resources\":{},\"prompts\":{},"
		"\"completions\":{},\"extensions\":{\"" MCP_NAMESPACE
		"skills\":{}}}");
	buf_text(&text,
		"A site of Markdown pages. Its pages are the resources: read "
		"the page of a tool before you call it. Each tool runs one "
		"command, in a sandbox, in the directory of its page.");
	add_page_errors(m, &text);
	mcp_key(m, "instructions");
	json_string(m->out, text.data, text.len);
	buf_release(&text);
}

enum rpc_code
mcp_server_initialize(struct mcp *m)
{
	const char *asked = mcp_param(m, "protocolVersion");
	const struct mcp_revision *r;

	if (asked == NULL)
		return RPC_BAD_PARAMS;
	r = mcp_revision_find(asked);
	if (r == NULL || r->in_message)
		r = mcp_revision_newest(false);
	mcp_text(m, "protocolVersion", r->version);
	mcp_key(m, "serverInfo");
	mcp_server_info(m);
	write_capabilities(m);
	return RPC_OK;
}

enum rpc_code
mcp_server_discover(struct mcp *m)
{
	mcp_key(m, "supportedVersions");
	mcp_revision_list(m->out);
	write_capabilities(m);
	mcp_cacheable(m);
	return RPC_OK;
}
