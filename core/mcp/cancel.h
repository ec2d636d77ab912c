/* SPDX-License-Identifier: MIT */
/* notifications/cancelled over HTTP: it comes on another connection. */
#ifndef SS_MCP_CANCEL_H
#define SS_MCP_CANCEL_H

#include "mcp/mcp.h"

/* A notification: ends the call that it cancels, whichever process runs it. */
void mcp_cancel_notified(struct mcp *m);

/* Watches for the cancellation of one request. */
struct mcp_cancel {
	struct mcp *m;
	int fd; /* epoll, in place of the client's descriptor; -1: none */
	int client_fd;  /* the client's, of m */
	int watched_fd; /* the same; -1: a call with a key runs on without it */
	bool ended;     /* of m */
	unsigned char key[SS_RELAY_KEY];
	bool (*left)(void *ctx); /* the site's */
	void *left_ctx;
	bool cancelled;
};

/*
 * From begin to end a cancellation ends what m runs as if the client had left;
 * c->cancelled: it was a cancellation.  It is true at once when the notification
 * came before the call.
 */
void mcp_cancel_begin(struct mcp_cancel *c, struct mcp *m);
void mcp_cancel_end(struct mcp_cancel *c);

#endif
