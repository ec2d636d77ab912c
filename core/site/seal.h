/* SPDX-License-Identifier: MIT */
/*
 * Signatures (HMAC-SHA-256) of text that a client keeps and sends back: good
 * for ten minutes and for one use, in all workers of a site.
 */
#ifndef SS_SITE_SEAL_H
#define SS_SITE_SEAL_H

#include "base/digest.h"
#include "base/error.h"

#define SEAL_VALID_S 600 /* a person reads, thinks, clicks */

struct once;

struct seal {
	uint8_t key[DIGEST_BYTES];
	struct once *used; /* signatures that came back, of all workers */
	bool borrowed;     /* used is that of all sites */
};

/*
 * key_file  "" makes a random key; servers that share a site, and CGI, which
 *           starts for each request, name a file of at least 32 bytes.
 * Errors    SS_CONFIG: the file cannot be read or is too short; SS_INTERNAL.
 */
enum ss_err
seal_open(struct seal *seal, const char *key_file, struct ss_error *err);
/*
 * A key for one of several sites, whose signatures are of no use at the others:
 * of its own file, or derived from the key of all.
 */
enum ss_err seal_for_site(struct seal *seal, const struct seal *all,
	const char *key_file, const char *site, struct ss_error *err);
void seal_close(struct seal *seal);
/*
 * purpose  a signature for one purpose is of no use for another.
 * expires  in seconds since 1970: SEAL_VALID_S from now.
 */
void seal_sign(const struct seal *seal, const char *purpose, int64_t expires,
	const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES]);
/* Notes that a signature is used.  False: it was used before. */
bool seal_use(struct seal *seal, const uint8_t signature[static DIGEST_BYTES],
	int64_t expires);

#endif
