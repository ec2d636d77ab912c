/* SPDX-License-Identifier: MIT */
#include "site/limit.h"

void
limit_set(struct limit *l, const struct ss_tool_limit *host)
{
	size_t size = host->size < sizeof(*host) ? host->size : sizeof(*host);

	l->host = (struct ss_tool_limit){ 0 };
	memcpy(&l->host, host, size);
}

bool
limit_start(struct limit *l)
{
	l->refused = l->host.start != NULL && !l->host.start(l->host.ctx);
	return !l->refused;
}

void
limit_end(struct limit *l)
{
	if (l->host.start != NULL)
		l->host.end(l->host.ctx);
}

enum ss_err
limit_error(struct ss_error *err)
{
	return error_set(err, SS_OVERLOADED,
		"all workers are busy; the tool did not run");
}

/* FNV-1a */
uint64_t
limit_tool_number(const char *real, size_t tool)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ tool;

	for (; *real != '\0'; real++)
		hash = (hash * UINT64_C(0x100000001b3)) ^ (unsigned char)*real;
	return hash;
}
