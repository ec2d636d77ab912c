/* SPDX-License-Identifier: MIT */
/*
 * Ed25519 (RFC 8032), SHA-256 and HMAC for the receipts: the only file that
 * knows OpenSSL, linked into the helper program alone.
 */
#ifndef FCGI_RECEIPTS_SIGN_H
#define FCGI_RECEIPTS_SIGN_H

#include <stdbool.h>
#include <stddef.h>

#define SIGN_HASH 32
#define SIGN_BYTES 64
#define SIGN_PUBLIC 32

struct sign_key;

/* A key in PEM, as `openssl genpkey -algorithm ed25519` writes it; or NULL. */
struct sign_key *sign_key_read(const char *path, bool is_private);
struct sign_key *sign_key_of(const unsigned char bytes[static SIGN_PUBLIC]);
void sign_key_free(struct sign_key *key);
/* Writes a new pair; a file that is there is kept.  False: errno says why. */
bool sign_key_make(const char *private_path, const char *public_path);
bool sign_key_public(
	const struct sign_key *key, unsigned char out[static SIGN_PUBLIC]);
/* A secret that is derived from the private key. */
bool sign_key_secret(
	const struct sign_key *key, unsigned char out[static SIGN_HASH]);

bool sign_make(const struct sign_key *key, const char *data, size_t len,
	unsigned char out[static SIGN_BYTES]);
bool sign_check(const struct sign_key *key, const char *data, size_t len,
	const unsigned char signature[static SIGN_BYTES]);
bool
sign_hash(const char *data, size_t len, unsigned char out[static SIGN_HASH]);
bool sign_keyed(const unsigned char secret[static SIGN_HASH], const char *data,
	size_t len, unsigned char out[static SIGN_HASH]);

/* Lower-case digits and a NUL. */
void sign_hex(const unsigned char *bytes, size_t len, char *out);
/* False: these are no 2 * len hexadecimal digits. */
bool sign_unhex(const char *text, unsigned char *out, size_t len);

#endif
