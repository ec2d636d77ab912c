/* SPDX-License-Identifier: MIT */
/*
 * The session of a client with `initialize` over HTTP: a random id that the
 * server does not keep.  The client repeats it with each request, so a
 * notification or a response on another connection, at another process, finds
 * the call it belongs to.  Clients number their requests 1, 2, 3 alike: a
 * request's id alone identifies no call.
 */
#ifndef SS_MCP_SESSION_H
#define SS_MCP_SESSION_H

#include "mcp/mcp.h"

/* Takes the session of the request's header into m->client, if it is ours. */
void mcp_session_read(struct mcp *m, const char *header);
/* A new id for the initialize in hand, in the arena; NULL: none is given. */
const char *mcp_session_new(struct mcp *m);
/*
 * The key of a message in the relay: a digest of the session's id, which
 * only the client knows, the user that the front verified, and the id of a
 * request, as JSON.  False: there is no session.
 */
bool mcp_session_key(const struct mcp *m, const char *purpose,
	struct ss_text id, unsigned char key[static SS_RELAY_KEY]);

#endif
