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

/*
 * By what a message is known to all processes: a digest that nobody makes who
 * has not got the session's id, bound to the user that the front verified.
 * False: there is no session.
 */
bool mcp_session_key(const struct mcp *m, const char *purpose,
	struct ss_text id, unsigned char key[static SS_RELAY_KEY]);

/*
 * wait.c: a question to a client that said, when it got its session, that it
 * can ask a person.  A worker waits meanwhile, so only so many may.
 *
 * begin  false with m->err: too many wait.
 * wait   for the response to the question of that id, while mcp_cancel watches;
 *        beat is called from time to time, false: nobody reads any more.
 */
bool mcp_session_can_wait(const struct mcp *m);
bool mcp_session_wait_begin(struct mcp *m);
enum ss_err mcp_session_wait(struct mcp *m, const char *id, uint32_t timeout_ms,
	bool (*beat)(void *ctx), void *ctx, const char **message, size_t *len);
/* A response, len bytes of text: hands it to who waits for it. */
void mcp_session_responded(struct mcp *m, const char *text, size_t len);

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
