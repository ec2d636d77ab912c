/* SPDX-License-Identifier: MIT */
/*
 * The steps of a journal, forward and back.  A step that is done already is
 * passed over, in both directions.
 */
#ifndef SS_WORKSPACE_APPLY_H
#define SS_WORKSPACE_APPLY_H

#include "workspace/journal.h"

/*
 * base is the folder, stage its stage.  0: all are done; errno of the first that
 * is not, ESTALE: path is not what the journal says.
 */
int apply_all(int base, int stage, const struct journal *j);
/* The last one first. */
int apply_undo(int base, int stage, const struct journal *j);

#endif
