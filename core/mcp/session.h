/* SPDX-License-Identifier: MIT */
/*
 * The session of a client of revision 2025-11-25 or 2025-06-18 over HTTP: a
 * random id that the server does not keep.  The client repeats it with each
 * request; with it a call can be ended by a notifications/cancelled that comes
 * on another connection, at another process.  Clients number their requests
 * 1, 2, 3 alike, so a request's id alone names no call.
 */
#ifndef SS_MCP_SESSION_H
#define SS_MCP_SESSION_H

#include "mcp/parts.h"

/*
 * Takes the id of the request's header into m->session, if it is one of ours.
 */
void mcp_session_read(struct mcp *m, const char *header);
/* A new id for the initialize in hand, in the arena; NULL: none is given. */
const char *mcp_session_new(struct mcp *m);
/* A notification: ends the call that it cancels, wherever that runs. */
void mcp_session_notified(struct mcp *m);

/* Watches for the cancellation of one request. */
struct mcp_cancel {
	struct mcp *m;
	int fd; /* epoll, in place of the client's descriptor; -1: none */
	int client_fd; /* the client's, of m */
	unsigned char key[SS_RELAY_KEY];
	bool (*left)(void *ctx); /* the site's */
	void *left_ctx;
	bool cancelled;
};

/*
 * From begin to end a cancellation ends what m runs as if the client had left;
 * c->cancelled tells the two apart, and is true at once when the notification
 * was here before the call.
 */
void mcp_cancel_begin(struct mcp_cancel *c, struct mcp *m);
void mcp_cancel_end(struct mcp_cancel *c);

#endif
