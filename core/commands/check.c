/* SPDX-License-Identifier: MIT */
/*
 * Lints the pages of a site (ss_site_check, statespace(1)): errors of the
 * parsers, warnings of lint, and what tools cannot reach.
 */
#include "commands/check.h"

#include <stdio.h>

#include "base/error.h"
#include "commands/check_builtin.h"
#include "commands/check_readers.h"
#include "commands/check_words.h"
#include "files/walk.h"
#include "page/lint.h"
#include "page/lint_component.h"
#include "wire/json.h"
#include "wire/path.h"
#include "wire/proto.h"

#define DEPTH_MAX 64

static void
check_builtins(struct check *c, const struct page *page)
{
	for (size_t i = 0; i < page->front.spec_count; i++) {
		const struct spec *s = &page->front.specs[i];
		const struct tool_bounds bounds =
			rights_bounds(&page->rights.tools[i], &c->site->config);
		size_t count;
		const struct spec *commands = spec_commands(s, &count);

		for (size_t k = 0; s->script == NULL && k < count; k++)
			check_builtin(&commands[k], &bounds, check_take, c);
	}
}

/* page_get checked the tools; components are checked only when they run. */
static void
check_components(struct check *c, const struct page *page, struct ss_text text)
{
	const struct env_scope scope = { .server = c->site->config.env,
		.server_count = c->site->config.env_count };
	struct node_place place = { 0, 0 };
	struct ss_error why = { 0 };

	if (!page->has_components)
		return;
	if (policy_check(&page->rights.component.ask, &c->site->grant, &place,
		    &why) != SS_OK)
		check_error(c, place, &why);
	lint_components(&page->front, text, &scope, check_take, c);
}

static const char *
format_of(const struct page *page)
{
	return page->error.code != SS_OK
		? "error"
		: frontmatter_format_name(page->front.format);
}

static void
take_refusal(
	void *ctx, const struct node_place *place, const struct ss_error *err)
{
	check_error(ctx, *place, err);
}

/* What the frontmatter cannot tell: variables, and what the server grants. */
static void
check_rights(struct check *c, const struct page *page)
{
	const struct rights *rights = &page->rights;
	struct node_place place = { 0, 0 };
	struct ss_error err = { 0 };
	size_t before = c->report.problem_count;

	for (size_t i = 0; i < rights->count; i++)
		if (policy_check(&rights->tools[i].ask, &c->site->grant, &place,
			    &err) != SS_OK)
			check_error(c, place, &err);
	if (c->report.problem_count == before)
		check_error(c, page->place, &page->error);
}

static enum ss_err
check_text(struct check *c, const struct page *page, struct ss_text text,
	struct ss_error *err)
{
	const struct lint_page job = { .path = c->report.page,
		.text = text,
		.server = c->site->config.env,
		.server_count = c->site->config.env_count };
	struct refusals all = { .take = take_refusal, .ctx = c };
	struct frontmatter front;
	enum ss_err code =
		frontmatter_check(&c->arena, text, &all, &front, err);

	if (code != SS_OK)
		return code;
	if (all.count == 0 && page->error.code != SS_OK)
		check_rights(c, page);
	c->allow = allow_read(&c->arena, &front, check_take, c);
	lint_frontmatter(&front, &job, check_take, c);
	frontmatter_release(&front);
	return c->allow != NULL ? SS_OK : error_memory(err);
}

/* What the site, the account and the other pages have to do with it. */
static enum ss_err
check_around(struct check *c, const struct page *page,
	const struct ss_document *doc, struct ss_text text,
	struct ss_error *err)
{
	enum ss_err code;

	c->report.tools = page->front.spec_count;
	if (!check_names_add(&c->names, &c->kept, &page->front, doc->path,
		    check_take, c))
		return error_memory(err);
	check_builtins(c, page);
	code = check_files(c, page, doc, err);
	if (code != SS_OK)
		return code;
	check_components(c, page, text);
	if (c->what != 0)
		code = check_run(c, doc, err);
	allow_report_unused(c->allow, check_take, c);
	return code;
}

static enum ss_err
check_page(struct check *c, const struct page *page,
	const struct ss_document *doc, struct ss_error *err)
{
	struct buf text = BUF_INIT(PAGE_BYTES_MAX);
	enum ss_err code = page_read(doc, &text, err);

	if (code == SS_OK && text.full)
		check_error(c, page->place, &page->error);
	else if (code == SS_OK)
		code = check_text(c, page, buf_view(&text), err);
	if (code == SS_OK && page->error.code == SS_OK)
		code = check_around(c, page, doc, buf_view(&text), err);
	buf_release(&text);
	return code;
}

static enum ss_err
check_document(
	struct check *c, const struct ss_document *doc, struct ss_error *err)
{
	struct page *page;
	enum ss_err code = page_get(&c->site->pages, doc, &page, err);

	if (code == SS_OK)
		code = check_begin(c, doc->path, err);
	if (code != SS_OK)
		return code;
	c->report.format = format_of(page);
	code = check_page(c, page, doc, err);
	return code == SS_OK ? check_end(c, err) : code;
}

