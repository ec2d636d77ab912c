/* SPDX-License-Identifier: MIT */
/*
 * What a tool asks for: its own keys where it has them, else its page's
 * (statespace.toml(5), Section grant).  The one answer for policy and executor,
 * the browser's card, MCP's annotations, explain, check.  policy.h decides
 * whether the operator grants it.
 */
#ifndef SS_SANDBOX_POWERS_H
#define SS_SANDBOX_POWERS_H

#include "page/spec.h"
#include "sandbox/keeps.h"

/* A program beside a tool's first one: a stage's, or what env(1) starts. */
struct policy_program {
	const char *name;
	const char *word; /* the same before variables were filled in */
	struct node_place at;
	const char *helper; /* as in struct policy_ask */
};

/* A tool, or the components of a page, with what decides its powers. */
struct policy_ask {
	const struct wants *page; /* NULL: nothing */
	const struct wants *tool; /* NULL: nothing */
	const char *page_dir;     /* clean path of the page's directory, "" */
	/*
	 * The author's first word.  NULL: the agent names the program (a
	 * placeholder), so every program that the ceiling allows may run.
	 */
	const char *program;
	const char *word; /* the same before variables were filled in */
	struct node_place program_at;
	const char *helper; /* of libexec: a built-in tool runs this instead */
	bool toml;          /* how the page is written: for advice */
	bool component;     /* the shell, with every program of the view */
	/* Further programs of the author's; decided like the first. */
	const struct policy_program *more;
	size_t more_count;
	bool http; /* the built-in HTTP client */
};

struct powers {
	/*
	 * Merged, with the places of the keys that count; network is never
	 * NETWORK_UNSET, a limit is 0 where neither names one.
	 */
	struct wants asked;
	bool http; /* public addresses, through the built-in HTTP tool */
	/*
	 * Every program that it sees: `exec: any`, a component, a shell (also
	 * one that a variable names), or a program that the agent names.
	 */
	bool any_program;
	unsigned keeps; /* KEEP_...: not 0 means that a launcher runs it */
};

/* Pure; lists are the page's and the tool's. */
struct powers powers_of(const struct policy_ask *ask);
/* Seconds; usual: for a tool when neither it nor its page names one. */
double powers_timeout(const struct powers *p, double usual);
/* Does it ask for nothing that changes files or reaches another process? */
bool powers_only_read(const struct powers *p);

#endif
