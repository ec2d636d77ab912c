/* SPDX-License-Identifier: MIT */
/* A person agrees before a tool marked `confirm: true` runs. */
#ifndef SS_MCP_CONFIRM_H
#define SS_MCP_CONFIRM_H

#include "mcp/question.h"

/* The command that a person is to agree to. */
struct mcp_command {
	const struct ss_document *doc; /* the page */
	const struct spec *spec;
	const struct proto_request *request;
};

enum mcp_answered mcp_confirm(
	struct mcp *m, struct mcp_round *round, const struct mcp_command *c);

#endif
