/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4) and HMAC over it (RFC 2104): the only file that knows
 * nettle.  Pure, but for digest_file.
 */
#ifndef SS_BASE_DIGEST_H
#define SS_BASE_DIGEST_H

#include "base/base.h"

#define DIGEST_BYTES 32
#define DIGEST_HEX 64
#define DIGEST_GIT_HEX 40

/* Of all parts, one after the other, each followed by a NUL. */
void digest_parts(const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES]);
void digest_of(const char *data, size_t len, uint8_t out[static DIGEST_BYTES]);
/*
 * Of a file from its offset to its end, which *bytes of it were; reads the file.
 * 0 or errno.
 */
int digest_file(int fd, uint64_t *bytes, uint8_t out[static DIGEST_BYTES]);
/* git's name of a file with these bytes: SHA-1 of its object, in hexadecimal. */
void
digest_git(const char *data, size_t len, char out[static DIGEST_GIT_HEX + 1]);
void digest_keyed(const uint8_t key[static DIGEST_BYTES], const char *data,
	size_t len, uint8_t out[static DIGEST_BYTES]);
/* Writes lower-case digits and a NUL. */
void digest_hex(const uint8_t *bytes, size_t len, char *out);
/* In constant time: an attacker does not learn where they differ. */
bool digest_equal(const uint8_t *a, const uint8_t *b, size_t len);

#endif