/* Checks one file; passes over one that cannot be read. */
static enum ss_err
check_file(struct check *c, const char *path, struct ss_error *err)
{
	const struct documents *documents = &c->site->documents;
	struct ss_document doc;
	enum ss_err code = documents_open_any(documents, path, &doc, err);

	if (code != SS_OK)
		return code == SS_INTERNAL ? code : SS_OK;
	code = check_document(c, &doc, err);
	documents_close(documents, &doc);
	return code;
}

/* State of the walk over all pages. */
struct check_walk {
	struct check *check;
	struct check_readers readers;
	struct ss_error *err;
	enum ss_err code;
};

static bool
check_entry(void *ctx, const char *path, enum walk_type type)
{
	struct check_walk *w = ctx;

	check_readers_take(&w->readers, path, type);
	if (type != WALK_DIRECTORY && path_is_page(path))
		w->code = check_file(w->check, path, w->err);
	return w->code == SS_OK;
}

/* What is of no page is told of the site, ".". */
static enum ss_err
report_site(struct check *c, struct check_readers *r, struct ss_error *err)
{
	enum ss_err code = check_begin(c, ".", err);

	if (code != SS_OK)
		return code;
	if (!check_readers_tell(r, check_take, c) ||
		!check_words(c->site, check_take, c) || c->memory_failed)
		return error_memory(err);
	if (c->report.problem_count > 0)
		c->fn(c->ctx, &c->report);
	return SS_OK;
}

static enum ss_err
check_all(struct check *c, struct ss_error *err)
{
	struct check_walk w = { .check = c, .err = err };
	struct walk_tree tree = { .root = &c->site->documents.root,
		.depth = DEPTH_MAX,
		.visits = SIZE_MAX,
		.visit = check_entry,
		.ctx = &w };
	enum ss_err code;

	check_readers_init(&w.readers, &c->site->documents);
	code = walk_each(&tree, err);
	if (code == SS_OK)
		code = w.code;
	if (code == SS_OK)
		code = report_site(c, &w.readers, err);
	check_readers_release(&w.readers);
	return code;
}

static enum ss_err
check_named(struct check *c, const char *page, struct ss_error *err)
{
	const struct documents *documents = &c->site->documents;
	struct ss_document doc;
	char path[PATH_BYTES_MAX + 1];
	enum ss_err code =
		ss_path_clean(page, strlen(page), path, sizeof(path), err);

	if (code == SS_OK)
		code = documents_open_any(documents, path, &doc, err);
	if (code != SS_OK)
		return code;
	if (path_is_page(doc.path))
		code = check_document(c, &doc, err);
	else
		code = error_set(err, SS_NOT_FOUND, "%s is no page", doc.path);
	documents_close(documents, &doc);
	return code;
}

enum ss_err
ss_site_check(struct ss_site *site, const char *page,
	void (*fn)(void *ctx, const struct ss_report *report), void *ctx,
	struct ss_error *err)
{
	return ss_site_check_with(site, 0, page, fn, ctx, err);
}

enum ss_err
ss_site_check_with(struct ss_site *site, unsigned what, const char *page,
	void (*fn)(void *ctx, const struct ss_report *report), void *ctx,
	struct ss_error *err)
{
	struct check c = { .site = site,
		.what = what,
		.fn = fn,
		.ctx = ctx,
		.json = BUF_INIT((size_t)16 << 20) };
	enum ss_err code = site_needs_open(site, err);

	if (code != SS_OK)
		return code;
	arena_init(&c.arena, 0);
	arena_init(&c.kept, 0);
	code = check_grants(&c, err);
	if (code != SS_OK)
		;
	else if (page != NULL)
		code = check_named(&c, page, err);
	else
		code = check_all(&c, err);
	arena_release(&c.arena);
	arena_release(&c.kept);
	buf_release(&c.json);
	return code;
}

static void
print_text(struct buf *b, const char *key, const char *value)
{
	buf_printf(b, ", \"%s\": ", key);
	if (value != NULL)
		json_string(b, value, strlen(value));
	else
		buf_text(b, "null");
}

const char *
ss_report_json(const struct ss_report *report)
{
	struct check *c = report->owner;
	struct buf *b = &c->json;

	buf_clear(b);
	buf_text(b, "{\"page\": ");
	json_string(b, report->page, strlen(report->page));
	buf_printf(b, ", \"format\": \"%s\", \"tools\": %zu, \"problems\": [",
		report->format, report->tools);
	for (size_t i = 0; i < report->problem_count; i++) {
		const struct ss_problem *p = &report->problems[i];

		buf_printf(b,
			"%s{\"line\": %u, \"column\": %u, \"level\": \"%s\"",
			i > 0 ? ", " : "", p->line, p->column,
			p->level == SS_LEVEL_ERROR ? "error" : "warning");
		print_text(b, "message", p->message);
		print_text(b, "hint", p->hint);
		print_text(b, "name", p->name);
		buf_char(b, '}');
	}
	buf_char(b, ']');
	if (c->what != 0)
		buf_printf(b, ", \"ran\": %zu, \"passed_over\": %zu",
			report->ran, report->passed_over);
	buf_char(b, '}');
	return buf_ok(b) ? b->data : NULL;
}
