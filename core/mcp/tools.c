/* SPDX-License-Identifier: MIT */
#include "mcp/tools.h"
#include "mcp/document.h"
#include "mcp/large.h"
#include "mcp/list.h"
#include "mcp/schema.h"
#include "mcp/workspace.h"
#include "wire/json.h"

static void
write_description(struct mcp *m, const struct catalog_page *listed,
	const struct spec *spec)
{
	struct buf text = BUF_INIT(8192);
	const char *words = spec->description != NULL ? spec->description
						      : listed->description;

	if (words[0] != '\0')
		buf_printf(&text, "%s\n", words);
	buf_text(&text, "Runs ");
	spec_outline(spec, &text);
	buf_printf(&text, " in the directory of /%s", listed->path);
	if (spec->output != NULL && strcmp(spec->output, "text") != 0)
		buf_printf(&text, "; prints %s", spec->output);
	if (spec->confirm)
		buf_text(&text, "; a person is asked first");
	mcp_key(m, "description");
	json_string(m->out, text.data, text.len);
	m->out->failed |= text.failed;
	buf_release(&text);
}

static void
write_tool(struct mcp *m, const struct catalog_page *listed,
	const struct catalog_tool *tool, const struct page *page)
{
	const struct spec *spec = &page->front.specs[tool->index];

	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_text(m, "name", tool->name);
	mcp_text(m, "title", spec->title != NULL ? spec->title : listed->title);
	write_description(m, listed, spec);
	mcp_schema_input(m, page, spec);
	mcp_schema_hints_of(m, page, spec);
	buf_char(m->out, '}');
}

/* The tools of a page that this piece includes; the first one opens it. */
static void
write_tools_of(
	struct mcp *m, struct mcp_list *l, const struct catalog_page *listed)
{
	struct ss_document doc;
	struct page *page = NULL;

	for (size_t k = 0; k < listed->tool_count; k++) {
		const struct catalog_tool *t = &listed->tools[k];

		if (t->hidden || !mcp_list_includes(l, t->name))
			continue;
		if (page == NULL &&
			mcp_document_open(m, listed->path, &doc, &page) !=
				SS_OK)
			return; /* it is gone */
		if (t->index < page->front.spec_count)
			write_tool(m, listed, t, page);
	}
	if (page != NULL)
		mcp_document_close(m, &doc);
}

enum rpc_code
mcp_tools_list(struct mcp *m)
{
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code = mcp_list_begin(m, &l, "tools", MCP_LIST_PIECE, &c);

	if (code != RPC_OK)
		return code;
	if (mcp_large(m, c))
		mcp_large_list(m);
	for (size_t i = 0; !mcp_large(m, c) && i < c->page_count; i++)
		write_tools_of(m, &l, &c->pages[i]);
	if (l.after == NULL)
		mcp_workspace_list(m, c);
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}
