/* SPDX-License-Identifier: MIT */
/*
 * A person agrees before a tool marked `confirm: true` runs.  Nothing is kept
 * here between the question and the answer: what was asked travels with the
 * client, signed (2026-07-28, "multi round-trip requests").
 */
#ifndef SS_MCP_CONFIRM_H
#define SS_MCP_CONFIRM_H

#include "mcp_parts.h"

enum mcp_answered {
	MCP_AGREED,
	MCP_ASKED,      /* the result is the question */
	MCP_DECLINED,   /* m->err says so */
	MCP_CANNOT_ASK, /* the client cannot ask a person; m->err */
	MCP_STATE_WRONG /* not what we signed, or too old; m->err */
};

enum mcp_answered mcp_confirm(struct mcp *m, const struct ss_document *doc,
	const struct spec *spec, const struct proto_request *request);

#endif
