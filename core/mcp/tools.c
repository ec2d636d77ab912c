/* SPDX-License-Identifier: MIT */
#include "mcp/tools.h"
#include "mcp/document.h"
#include "mcp/list.h"
#include "mcp/schema.h"
#include "wire/json.h"

#define RUN_PAGES_MAX 4096 /* bytes of paths in the description of `run` */

bool
mcp_tools_is_generic(const struct mcp *m, const struct catalog *c)
{
	return c->tool_count > m->site->config.mcp.max_tools;
}

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

void
mcp_tools_pages(const struct catalog *c, struct buf *out, size_t most)
{
	size_t named = 0, count = 0, start = out->len;

	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];

		if (p->tool_count == 0)
			continue;
		count++;
		if (named + 1 < count ||
			out->len - start + strlen(p->path) > most)
			continue;
		buf_printf(out, "%s%s", named > 0 ? ", " : "", p->path);
		named = count;
	}
	if (count > named)
		buf_printf(out, " and %zu more (resources/list has all)",
			count - named);
}

static void
write_run_tool(struct mcp *m, const struct catalog *c)
{
	struct buf text = BUF_INIT(RUN_PAGES_MAX + 1024);

	buf_text(m->out, "{\"name\":\"" MCP_TOOLS_RUN "\"");
	mcp_text(m, "title", "Run a command that a page allows");
	buf_text(&text,
		"Each page of this site lists in its frontmatter, under "
		"`tools:`, the commands that may be run in its directory: read "
		"the page as a resource first. {} stands for any word, a regex "
		"for a word that matches it.\nPages with tools: ");
	mcp_tools_pages(c, &text, RUN_PAGES_MAX);
	mcp_key(m, "description");
	json_string(m->out, text.data, text.len);
	m->out->failed |= text.failed;
	buf_release(&text);
	mcp_key(m, "inputSchema");
	buf_text(m->out,
		"{\"type\":\"object\",\"properties\":{"
		"\"page\":{\"type\":\"string\",\"description\":\"The page's "
		"path, as docs/a.md\"},"
		"\"command\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}"
		",\"minItems\":1,\"description\":\"The command, word by "
		"word\"},"
		"\"env\":{\"type\":\"object\",\"additionalProperties\":"
		"{\"type\":\"string\"}},"
		"\"stdin\":{\"type\":\"string\"}");
	mcp_schema_next(m);
	buf_text(m->out,
		"},\"required\":[\"page\",\"command\"],"
		"\"additionalProperties\":false}");
	/* No outputSchema: what a tool declares decides the structure. */
	mcp_schema_hints(m, true,
		m->site->grant.network != NETWORK_OFF || m->site->grant.http);
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
	if (mcp_tools_is_generic(m, c))
		write_run_tool(m, c);
	for (size_t i = 0; !mcp_tools_is_generic(m, c) && i < c->page_count;
		i++)
		write_tools_of(m, &l, &c->pages[i]);
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}
