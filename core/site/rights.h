/* SPDX-License-Identifier: MIT */
/*
 * What each tool of a page may touch: held against the operator's grant when
 * the page is read, made into a policy and a ruleset when the tool first runs
 * in a process, kept with the page as long as they are fresh.
 */
#ifndef SS_SITE_RIGHTS_H
#define SS_SITE_RIGHTS_H

#include "page/frontmatter.h"
#include "sandbox/ruleset.h"
#include "site/config.h"
#include "tools/tool.h"

struct right {
	struct arena arena; /* of policy and ruleset, made in this process */
	bool ready;
	struct policy policy;
	struct ruleset ruleset;
	struct policy_ask ask;
	struct powers powers;       /* of ask */
	const struct tool *builtin; /* NULL: a program */
};

struct rights {
	struct right *tools; /* one a spec, in the page's arena */
	size_t count;
	struct right component; /* of the page's blocks, all together */
};

#define RIGHTS_INIT                                                            \
	((struct rights){ .component = { .ruleset = RULESET_INIT } })

/* The operator's ceiling; borrows the configuration's lists. */
struct grant rights_grant(const struct config *config);

/* Whose tools, and who limits them; borrowed for as long as the rights live. */
struct rights_source {
	const struct frontmatter *front;
	const char *page_path;
	const struct config *config;
	const struct grant *ceiling;
};

/*
 * The rights of a page's tools, checked against the ceiling, and of its
 * components, which are checked when they run.  rights_release must follow.
 * Errors  SS_CAPABILITY_REFUSED when a tool asks for more than ceiling grants,
 *         at place; SS_INTERNAL.
 */
enum ss_err rights_init(struct rights *out, struct arena *arena,
	const struct rights_source *from, struct node_place *place,
	struct ss_error *err);
void rights_release(struct rights *r);

/* What bounds a built-in tool; lists are the page's. */
struct tool_bounds
rights_bounds(const struct right *r, const struct config *config);
/*
 * The tool's policy and ruleset for this process, made if need be.
 * Errors  as policy_resolve and ruleset_make.
 */
enum ss_err rights_prepare(
	struct right *r, const struct grant *ceiling, struct ss_error *err);

#endif
