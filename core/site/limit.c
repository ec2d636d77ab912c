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
static uint64_t
hash_text(uint64_t hash, const char *text)
{
	for (; *text != '\0'; text++)
		hash = (hash * UINT64_C(0x100000001b3)) ^ (unsigned char)*text;
	return hash;
}

uint64_t
limit_tool_number(const struct limit *l, const char *real, size_t tool)
{
	return hash_text(UINT64_C(0xcbf29ce484222325) ^ tool ^ l->seed, real);
}

uint64_t
limit_seed(const char *site)
{
	return hash_text(UINT64_C(0xcbf29ce484222325), site);
}
