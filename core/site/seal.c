/* SPDX-License-Identifier: MIT */
#include "site/seal.h"

#include <inttypes.h>
#include <stdio.h>

#include "site/once.h"

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

bool
seal_spend(struct ss_site *site, const uint8_t signature[static DIGEST_BYTES],
	int64_t expires)
{
	return once_use(site->once, signature, expires);
}
