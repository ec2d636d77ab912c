/* SPDX-License-Identifier: MIT */
/* Which step of a set-up failed, and why, for the operator. */
#ifndef SS_SANDBOX_STEP_H
#define SS_SANDBOX_STEP_H

#include "base/base.h"

/* What a step needs of the machine: remedy.h finds the remedy by it. */
enum step_part {
	PART_NAMESPACES, /* clone(2), unshare(2), uid_map */
	PART_VIEW,       /* mounts */
	PART_PROC,
	PART_DEVICES,
	PART_ACCOUNT,
	PART_SITE,
	PART_BOUNDS, /* limits of memory and processes */
	PART_FILTER,
	PART_LANDLOCK,
	PART_SCRATCH
};

/* No pointers: a child sends it through a pipe. */
struct step {
	char name[160];
	int number; /* errno */
	enum step_part part;
};

/*
 * Stores the name and errno; returns false, so that a refusal is one line.
 * The part stays what the caller set.
 */
bool step_fail(struct step *s, const char *name, ...) PRINTF_LIKE(2, 3);
bool step_fail_at(enum step_part part, struct step *s, const char *name, ...)
	PRINTF_LIKE(3, 4);

#endif
