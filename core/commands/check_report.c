/* SPDX-License-Identifier: MIT */
/* What a run of check found in one page: once, in the page's order. */
#include "commands/check.h"

#include <stdio.h>

#include "base/error.h"

#define PROBLEMS_MAX 1000

/* What several tools have of their page is told once. */
static bool
is_told(const struct check *c, const struct ss_problem *p)
{
	for (size_t i = 0; i < c->report.problem_count; i++) {
		const struct ss_problem *known = &c->problems[i];

		if (known->line == p->line && known->column == p->column &&
			strcmp(known->message, p->message) == 0)
			return true;
	}
	return false;
}

/* A copy in the arena; "" and NULL give NULL. */
static const char *
keep_text(struct check *c, const char *text)
{
	char *copy;

	if (text == NULL || text[0] == '\0')
		return NULL;
	copy = arena_copy(&c->arena, text, strlen(text));
	c->memory_failed |= copy == NULL;
	return copy;
}

/* Does an earlier finding say what is wrong with this program or file? */
static bool
is_explained(const struct check *c, const struct ss_problem *p)
{
	bool asked = p->name == warning_name(WARN_INSTALLED) ||
		p->name == warning_name(WARN_FILE);

	for (size_t i = 0; asked && i < c->report.problem_count; i++) {
		const struct ss_problem *known = &c->problems[i];

		if (known->line == p->line && known->column == p->column &&
			warning_is_of_word(known->name))
			return true;
	}
	return false;
}

void
check_take(void *ctx, const struct ss_problem *p)
{
	struct check *c = ctx;
	struct ss_problem *kept;

	if (c->report.problem_count == PROBLEMS_MAX || is_told(c, p) ||
		allow_silences(c->allow, p) || is_explained(c, p))
		return;
	kept = &c->problems[c->report.problem_count];
	*kept = *p;
	kept->message = keep_text(c, p->message);
	kept->hint = keep_text(c, p->hint);
	c->report.problem_count += kept->message != NULL;
}

void
check_warn(struct check *c, enum warning w, struct node_place at,
	const char *message, const char *hint)
{
	check_take(c,
		&(const struct ss_problem){ .line = at.line,
			.column = at.column,
			.level = SS_LEVEL_WARNING,
			.message = message,
			.hint = hint,
			.name = warning_name(w) });
}

/* The place that begins the message is told already. */
void
check_error(struct check *c, struct node_place at, const struct ss_error *err)
{
	char hint[sizeof(err->hint) + sizeof(err->detail) + 3], prefix[64];
	int n = snprintf(prefix, sizeof(prefix),
		"line %u, column %u: ", at.line, at.column);
	bool same = strncmp(err->message, prefix, (size_t)n) == 0;

	snprintf(hint, sizeof(hint), "%s%s%s", err->hint,
		err->hint[0] != '\0' && err->detail[0] != '\0' ? "; " : "",
		err->detail);
	check_take(c,
		&(const struct ss_problem){ .line = at.line,
			.column = at.column,
			.level = SS_LEVEL_ERROR,
			.message = err->message + (same ? n : 0),
			.hint = hint });
}

enum ss_err
check_begin(struct check *c, const char *page, struct ss_error *err)
{
	arena_clear(&c->arena);
	c->allow = NULL;
	c->report = (struct ss_report){
		.page = page, .format = "none", .owner = c
	};
	c->problems =
		arena_array(&c->arena, PROBLEMS_MAX, sizeof(*c->problems));
	c->report.problems = c->problems;
	return c->problems != NULL ? SS_OK : error_memory(err);
}

/* In the order of the page; what begins at one place, as it was found. */
static void
sort_problems(struct ss_problem *all, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const struct ss_problem p = all[i];
		size_t k = i;

		for (; k > 0 &&
			(all[k - 1].line > p.line ||
				(all[k - 1].line == p.line &&
					all[k - 1].column > p.column));
			k--)
			all[k] = all[k - 1];
		all[k] = p;
	}
}

enum ss_err
check_end(struct check *c, struct ss_error *err)
{
	if (c->memory_failed)
		return error_memory(err);
	sort_problems(c->problems, c->report.problem_count);
	c->fn(c->ctx, &c->report);
	return SS_OK;
}
