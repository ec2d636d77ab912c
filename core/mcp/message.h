/* SPDX-License-Identifier: MIT */
/*
 * One message: its revision, its method, the envelope of its answer.  How it
 * came is known to http/mcp.c and line.c, which call these steps in order.
 */
#ifndef SS_MCP_MESSAGE_H
#define SS_MCP_MESSAGE_H

#include "mcp/mcp.h"

/*
 * The largest answer: the whole output twice, as text and as structure, each
 * byte as the six of a JSON escape.
 */
#define MCP_ANSWER_MAX(site)                                                   \
	((size_t)(site)->config.limits.max_output_bytes * 12 +                 \
		((size_t)4 << 20))

void mcp_message_init(struct mcp *m, struct ss_site *site, struct buf *out);
void mcp_message_release(struct mcp *m);
/* Reads text; the revision by its _meta. */
enum rpc_code mcp_message_read(struct mcp *m, const char *text, size_t len);
/* What the revision wants in every request. */
enum rpc_code mcp_message_check(struct mcp *m);
/* Answers a request into m->out; nothing is there when m->err is SS_GONE. */
enum rpc_code mcp_message_run(struct mcp *m);
/* The answer for m->err. */
void mcp_message_error(struct mcp *m, enum rpc_code code);
/* RPC_NO_VERSION, with the versions that are spoken. */
enum rpc_code mcp_message_no_version(struct mcp *m, const char *asked);

/* The version in _meta; NULL: none. */
const char *mcp_message_version(const struct mcp *m);
/* What the header Mcp-Name has to repeat; NULL: nothing. */
const char *mcp_message_header_name(const struct mcp *m);
/* The key for which its tool runs once, in _meta; NULL: none. */
const char *mcp_message_key(const struct mcp *m);
/* May this method run a program? */
bool mcp_message_runs(const char *method);

#endif
