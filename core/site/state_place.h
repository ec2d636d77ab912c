/* SPDX-License-Identifier: MIT */
/* The state directory of a site: no tool may have a way to it. */
#ifndef SS_SITE_STATE_PLACE_H
#define SS_SITE_STATE_PLACE_H

#include "sandbox/sandbox_plan.h"
#include "state/state.h"

/*
 * state_open, for a prepared plan.  A directory that a grant or the root of one
 * of the plan's sites shows to tools is none: they run as its owner.
 *
 * directory  as of state_open.
 * Errors     as state_open; SS_CONFIG: tools reach the one that was named.  With
 *            "auto" that is SS_OK, and fd is -1.
 */
enum ss_err state_place_open(struct state *s, const struct sandbox_plan *plan,
	const char *directory, struct ss_error *err);

#endif
