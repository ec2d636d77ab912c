/* SPDX-License-Identifier: MIT */
/* The files and directories of the host that the operator grants. */
#ifndef SS_SANDBOX_VIEW_GRANTS_H
#define SS_SANDBOX_VIEW_GRANTS_H

#include "sandbox/step.h"
#include "sandbox/view_plan.h"

/*
 * Mounts them in the new root; [grant] unix only with KEEP_UNIX in keeps.
 * What is not there, or cannot be seen, is left out: ruleset_make names it to
 * the page that needs it.
 */
bool view_grants_bind(
	int root, const struct view_plan *plan, unsigned keeps, struct step *s);
/*
 * What the grants put at a path of the view; for VIEW_OF_HOST the host's path
 * is in outside (PATH_MAX bytes), and *top says that it is a mount itself.
 */
enum view_place view_grants_find(const struct view_plan *plan, unsigned keeps,
	const char *inside, char *outside, bool *top);

#endif
