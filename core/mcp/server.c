/* SPDX-License-Identifier: MIT */
#include "mcp/server.h"
#include "mcp/large.h"
#include "mcp/tasks.h"
#include "wire/json.h"

#define ERRORS_SHOWN 5
#define INSTRUCTIONS_MAX 32768

static void
write_icon(struct mcp *m)
{
	const char *icon = m->site->config.mcp.icon;

	if (icon[0] == '\0')
		return;
	mcp_key(m, "icons");
	buf_text(m->out, "[{\"src\":");
	mcp_string(m, icon);
	buf_text(m->out, "}]");
}

void
mcp_server_info(struct mcp *m, bool whole)
{
	const char *name = m->site->config.mcp.name;

	buf_text(m->out, "{\"name\":");
	mcp_string(m, name[0] != '\0' ? name : "statespace");
	mcp_text(m, "version", SS_VERSION);
	if (whole)
		write_icon(m);
	buf_char(m->out, '}');
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

#define ABOUT "A site of Markdown pages"

/* [mcp] instructions come first: they say what the site is for. */
static void
write_instructions(struct mcp *m)
{
	const char *own = m->site->config.mcp.instructions;
	struct buf text = BUF_INIT(INSTRUCTIONS_MAX);
	struct catalog *c;
	bool large = false;

	if (catalog_refresh(&m->site->catalog, &c, &m->err) == SS_OK)
		large = mcp_large(m, c);
	else
		error_clear(&m->err);
	if (own[0] != '\0')
		buf_printf(&text, "%s\n", own);
	if (large)
		buf_text(&text,
			ABOUT " with tools: " MCP_LARGE_SEARCH
			      ", then " MCP_LARGE_READ " or " MCP_LARGE_RUN
			      ".");
	else
		buf_text(&text,
			ABOUT ". Its pages are the resources: read "
			      "the page of a tool before you call it. Each "
			      "tool runs one command, in a sandbox, in the "
			      "directory of its page.");
	add_page_errors(m, &text);
	mcp_key(m, "instructions");
	json_string(m->out, text.data, text.len);
	m->out->failed |= text.failed;
	buf_release(&text);
}

static void
write_capabilities(struct mcp *m)
{
	mcp_key(m, "capabilities");
	/* The level of an older client would have to be kept. */
	buf_printf(m->out,
		"{%s\"tools\":{},\"resources\":{},\"prompts\":{},"
		"\"completions\":{},\"extensions\":{\"" MCP_NAMESPACE
		"skills\":{\"directoryRead\":true}",
		m->revision->in_message ? "\"logging\":{}," : "");
	if (mcp_tasks_possible(m))
		buf_text(m->out, ",\"" MCP_TASKS "\":{}");
	buf_text(m->out, "}}");
	write_instructions(m);
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
	mcp_server_info(m, true);
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
