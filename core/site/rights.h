/* SPDX-License-Identifier: MIT */
/*
 * What each tool of a page may do: checked against the operator's grant when
 * the page is read, made into a policy and a Landlock ruleset when the tool
 * first runs in a process, kept with the page while they are fresh.
 */
#ifndef SS_SITE_RIGHTS_H
#define SS_SITE_RIGHTS_H

#include "page/frontmatter.h"
#include "sandbox/ruleset.h"
#include "site/config.h"
#include "site/script.h"
#include "tools/tool.h"

struct right {
	struct arena arena; /* of policy and ruleset */
	bool ready;
	struct policy policy;
	struct ruleset ruleset;
	struct policy_ask ask;
	struct powers powers;         /* of ask */
	const struct tool *builtin;   /* NULL: a program */
	struct script *script;        /* as it was last read; NULL: none */
	struct policy_program starts; /* by the script's env(1) */
};

struct rights {
	struct right *tools; /* one for each spec, in the page's arena */
	size_t count;
	struct right component; /* of all blocks of the page */
};

#define RIGHTS_INIT                                                            \
	((struct rights){ .component = { .ruleset = RULESET_INIT } })

/* The operator's grant; borrows the configuration's lists. */
struct grant rights_grant(const struct config *config);

/* Whose tools, and who limits them; borrowed for as long as the rights live. */
struct rights_source {
	const struct frontmatter *front;
	const char *page_path;
	int dir_fd; /* of the page's directory; -1 */
	const struct documents *documents;
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

/*
 * What runs a script as it is now; its policy is made anew when that changed.
 */
void rights_set_script(struct right *r, const struct script *script);

/* The limits of a built-in tool; the lists are the page's. */
struct tool_bounds
rights_bounds(const struct right *r, const struct config *config);
/*
 * Makes the tool's policy and ruleset for this process, unless they are fresh.
 * Errors  as policy_resolve and ruleset_make.
 */
enum ss_err rights_prepare(
	struct right *r, const struct grant *ceiling, struct ss_error *err);

#endif
