/* SPDX-License-Identifier: MIT */
/* A person agrees before a tool with `confirm` runs. */
#ifndef SS_MCP_CONFIRM_H
#define SS_MCP_CONFIRM_H

#include "mcp/question.h"
#include "page/env.h"

/* The command that a person is to agree to. */
struct mcp_command {
	const struct ss_document *doc; /* the page */
	const struct spec *spec;
	const struct proto_request *request;
	const struct ss_text *values; /* of the spec's arguments */
	struct env_scope scope;
};

enum mcp_answered mcp_confirm(
	struct mcp *m, struct mcp_round *round, const struct mcp_command *c);

#endif
