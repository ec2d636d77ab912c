/* SPDX-License-Identifier: MIT */
/* The steps of one message, for those that know how it came. */
#ifndef SS_MCP_MESSAGE_H
#define SS_MCP_MESSAGE_H

#include "mcp/parts.h"

/* An answer with a full output told twice, every byte escaped six-fold. */
#define MCP_ANSWER_MAX(site)                                                   \
	((size_t)(site)->config.limits.max_output_bytes * 12 +                 \
		((size_t)4 << 20))

void mcp_message_init(struct mcp *m, struct ss_site *site, struct buf *out);
void mcp_message_release(struct mcp *m);
/* Reads text and tells the era by its _meta. */
enum rpc_code mcp_message_read(struct mcp *m, const char *text, size_t len);
/* Version and capabilities of a modern message. */
enum rpc_code mcp_message_check(struct mcp *m);
/* Answers a request into m->out; nothing is there when m->err is SS_GONE. */
enum rpc_code mcp_message_run(struct mcp *m);
/* The answer for m->err. */
void mcp_message_error(struct mcp *m, enum rpc_code code);

/* What the header Mcp-Name has to repeat; NULL: nothing. */
const char *mcp_message_named(const struct mcp *m);
/* May this method run a program? */
bool mcp_message_runs(const char *method);
bool mcp_is_legacy_version(const char *version);
/* RPC_NO_VERSION, with the versions that are spoken. */
enum rpc_code mcp_no_version(struct mcp *m, const char *asked);

#endif
