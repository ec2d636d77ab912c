/* SPDX-License-Identifier: MIT */
/* A person agrees before a tool marked `confirm: true` runs. */
#ifndef SS_MCP_CONFIRM_H
#define SS_MCP_CONFIRM_H

#include "mcp/round.h"

enum mcp_answered mcp_confirm(struct mcp *m, struct mcp_round *round,
	const struct ss_document *doc, const struct spec *spec,
	const struct proto_request *request);

#endif
