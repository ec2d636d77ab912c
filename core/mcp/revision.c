/* SPDX-License-Identifier: MIT */
#include "mcp/revision.h"

#include <string.h>

#include "base/base.h"

/* What the revisions with `initialize` have in common. */
#define WITH_INITIALIZE                                                        \
	.methods = MCP_METHODS_COMMON | MCP_METHODS_INITIALIZE,                \
	.sessions = true, .asking = MCP_ASKS_BY_REQUEST,                       \
	.no_resource = RPC_NOT_FOUND

/* The newest first. */
static const struct mcp_revision revisions[] = {
	{ .version = "2026-07-28",
		.in_message = true,
		.methods = MCP_METHODS_COMMON | MCP_METHODS_DISCOVER,
		.typed_results = true,
		.cacheable = true,
		.status_by_error = true,
		.asking = MCP_ASKS_BY_RESULT,
		.asked_is_optional = true,
		.no_resource = RPC_BAD_PARAMS },
	{ .version = "2025-11-25", WITH_INITIALIZE },
	{ .version = "2025-06-18", WITH_INITIALIZE },
};

const struct mcp_revision *
mcp_revision_find(const char *version)
{
	for (size_t i = 0; i < ARRAY_LEN(revisions); i++)
		if (strcmp(revisions[i].version, version) == 0)
			return &revisions[i];
	return NULL;
}

const struct mcp_revision *
mcp_revision_newest(bool in_message)
{
	const struct mcp_revision *r = revisions;

	while (r->in_message != in_message)
		r++;
	return r;
}

static void
list(struct buf *out, bool all)
{
	const char *separator = "[";

	for (size_t i = 0; i < ARRAY_LEN(revisions); i++) {
		if (!all && !revisions[i].in_message)
			continue;
		buf_printf(out, "%s\"%s\"", separator, revisions[i].version);
		separator = ",";
	}
	buf_char(out, ']');
}

void
mcp_revision_list(struct buf *out)
{
	list(out, false);
}

void
mcp_revision_all(struct buf *out)
{
	list(out, true);
}
