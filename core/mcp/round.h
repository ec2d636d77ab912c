/* SPDX-License-Identifier: MIT */
/*
 * A "multi round-trip request" of 2026-07-28: the result of a request is a
 * question, and the client sends the request again with the answer.  One such
 * exchange is a round.  Nothing is kept here between two rounds: the answers
 * so far travel with the client in requestState, signed together with who
 * asks for what, until when, and a random number.
 */
#ifndef SS_MCP_ROUND_H
#define SS_MCP_ROUND_H

#include "base/digest.h"
#include "mcp/mcp.h"
#include "site/seal.h"

/* The longest requestState. */
#define MCP_ROUND_STATE_MAX ((size_t)2 << 20)

struct mcp_round {
	uint8_t about[DIGEST_BYTES]; /* the request, its user, what it runs */
	bool confirming;             /* came from the question of confirm */
	int64_t expires;
	uint8_t signature[DIGEST_BYTES];
	struct ss_pair *answers; /* of earlier rounds and of this one */
	size_t answer_count;
	size_t answer_max;
};

/*
 * Begins, or goes on from the requestState of the message.
 * path          of the page.
 * declared      the tool or prompt as it is written there.
 * max_answers   how many may be added.
 * Errors        RPC_BAD_PARAMS: the requestState is not what we signed for this
 *               request of this user, or too old; RPC_INTERNAL.
 */
enum rpc_code mcp_round_begin(struct mcp *m, struct mcp_round *r,
	const char *path, struct ss_text declared, size_t max_answers);
void mcp_round_answer(struct mcp_round *r, const char *name, const char *value);
/* Appends the requestState for the next round; false: it could not be made. */
bool mcp_round_state(
	struct mcp *m, struct mcp_round *r, bool confirming, struct buf *out);
/*
 * Marks the agreement as used.  False: it was, as far as this process and
 * those that it shares memory with know.
 */
bool mcp_round_use(struct mcp *m, const struct mcp_round *r);

#endif
