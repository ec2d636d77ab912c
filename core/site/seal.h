/* SPDX-License-Identifier: MIT */
/*
 * What a client holds for us until it comes back: signed (HMAC-SHA-256) with
 * the site's key, which all workers share, for a while and for one use.
 */
#ifndef SS_SITE_SEAL_H
#define SS_SITE_SEAL_H

#include "base/digest.h"
#include "site/site.h"

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

#endif
