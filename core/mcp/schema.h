/* SPDX-License-Identifier: MIT */
/* What a tool takes and gives, as JSON Schema, and what it may do. */
#ifndef SS_MCP_SCHEMA_H
#define SS_MCP_SCHEMA_H

#include "mcp/mcp.h"

/* The schema of a tool's arguments, and the same as the member inputSchema. */
void mcp_schema_arguments(
	struct mcp *m, const struct page *page, const struct spec *spec);
void mcp_schema_input(
	struct mcp *m, const struct page *page, const struct spec *spec);
/* The members of the schema of one argument, and of a form's field for it. */
void mcp_schema_argument(
	struct mcp *m, const struct spec *spec, const struct argument *a);
void mcp_schema_field(
	struct mcp *m, const struct spec *spec, const struct argument *a);
/* A property of inputSchema, for a tool whose output comes in parts. */
void mcp_schema_next(struct mcp *m);

/* Member annotations: as far as the sandbox enforces what they promise. */
void mcp_schema_hints(struct mcp *m, bool writes, bool reaches);
void mcp_schema_hints_of(
	struct mcp *m, const struct page *page, const struct spec *spec);

#endif
