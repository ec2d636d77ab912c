/* SPDX-License-Identifier: MIT */
#include "mcp_parts.h"

enum ss_err
mcp_run(struct mcp *m, struct call *job)
{
	const char *stage = "call";

	return call_run(m->site, job, &stage, &m->result, &m->err);
}
