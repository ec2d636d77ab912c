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
#ifndef FCGI_GAUGE_H
#define FCGI_GAUGE_H

#include "board.h"

struct gauge {
	const void *boards; /* read-only */
	size_t count;
	struct board *own;
};

/* The site asks g, which lives as long as the site does in this process. */
void gauge_attach(struct gauge *g, struct ss_site *site);

bool gauge_enter(struct gauge *g, uint64_t tool, uint64_t most);
void gauge_leave(struct gauge *g);

#endif
