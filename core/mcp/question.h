/* SPDX-License-Identifier: MIT */
/* A question to the client, asked as the revision of the message asks. */
#ifndef SS_MCP_QUESTION_H
#define SS_MCP_QUESTION_H

#include "mcp/round.h"
#include "page/ask.h"

enum mcp_answered {
	MCP_AGREED,     /* go on */
	MCP_ASKED,      /* the result is the question */
	MCP_DECLINED,   /* m->err has the reason */
	MCP_CANNOT_ASK, /* the client cannot ask a person; m->err */
	MCP_USED        /* this agreement was used for a run before; m->err */
};

/* Can the client ask there? */
bool mcp_question_possible(const struct mcp *m, enum ask_from from);
/* m->err and the capability that lacks, for MCP_CANNOT_ASK. */
void
mcp_question_impossible(struct mcp *m, enum ask_from from, const char *message);
/* The person's response to the question of that name; NULL: none. */
const struct rpc_value *
mcp_question_response(const struct mcp *m, const char *name);
bool mcp_question_is_accepted(const struct rpc_value *response);

/*
 * begin   up to the message, a JSON string that the caller writes; not for
 *         roots, which have none.
 * form    up to the properties of a form for a person, which the caller writes.
 * end     with the names that a form requires.  Where the call waits for the
 *         response, as mcp_elicit_end; else MCP_ASKED, and send follows, once
 *         for all questions of a result.
 */
void mcp_question_begin(struct mcp *m, const char *name, enum ask_from from);
void mcp_question_form(struct mcp *m);
enum mcp_answered mcp_question_end(struct mcp *m, enum ask_from from,
	const char *const *required, size_t count);
void mcp_question_send(struct mcp *m, struct mcp_round *r, bool confirming);

#endif
