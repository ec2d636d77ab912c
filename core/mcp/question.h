/* SPDX-License-Identifier: MIT */
/* A form for a person, asked as the revision of the message asks. */
#ifndef SS_MCP_QUESTION_H
#define SS_MCP_QUESTION_H

#include "mcp/round.h"

enum mcp_answered {
	MCP_AGREED,     /* go on */
	MCP_ASKED,      /* the result is the question */
	MCP_DECLINED,   /* m->err has the reason */
	MCP_CANNOT_ASK, /* the client cannot ask a person; m->err */
	MCP_USED        /* this agreement was used for a run before; m->err */
};

/* Can the client show a form to a person? */
bool mcp_question_possible(const struct mcp *m);
/* The person's response to the question of that name; NULL: none. */
const struct rpc_value *
mcp_question_response(const struct mcp *m, const char *name);
bool mcp_question_is_accepted(const struct rpc_value *response);

/*
 * begin   up to the message, a JSON string that the caller writes.
 * form    up to the properties of the form, which the caller writes.
 * end     with the names that are required.  MCP_ASKED; or, where the call
 *         waits for the response, as mcp_elicit_end.
 */
void mcp_question_begin(struct mcp *m, const char *name);
void mcp_question_form(struct mcp *m);
enum mcp_answered mcp_question_end(struct mcp *m, struct mcp_round *r,
	const char *const *required, size_t count, bool confirming);

#endif
