/* SPDX-License-Identifier: MIT */
/*
 * Waiting, over HTTP, for the response to elicitation/create: a request of its
 * own, which mostly reaches another process and is handed over by the relay.
 * The worker does nothing else meanwhile, so the relay limits how many wait.
 */
#ifndef SS_MCP_WAIT_H
#define SS_MCP_WAIT_H

#include "mcp/mcp.h"

/* A way for the client to hear that the call goes on; false: it has left. */
struct mcp_wait_beat {
	bool (*send)(void *ctx);
	void *ctx;
};

/* Did the client declare in `initialize` that it can ask a person? */
bool mcp_wait_possible(const struct mcp *m);
/* Takes a place for waiting; false with m->err: there is none. */
bool mcp_wait_begin(struct mcp *m);
/*
 * Waits for the response to the question of that id, while mcp_cancel watches,
 * and gives the place back.
 */
enum ss_err
mcp_wait_response(struct mcp *m, const char *id, uint32_t timeout_ms,
	const struct mcp_wait_beat *beat, struct ss_text *response);
/* A response, len bytes of text: hands it to the process that waits for it. */
void mcp_wait_responded(struct mcp *m, const char *text, size_t len);

#endif
