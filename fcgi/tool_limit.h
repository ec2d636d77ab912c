/* SPDX-License-Identifier: MIT */
/*
 * max_running over the whole pool: a worker writes on its own page which tool
 * it starts and when, and counts the earlier ones on the pages of the others.
 * There is no lock that a worker could hold when it dies; the supervisor clears
 * its page.
 *
 * A worker that writes nonsense can keep others from such a tool, or let it run
 * too often: max_running is an author's limit and protects nothing.
 */
#ifndef FCGI_TOOL_LIMIT_H
#define FCGI_TOOL_LIMIT_H

#include "scoreboard.h"
#include "site_counts.h"
#include "tool_slots.h"

struct tool_limit {
	const void *scoreboard; /* read-only */
	size_t count;
	struct worker_page *own;
	struct tool_slot *use;     /* of the worker, for all tools together */
	struct site_counts *sites; /* NULL: there is one */
	const struct ss_site *site;
};

/* The site asks l, which must live as long as the site. */
void tool_limit_attach(struct tool_limit *l, struct ss_site *site);

bool tool_limit_enter(struct tool_limit *l, uint64_t tool, uint64_t most);
void tool_limit_leave(struct tool_limit *l);

#endif
