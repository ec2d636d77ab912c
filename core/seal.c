/* SPDX-License-Identifier: MIT */
#include "seal.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#define ROTATION_S 3600 /* each key signs for so long */

/* The key of the hour in which what expires then was signed. */
static void
key_of(const struct ss_site *site, const char *purpose, int64_t expires,
	uint8_t key[static DIGEST_BYTES])
{
	char epoch[64];
	int n = snprintf(epoch, sizeof(epoch), "%s %" PRId64, purpose,
		(expires - SEAL_VALID_S) / ROTATION_S);

	digest_keyed(site->mcp_key, epoch, (size_t)n, key);
}

void
seal_sign(const struct ss_site *site, const char *purpose, int64_t expires,
	const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES])
{
	uint8_t key[DIGEST_BYTES], all[DIGEST_BYTES];

	digest_parts(parts, count, all);
	key_of(site, purpose, expires, key);
	digest_keyed(key, (const char *)all, DIGEST_BYTES, out);
}

/* ----------------------------------------------------------------- spent -- */

/*
 * A table of signatures, each with the second until which it would be good: a
 * number that is 0 or past is a free place.  Whoever forks shares it; a site
 * that starts anew for each request, as under plain CGI, has an empty one.
 */
#define PLACES 8192 /* so many agreements in SEAL_VALID_S */
#define WINDOW 64

struct mcp_spent {
	_Atomic uint64_t places[PLACES];
};

struct mcp_spent *
mcp_spent_open(void)
{
	void *map = mmap(NULL, sizeof(struct mcp_spent), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return map != MAP_FAILED ? map : NULL;
}

void
mcp_spent_close(struct mcp_spent *spent)
{
	if (spent != NULL)
		munmap(spent, sizeof(*spent));
}

static _Atomic uint64_t *
place(struct mcp_spent *s, const uint8_t *signature, size_t i)
{
	size_t first = ((size_t)signature[4] << 8 | signature[5]) % PLACES;

	return &s->places[(first + i) % PLACES];
}

/* How often it is in the table. */
static unsigned
count_of(struct mcp_spent *s, const uint8_t *signature, uint64_t mark)
{
	unsigned n = 0;

	for (size_t i = 0; i < WINDOW; i++)
		n += atomic_load(place(s, signature, i)) == mark;
	return n;
}

/*
 * Put down first, then counted: of two that come at once and find different
 * places, at least one sees the other, and that one does not run.
 */
bool
seal_spend(struct ss_site *site,
	const uint8_t signature[static DIGEST_BYTES], int64_t expires)
{
	struct mcp_spent *s = site->mcp_spent;
	uint64_t now = (uint64_t)time(NULL), mark, old;

	mark = (uint64_t)expires << 32 | (uint64_t)signature[0] << 24 |
		(uint64_t)signature[1] << 16 | (uint64_t)signature[2] << 8 |
		signature[3];
	if (count_of(s, signature, mark) > 0)
		return false;
	for (size_t i = 0; i < WINDOW; i++) {
		_Atomic uint64_t *p = place(s, signature, i);

		old = atomic_load(p);
		if (old >> 32 < now &&
			atomic_compare_exchange_strong(p, &old, mark))
			return count_of(s, signature, mark) == 1;
	}
	return false; /* full: better one question more */
}
