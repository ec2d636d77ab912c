/* SPDX-License-Identifier: MIT */
/* Which step of a set-up failed, and why, for the operator. */
#ifndef SS_SANDBOX_STEP_H
#define SS_SANDBOX_STEP_H

#include "base/base.h"

/* No pointers: a child sends it through a pipe. */
struct step {
	char name[160];
	int number; /* errno */
};

/* Stores the name and errno; returns false, so that a refusal is one line. */
bool step_fail(struct step *s, const char *name, ...) PRINTF_LIKE(2, 3);

#endif
