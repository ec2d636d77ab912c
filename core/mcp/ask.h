/* SPDX-License-Identifier: MIT */
/*
 * The forms of `ask:`: what a call leaves out, a person is asked for, one form
 * a round.
 */
#ifndef SS_MCP_ASK_H
#define SS_MCP_ASK_H

#include "mcp/round.h"

/* The arguments of a call, as a tool or a prompt has them. */
struct mcp_arguments {
	const struct ask *asks;
	size_t ask_count;
	/* Is it there already, or unknown? */
	bool (*has)(void *ctx, const char *name);
	/* Takes what a person wrote, which lives as long as the request; false:
	 * it does not fit. */
	bool (*take)(void *ctx, const char *name, const char *value);
	/* The members of the field's schema behind its type. */
	void (*describe)(void *ctx, struct mcp *m, const char *name);
	void *ctx;
};

size_t mcp_ask_count(const struct ask *asks, size_t count);

/*
 * MCP_AGREED with what the forms gave taken; also when the client cannot ask:
 * then something is missing, and the caller says so.
 */
enum mcp_answered
mcp_ask(struct mcp *m, struct mcp_round *r, const struct mcp_arguments *a);

#endif
