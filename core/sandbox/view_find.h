/* SPDX-License-Identifier: MIT */
/*
 * What lies at a path of a view, without building one: the lists that
 * view_enter (view.h) mounts from, asked about one path.
 */
#ifndef SS_SANDBOX_VIEW_FIND_H
#define SS_SANDBOX_VIEW_FIND_H

#include "sandbox/view_plan.h"

/*
 * inside   absolute and clean, as a confined process names it; links in it are
 *          not followed.
 * outside  PATH_MAX bytes; the host's path, for VIEW_OF_HOST.
 * *top     the path is itself a mount of the site or of a grant, which followed
 *          a link there.
 * Pure     nothing is looked up.
 */
enum view_place view_find(const struct view_plan *plan, unsigned keeps,
	const char *inside, char *outside, bool *top);

#endif
