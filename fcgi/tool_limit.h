/* SPDX-License-Identifier: MIT */
/*
 * max_running over the whole pool: a worker writes on its own page which tool
 * it takes up and when, and looks at the pages of the others.  Who came
 * earlier counts.  No lock, so that a worker that dies holds none; the master
 * empties its page.
 *
 * A worker that lies can only shut the others out of such a tool, or let one
 * run too often: an author's limit, no wall.
 */
#ifndef FCGI_TOOL_LIMIT_H
#define FCGI_TOOL_LIMIT_H

#include "scoreboard.h"
#include "tool_slots.h"

struct tool_limit {
	const void *scoreboard; /* read-only */
	size_t count;
	struct worker_page *own;
	struct tool_slot *use; /* of the worker, for all tools together */
};

/* The site asks g, which lives as long as the site does in this process. */
void tool_limit_attach(struct tool_limit *g, struct ss_site *site);

bool tool_limit_enter(struct tool_limit *g, uint64_t tool, uint64_t most);
void tool_limit_leave(struct tool_limit *g);

#endif
