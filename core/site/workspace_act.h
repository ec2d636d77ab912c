/* SPDX-License-Identifier: MIT */
/* What clients do with sessions of workspaces beside running tools in them. */
#ifndef SS_SITE_WORKSPACE_ACT_H
#define SS_SITE_WORKSPACE_ACT_H

#include "sandbox/workspace_use.h"
#include "site/call.h"

/*
 * workspaces_fill (workspaces.h) from a page that was read.
 * Errors  the page's own; SS_NOT_ALLOWED: none of its tools has a workspace.
 */
enum ss_err workspace_of_page(const struct config *config, struct page *page,
	const char *path, const char *caller, struct workspace_use *out,
	struct ss_error *err);
/*
 * Does an act of use, which is no run; its answer is result->out, borrowed from
 * the executor.  page: a new session's; "".
 */
enum ss_err
workspace_act(const struct call_parts *parts, const struct workspace_use *use,
	const char *page, struct ss_result *result, struct ss_error *err);

#endif
