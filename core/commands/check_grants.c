/* SPDX-License-Identifier: MIT */
/*
 * The site and the paths of [grant]: whether they are there, and whether the account that
 * tools run as may do there what is granted.
 */
#include "commands/question.h"

#include "base/error.h"
#include "sandbox/grant_path.h"

static bool
ask_list(struct questions *q, const struct path_list *list, const char *key,
	enum reach_what what)
{
	const struct grant *g = &q->check->site->grant;
	const char *site = question_in_view(q->check) ? VIEW_SITE : g->root;
	struct question item = { .of = QUESTION_GRANT, .key = key };
	char path[PATH_MAX];
	bool done = true;

	for (size_t i = 0; i < list->count && done; i++) {
		item.name = list->items[i];
		if (list == &g->exec && strchr(item.name, '/') == NULL)
			continue; /* looked up in PATH */
		if (grant_path_inside(item.name, g->root, site, path,
			    sizeof(path), &item.may_be_absent))
			done = question_add(q, &item, what, path);
	}
	return done;
}

/* Without a view the tools' /tmp is a directory of the host's. */
static bool
ask_scratch(struct questions *q)
{
	static const char *const tmp[] = { "/tmp" };

	return question_in_view(q->check) ||
		ask_list(q, &(struct path_list){ tmp, 1 }, "TMPDIR of tools",
			REACH_WRITE);
}

/* When the account cannot read the site there is nothing else to say. */
static enum ss_err
check_site(struct check *c, struct ss_error *err)
{
	const struct question item = { .of = QUESTION_GRANT,
		.name = "the site" };
	struct questions q = { .check = c };
	char path[PATH_MAX];
	enum ss_err code;

	if (!question_path(c, "", ".", path))
		return SS_OK;
	code = check_begin(c, ".", err);
	if (code == SS_OK && !question_add(&q, &item, REACH_READ, path))
		code = error_memory(err);
	if (code == SS_OK)
		code = question_ask(&q, err);
	c->closed = c->report.problem_count > 0;
	if (code != SS_OK || !c->closed)
		return code;
	return check_end(c, err);
}

enum ss_err
check_grants(struct check *c, struct ss_error *err)
{
	const struct grant *g = &c->site->grant;
	struct questions q = { .check = c };
	enum ss_err code = check_site(c, err);

	if (code != SS_OK || c->closed)
		return code;
	code = check_begin(c, ".", err);
	if (code != SS_OK)
		return code;
	if (!ask_list(&q, &g->read, "[grant] read", REACH_READ) ||
		!ask_list(&q, &g->write, "[grant] write", REACH_WRITE) ||
		!ask_list(&q, &g->exec, "[grant] exec", REACH_READ) ||
		!ask_list(&q, &g->unix_sockets, "[grant] unix", REACH_WRITE) ||
		!ask_scratch(&q))
		return error_memory(err);
	code = question_ask(&q, err);
	if (code != SS_OK || c->report.problem_count == 0)
		return code;
	return check_end(c, err);
}
