/* SPDX-License-Identifier: MIT */
/*
 * The revisions of the protocol that are spoken here, and all that differs
 * between them.  Whoever adds one adds a line to the table in revision.c.
 */
#ifndef SS_MCP_REVISION_H
#define SS_MCP_REVISION_H

#include "wire/rpc.h"

/* Which methods there are: bits. */
enum mcp_methods {
	MCP_METHODS_COMMON = 1,
	MCP_METHODS_INITIALIZE = 2, /* initialize, and what follows from it */
	MCP_METHODS_DISCOVER = 4    /* server/discover in its place */
};

/* How a person is asked during a call. */
enum mcp_asking {
	/* Request elicitation/create; the call waits for its response. */
	MCP_ASKS_BY_REQUEST,
	/* The call's result is the question; it is sent again with the answer.
	 */
	MCP_ASKS_BY_RESULT
};

struct mcp_revision {
	const char *version;
	/*
	 * Each request has the version and the client's capabilities in its
	 * _meta; else only `initialize` has them.
	 */
	bool in_message;
	unsigned methods;
	bool typed_results;   /* resultType, and serverInfo in _meta */
	bool cacheable;       /* ttlMs and cacheScope */
	bool sessions;        /* Mcp-Session-Id of HTTP */
	bool status_by_error; /* HTTP: 404 and 500 for errors of JSON-RPC */
	enum mcp_asking asking;
	bool asked_is_optional; /* an argument that a form asks for */
	enum rpc_code no_resource;
};

/* NULL: not spoken. */
const struct mcp_revision *mcp_revision_find(const char *version);
/* The newest where in_message is so. */
const struct mcp_revision *mcp_revision_newest(bool in_message);
/* The versions that a message may name, as a JSON list. */
void mcp_revision_list(struct buf *out);
/* All of them. */
void mcp_revision_all(struct buf *out);

#endif
