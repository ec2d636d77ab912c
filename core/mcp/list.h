/* SPDX-License-Identifier: MIT */
/*
 * A list that the client reads in pieces, with a cursor: the same for tools,
 * resources, prompts and skills.
 */
#ifndef SS_MCP_LIST_H
#define SS_MCP_LIST_H

#include "mcp/mcp.h"

#define MCP_LIST_PIECE 100 /* items, where one costs little */

struct mcp_list {
	const char *key;   /* of the member; binds the cursor to it */
	const char *after; /* the last item of the piece before; NULL: none */
	const char *last;  /* the last item of this one */
	size_t left;       /* so many more may be written */
	bool started, more;
};

/* Opens the list, or fills m->err; *c is fresh. */
enum rpc_code mcp_list_begin(struct mcp *m, struct mcp_list *l, const char *key,
	size_t max, struct catalog **c);
/* Is the item of this name to be written now?  Asked of each, in order. */
bool mcp_list_includes(struct mcp_list *l, const char *name);
enum rpc_code mcp_list_end(struct mcp *m, const struct mcp_list *l);

#endif
