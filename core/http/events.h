/* SPDX-License-Identifier: MIT */
/*
 * An answer of server-sent events (WHATWG HTML, section 9.2), sent while it is
 * made: the output of a POST, the messages of MCP.
 */
#ifndef SS_HTTP_EVENTS_H
#define SS_HTTP_EVENTS_H

#include "http/exchange.h"

/* After so long a silence a comment is sent: proxies end silent connections. */
#define EVENTS_BEAT_MS 10000

/* Can the front send an answer in pieces, and does the client read events? */
bool events_accepted(const struct exchange *x);
/* The same, and does the client like them better than JSON? */
bool events_preferred(const struct exchange *x);

/*
 * Sends one event at once, and before the first the head of the answer.  data
 * has no line break; id NULL: none.  False: the client has left, or memory ran
 * out.
 */
bool events_send(struct exchange *x, const char *name, const char *id,
	const char *data, size_t len);
/* Sends a comment, which clients drop, so that the connection is not silent. */
bool events_beat(struct exchange *x);

#endif
