/* SPDX-License-Identifier: MIT */
/*
 * What a client holds for us until it comes back: signed (HMAC-SHA-256) with
 * the site's key, which all workers share, for a while and for one use.
 */
#ifndef SS_SEAL_H
#define SS_SEAL_H

#include "digest.h"
#include "site.h"

#define SEAL_VALID_S 600 /* a person reads, thinks, clicks */

/*
 * purpose  of the caller alone: what is signed for one is of no use to another.
 * expires  in seconds of time(2), SEAL_VALID_S from when it is signed.
 */
void seal_sign(const struct ss_site *site, const char *purpose, int64_t expires,
	const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES]);
/*
 * Notes that a signature is used.  False: it was, as far as this process and
 * those that it shares memory with know.
 */
bool seal_spend(struct ss_site *site,
	const uint8_t signature[static DIGEST_BYTES], int64_t expires);

/* Memory of the signatures that were used; shared by all that fork. */
struct mcp_spent;
struct mcp_spent *mcp_spent_open(void); /* NULL: no memory */
void mcp_spent_close(struct mcp_spent *spent);

#endif
