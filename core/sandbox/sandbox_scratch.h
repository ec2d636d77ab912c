/* SPDX-License-Identifier: MIT */
/* The scratch directory of this process, TMPDIR of its tools. */
#ifndef SS_SANDBOX_SANDBOX_SCRATCH_H
#define SS_SANDBOX_SANDBOX_SCRATCH_H

#include "sandbox/step.h"

/*
 * Empties the scratch after a command, or after a page's components.  False:
 * this process must not run another tool; it ends, and a new one is started.
 */
bool sandbox_clean(void);

/* Uses the directory at path from now on; it must be empty. */
bool sandbox_scratch_take(const char *path, struct step *s);
/*
 * Without a private /tmp: makes a directory of this process's own there; at
 * times removes those that dead processes left.  brief: this process runs one
 * command.  Its path, or NULL.
 */
const char *sandbox_scratch_make(bool brief, struct step *s);
/* Removes what sandbox_scratch_make made. */
void sandbox_scratch_leave(void);

#endif
