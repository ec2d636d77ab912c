/* SPDX-License-Identifier: MIT */
/*
 * Lints the pages of a site (ss_site_check, statespace(1)): errors of the
 * parsers, warnings of lint, and whether the programs are installed.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "files/walk.h"
#include "page/lint.h"
#include "run/spawn.h"
#include "site/page.h"
#include "site/site.h"
#include "tools/tool.h"
#include "wire/json.h"
#include "wire/path.h"
#include "wire/proto.h"

#define DEPTH_MAX 64
#define PROBLEMS_MAX 1000

struct check {
	struct ss_site *site;
	void (*fn)(void *ctx, const struct ss_report *report);
	void *ctx;
	struct arena arena; /* of one page */
	struct ss_report report;
	struct ss_problem *problems;
	struct buf json;
	bool memory_failed;
};

static void
add_problem(void *ctx, unsigned line, unsigned column, enum ss_level level,
	const char *message, const char *hint)
{
	struct check *c = ctx;
	struct ss_problem *p;
	char *text, *advice = NULL;

	if (c->report.problem_count == PROBLEMS_MAX)
		return;
	text = arena_copy(&c->arena, message, strlen(message));
	if (hint != NULL && hint[0] != '\0')
		advice = arena_copy(&c->arena, hint, strlen(hint));
	if (text == NULL) {
		c->memory_failed = true;
		return;
	}
	p = &c->problems[c->report.problem_count++];
	*p = (struct ss_problem){ .line = line,
		.column = column,
		.level = level,
		.message = text,
		.hint = advice };
}

/*
 * A program with a slash is relative to the page, others are in PATH or built
 * in.
 */
static bool
is_installed(const char *program, int dir_fd)
{
	char found[PATH_MAX];

	if (strchr(program, '/') != NULL)
		return faccessat(dir_fd, program, X_OK, 0) == 0;
	return tool_find(program) != NULL ||
		spawn_find(program, found, sizeof(found));
}

static void
check_program(struct check *c, const char *program, const char *word,
	int dir_fd, unsigned line, unsigned column)
{
	char message[512];

	if (is_installed(program, dir_fd))
		return;
	snprintf(message, sizeof(message), "the program %s is not installed",
		word);
	add_problem(c, line, column, SS_LEVEL_WARNING, message,
		"install it, or correct its name");
}

/* "jq?" may be absent. */
static void
check_exec(struct check *c, const struct name_list *exec, int dir_fd)
{
	for (size_t i = 0; i < exec->count; i++)
		if (!text_ends(text_of(exec->names[i]), "?"))
			check_program(c, exec->names[i], exec->names[i], dir_fd,
				exec->line, exec->column);
}

static void
check_programs(struct check *c, const struct page *page, int dir_fd)
{
	const struct frontmatter *front = &page->front;

	check_exec(c, &front->sandbox.exec, dir_fd);
	for (size_t i = 0; i < front->spec_count; i++) {
		const struct policy_ask *ask = &page->rights.tools[i].ask;

		if (ask->program != NULL)
			check_program(c, ask->program, ask->word, dir_fd,
				ask->program_at.line, ask->program_at.column);
		check_exec(c, &front->specs[i].wants.exec, dir_fd);
	}
}

/* page_get checked the tools; components are checked only when they run. */
static void
check_components(struct check *c, const struct page *page)
{
	struct node_place place = { 0, 0 };
	struct ss_error err = { 0 };

	if (page->has_components &&
		policy_check(&page->rights.component.ask, &c->site->grant,
			&place, &err) != SS_OK)
		add_problem(c, place.line, place.column, SS_LEVEL_ERROR,
			err.message, err.hint);
}

static const char *
format_of(const struct page *page)
{
	return page->error.code != SS_OK
		? "error"
		: frontmatter_format_name(page->front.format);
}

static enum ss_err
check_document(
	struct check *c, const struct ss_document *doc, struct ss_error *err)
{
	struct page *page;
	enum ss_err code = page_get(&c->site->pages, doc, &page, err);

	if (code != SS_OK)
		return code;
	arena_clear(&c->arena);
	c->report = (struct ss_report){ .page = doc->path, .owner = c };
	c->problems =
		arena_array(&c->arena, PROBLEMS_MAX, sizeof(*c->problems));
	if (c->problems == NULL)
		return error_memory(err);
	c->report.problems = c->problems;
	c->report.format = format_of(page);
	if (page->error.code != SS_OK) {
		add_problem(c, page->place.line, page->place.column,
			SS_LEVEL_ERROR, page->error.message, page->error.hint);
	} else {
		c->report.tools = page->front.spec_count;
		lint_frontmatter(&page->front, c->site->config.env,
			c->site->config.env_count, add_problem, c);
		check_programs(c, page, doc->dir_fd);
		check_components(c, page);
	}
	if (c->memory_failed)
		return error_memory(err);
	c->fn(c->ctx, &c->report);
	return SS_OK;
}

/* Checks one file; passes over one that cannot be read. */
static enum ss_err
check_file(struct check *c, const char *path, struct ss_error *err)
{
	const struct documents *documents = &c->site->documents;
	struct ss_document doc;
	enum ss_err code = documents_open(documents, path, &doc, err);

	if (code != SS_OK)
		return code == SS_INTERNAL ? code : SS_OK;
	code = check_document(c, &doc, err);
	documents_close(documents, &doc);
	return code;
}

/* State of the walk over all pages. */
struct check_walk {
	struct check *check;
	struct ss_error *err;
	enum ss_err code;
};

static bool
check_entry(void *ctx, const char *path, enum walk_type type)
{
	struct check_walk *w = ctx;

	if (type != WALK_DIRECTORY && path_is_page(path))
		w->code = check_file(w->check, path, w->err);
	return w->code == SS_OK;
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
	enum ss_err code = walk_each(&tree, err);

	return code == SS_OK ? w.code : code;
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
		code = documents_open(documents, path, &doc, err);
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
	struct check c = { .site = site,
		.fn = fn,
		.ctx = ctx,
		.json = BUF_INIT((size_t)16 << 20) };
	enum ss_err code = site_needs_open(site, err);

	if (code != SS_OK)
		return code;
	arena_init(&c.arena, 0);
	if (page != NULL)
		code = check_named(&c, page, err);
	else
		code = check_all(&c, err);
	arena_release(&c.arena);
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
		buf_char(b, '}');
	}
	buf_text(b, "]}");
	return buf_ok(b) ? b->data : NULL;
}
