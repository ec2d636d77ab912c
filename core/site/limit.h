/* SPDX-License-Identifier: MIT */
/*
 * How many tools may run at a time: a limit of the host's
 * (ss_site_set_tool_limit).  Without it there is none.
 */
#ifndef SS_SITE_LIMIT_H
#define SS_SITE_LIMIT_H

#include "base/error.h"
#include "statespace.h"

struct limit {
	struct ss_tool_limit host; /* start, enter NULL: no limit */
	/* The last tool was not started: its answer is not sent nor logged. */
	bool refused;
	uint64_t seed; /* of its tools' numbers: limit_seed; 0: one site */
};

void limit_set(struct limit *l, const struct ss_tool_limit *host);
/* May a tool run now?  True: limit_end must follow. */
bool limit_start(struct limit *l);
void limit_end(struct limit *l);
/* The error of a tool that limit_start refused. */
enum ss_err limit_error(struct ss_error *err);

/*
 * A number for the tool with that index in the page at that path: the same in
 * all processes.
 */
uint64_t
limit_tool_number(const struct limit *l, const char *real, size_t tool);
/* So that the same page of two sites has other numbers. */
uint64_t limit_seed(const char *site);

#endif
