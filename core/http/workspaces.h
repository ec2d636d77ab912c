/* SPDX-License-Identifier: MIT */
/*
 * Sessions of workspaces over HTTP, below /__workspaces/
 * (statespace-protocol(7), WORKSPACES): to make one, to read it, to see what it
 * changed, to commit or discard that.
 */
#ifndef SS_HTTP_WORKSPACES_H
#define SS_HTTP_WORKSPACES_H

#include "http/exchange.h"

/* Is the request's path one of them? */
bool http_workspaces_is_path(const struct exchange *x);
enum ss_err http_workspaces_answer(struct exchange *x);

#endif
