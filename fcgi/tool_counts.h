/* SPDX-License-Identifier: MIT */
/*
 * How often each tool of each page ran, its processor time and memory.  A
 * worker counts by numbers; the status server looks up the pages for them, so
 * that a worker can write wrong counts and nothing else.
 */
#ifndef FCGI_TOOL_COUNTS_H
#define FCGI_TOOL_COUNTS_H

#include "scoreboard.h"

#define TOOL_COUNTS_NAMED 256
#define TOOL_COUNTS_PATH 256 /* longer ones are not named */

struct tool_sum {
	uint64_t runs, cpu_us, memory_most;
};

struct tool_counts {
	size_t count;
	struct tool_named {
		char page[TOOL_COUNTS_PATH]; /* of ss_path_clean */
		size_t tool;
		struct tool_sum sum;
	} named[TOOL_COUNTS_NAMED];
	struct tool_sum other; /* not listed, or without a place above */
};

/* In a worker: counts one run. */
void tool_counts_add(struct worker_page *own, uint64_t number,
	const struct ss_result *result);
/* Of all slots; the pages are looked at only when a tool has run. */
void tool_counts_take(struct tool_counts *out, const void *scoreboard,
	size_t slots, struct ss_site *site);

#endif
