/* SPDX-License-Identifier: MIT */
/*
 * The built-in executor: an allowed command becomes one confined child of
 * this process (PROTOCOL section 5, "Running").
 */
#ifndef SS_EXECUTOR_H
#define SS_EXECUTOR_H

#include "scratch.h"
#include "spawn.h"
#include "statespace.h"

struct ss_site;

struct executor {
	struct ss_site *site;
	pid_t prepared; /* the process that may spawn; 0: none yet */
	struct scratch scratch;
	bool worn; /* the scratch could not be emptied */
	struct spawn_result
		last; /* its output is the caller's until the next */
};

void executor_init(struct executor *e, struct ss_site *site);
void executor_release(struct executor *e);
struct ss_executor executor_table(struct executor *e);
/* Once per process, before its first command; cheap afterwards. */
enum ss_err executor_prepare(struct executor *e, struct ss_error *err);
/* What TMPDIR is for a tool of this process. */
const char *executor_tmpdir(const struct executor *e);

#endif
