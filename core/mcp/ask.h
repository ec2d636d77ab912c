/* SPDX-License-Identifier: MIT */
/*
 * The forms of `ask:`: a person fills in what a call leaves out, one form in
 * each question.
 */
#ifndef SS_MCP_ASK_H
#define SS_MCP_ASK_H

#include "mcp/question.h"

/* The arguments of a call, as a tool or a prompt has them. */
struct mcp_ask {
	const struct ask *forms;
	size_t form_count;
	/* Is it there already, left out by a person, or unknown? */
	bool (*has)(void *ctx, const char *name);
	/* Takes what a person wrote, which lives as long as the request; false:
	 * it does not fit. */
	bool (*take)(void *ctx, const char *name, const char *value);
	/*
	 * May a person leave it out?  skip says that one did, and not that
	 * there was no such form yet.  Both NULL: each is required.
	 */
	bool (*may_omit)(void *ctx, const char *name);
	void (*skip)(void *ctx, const char *name);
	/* Its value as text, for a message that names it; NULL: none. */
	const char *(*value)(void *ctx, const char *name);
	/* The members of the field's schema. */
	void (*describe)(void *ctx, struct mcp *m, const char *name);
	void *ctx;
};

/* May the argument be left out, since a form asks for it? */
bool mcp_ask_may_omit(const struct mcp *m, const struct ask *forms,
	size_t count, const char *name);
/* How many arguments the forms have. */
size_t mcp_ask_count(const struct ask *forms, size_t count);

/*
 * MCP_AGREED with what the forms gave taken; also when the client cannot ask:
 * then something is missing, and the caller refuses.
 */
enum mcp_answered
mcp_ask(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a);

#endif
