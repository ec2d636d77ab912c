/* SPDX-License-Identifier: MIT */
/*
 * The output of a POST while its tool writes it, as events
 * (statespace-protocol(7), Events).
 */
#ifndef SS_HTTP_FOLLOW_H
#define SS_HTTP_FOLLOW_H

#include "http/exchange.h"
#include "site/call.h"

/*
 * Runs the call, with its output to x's client.  An error before the tool began
 * is returned, and nothing was sent; any later end is an event, and x->streamed
 * is set: x->err and x->result are for the log then.
 */
enum ss_err follow_run(struct exchange *x, const struct call *plain);

#endif
