/* SPDX-License-Identifier: MIT */
/* mcp_revision: which version is which, and the newest of each kind. */
#include "mcp/revision.h"
#include "tap.h"

int
main(void)
{
	struct buf list = BUF_INIT(256);
	const struct mcp_revision *r = mcp_revision_find("2026-07-28");

	ok(r != NULL && r->in_message && r->asking == MCP_ASKS_BY_RESULT,
		"2026-07-28 is known, and named in each message");
	ok(mcp_revision_newest(true) == r, "the newest of its kind");
	r = mcp_revision_find("2025-11-25");
	ok(r != NULL && !r->in_message && r->asking == MCP_ASKS_BY_REQUEST,
		"2025-11-25 begins with initialize");
	ok(mcp_revision_newest(false) == r, "the newest of its kind");
	ok(mcp_revision_find("2025-06-18") != NULL, "2025-06-18 is known");
	ok(mcp_revision_find("2024-11-05") == NULL, "an older one is not");
	ok(mcp_revision_find("") == NULL, "nor is an empty text");
	mcp_revision_list(&list);
	is_str("[\"2026-07-28\"]", list.data,
		"only what a message may name is listed");
	buf_release(&list);
	return done();
}
