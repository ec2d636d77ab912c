/* SPDX-License-Identifier: MIT */
/* Workspaces as a site has them: where the sessions lie, what a call wants. */
#ifndef SS_SITE_WORKSPACES_H
#define SS_SITE_WORKSPACES_H

#include "sandbox/sandbox_plan.h"
#include "sandbox/workspace_use.h"
#include "site/config.h"
#include "state/state.h"

/* Of tools/call, and of its result: params._meta, result._meta. */
#define WORKSPACE_META "statespace/workspace"

/*
 * In the parent: opens the directory of the sessions for the plan, once.
 * Errors  SS_STATE, SS_CONFIG; SS_INTERNAL.  The plan has none then.
 */
enum ss_err workspaces_open_store(struct sandbox_plan *plan,
	struct state *state, const struct config *config, struct ss_error *err);
/*
 * What a call of that page wants; session and act are the caller's to set.
 *
 * want    the page's key; NULL: a session is named, none is made.
 * caller  as the front named it, or NULL.
 */
void workspaces_fill(struct workspace_use *out, const struct config *config,
	const struct workspace_want *want, const char *page,
	const char *caller);

#endif
