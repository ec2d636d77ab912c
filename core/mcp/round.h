/* SPDX-License-Identifier: MIT */
/*
 * The rounds of one request that asks a person (2026-07-28, "multi round-trip
 * requests"): nothing is kept here between question and answer.  What was
 * answered so far travels with the client, signed together with who asks for
 * what, until when, and a number of its own.
 */
#ifndef SS_MCP_ROUND_H
#define SS_MCP_ROUND_H

#include "base/digest.h"
#include "mcp/parts.h"
#include "site/seal.h"

struct mcp_round {
	uint8_t about[DIGEST_BYTES]; /* the request, its user, what it runs */
	bool confirming;             /* came from the question of confirm */
	int64_t expires;
	uint8_t signature[DIGEST_BYTES];
	struct ss_pair *answers; /* of earlier rounds and of this one */
	size_t answer_count;
	size_t answer_room;
};

enum mcp_answered {
	MCP_AGREED,     /* go on */
	MCP_ASKED,      /* the result is the question */
	MCP_DECLINED,   /* m->err says so */
	MCP_CANNOT_ASK, /* the client cannot ask a person; m->err */
	MCP_SPENT       /* this agreement has had its run; m->err */
};

/*
 * Begins or goes on.
 * path      of the page; declared: what there is called, as it is written.
 * room      how many answers may be added.
 * Errors    RPC_BAD_PARAMS: the requestState is not what we signed for this
 *           request of this user, or too old; RPC_INTERNAL.
 */
enum rpc_code mcp_round_begin(struct mcp *m, struct mcp_round *r,
	const char *path, struct ss_text declared, size_t room);
void mcp_round_answer(struct mcp_round *r, const char *name, const char *value);
/*
 * Says that the agreement is used.  False: it was, as far as this process and
 * those that it shares memory with know.
 */
bool mcp_round_spend(struct mcp *m, const struct mcp_round *r);

/* Can the client show a form to a person? */
bool mcp_can_ask(const struct mcp *m);
/* The person's answer to the question of that name; NULL: none. */
const struct rpc_value *mcp_response(const struct mcp *m, const char *name);
bool mcp_is_accepted(const struct rpc_value *response);
/*
 * The result that asks: begin up to the message, a JSON string that the caller
 * writes; middle up to the form's properties; end with their names required.
 * MCP_ASKED; in the eras where the call waits for the answer, as
 * mcp_elicit_end.
 */
void mcp_question_begin(struct mcp *m, const char *name);
void mcp_question_form(struct mcp *m);
enum mcp_answered mcp_question_end(struct mcp *m, struct mcp_round *r,
	const char *const *required, size_t count, bool confirming);

/*
 * mcp_elicit.c: the same question as a request to a client of MCP_LEGACY.  end
 * waits for the answer: MCP_AGREED, and mcp_response has it; or MCP_DECLINED.
 */
void mcp_elicit_begin(struct mcp *m, const char *name);
enum mcp_answered mcp_elicit_end(struct mcp *m);
/* Do a client's capabilities say that it shows forms to a person? */
bool mcp_elicits(const struct rpc_value *capabilities);

#endif
