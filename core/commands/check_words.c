/* SPDX-License-Identifier: MIT */
#include "commands/check_words.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/openapi.h"
#include "page/example.h"
#include "page/form.h"
#include "page/toolname.h"

struct words_check {
	struct ss_site *site;
	const struct catalog *catalog;
	struct buf openapi;
	lint_fn fn;
	void *ctx;
};

static void
report(const struct words_check *w, const struct catalog_page *page,
	const char *where, const char *name)
{
	char message[512];

	snprintf(message, sizeof(message),
		"%s does not have the tool %s of %.200s as the others have it",
		where, name, page->path);
	w->fn(w->ctx,
		&(const struct ss_problem){ .level = SS_LEVEL_ERROR,
			.message = message,
			.hint = "this is a mistake of statespace: report it "
				"with the page" });
}

static bool
has_text(const char *data, size_t len, const char *before, const char *name,
	const char *after)
{
	char text[2 * TOOLCALL_NAME_MAX + 64];
	int n = snprintf(text, sizeof(text), "%s%s%s", before, name, after);

	return memmem(data, len, text, (size_t)n) != NULL;
}

/* The example of a command must be taken by this tool and no other. */
static bool
is_matched(struct words_check *w, const struct page *page,
	const struct catalog_page *listed, size_t index)
{
	const struct form_page of = { .specs = page->front.specs,
		.count = page->front.spec_count,
		.path = listed->path,
		.arena = &w->site->arena };
	struct form form;
	bool failed = false;
	size_t tool;

	if (!example_is_command(of.specs, index, &failed) ||
		!form_of_tool(&of, index, &form))
		return true;
	return match_choose(of.specs, of.count, form.words, form.word_count,
		       of.arena, &tool, NULL, NULL) == SS_OK &&
		tool == index;
}

static bool
check_tool(struct words_check *w, const struct catalog_page *listed,
	const struct page *page, const struct catalog_tool *t)
{
	const struct catalog_list *agents = &w->catalog->lists[CATALOG_AGENTS];
	const struct spec *specs = page->front.specs;
	const struct catalog_page *found;
	size_t index, len = listed->lines[CATALOG_AGENTS].len;

	if (!toolcall_find(specs, page->front.spec_count, listed->path, t->name,
		    &index))
		return false;
	if (index != t->index)
		report(w, listed, "the matcher", t->name);
	if (catalog_tool_find(w->catalog, t->name, &found) != t)
		report(w, listed, "MCP", t->name);
	if (len > 0 &&
		!has_text(agents->text.data + listed->lines[CATALOG_AGENTS].at,
			len, "- **", t->label, "** "))
		report(w, listed, "AGENTS.md", t->label);
	if (w->openapi.len + (OPENAPI_BYTES_MAX >> 3) < OPENAPI_BYTES_MAX &&
		!has_text(w->openapi.data, w->openapi.len, "\"operationId\":\"",
			t->name, "\""))
		report(w, listed, "openapi.json", t->name);
	if (!is_matched(w, page, listed, t->index))
		report(w, listed, "its example", t->name);
	return true;
}

static bool
check_listed(struct words_check *w, const struct catalog_page *listed)
{
	struct ss_site *site = w->site;
	struct ss_document doc;
	struct page *page;
	bool good = true;

	if (page_open(&site->pages, &site->documents, listed->path, &doc, &page,
		    NULL) != SS_OK)
		return true;
	for (size_t i = 0; good && page != NULL && i < listed->tool_count; i++)
		if (!listed->tools[i].hidden &&
			listed->tools[i].index < page->front.spec_count)
			good = check_tool(w, listed, page, &listed->tools[i]);
	documents_close(&site->documents, &doc);
	arena_clear(&site->arena);
	return good;
}

bool
check_words(struct ss_site *site, lint_fn fn, void *ctx)
{
	struct words_check w = { .site = site,
		.openapi = BUF_INIT(OPENAPI_BYTES_MAX),
		.fn = fn,
		.ctx = ctx };
	struct catalog *catalog = NULL;
	bool good = catalog_lists(&site->catalog, &catalog, NULL) == SS_OK &&
		openapi_write(site, &w.openapi, NULL) == SS_OK;

	w.catalog = catalog;
	for (size_t i = 0; good && i < catalog->page_count; i++)
		good = check_listed(&w, &catalog->pages[i]);
	buf_release(&w.openapi);
	arena_clear(&site->arena);
	return good;
}
