/* SPDX-License-Identifier: MIT */
#include "receipts_sign.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct sign_key {
	EVP_PKEY *pkey;
};

static struct sign_key *
wrap(EVP_PKEY *pkey)
{
	struct sign_key *key = NULL;

	if (pkey != NULL && EVP_PKEY_id(pkey) == EVP_PKEY_ED25519)
		key = calloc(1, sizeof(*key));
	if (key == NULL) {
		EVP_PKEY_free(pkey);
		return NULL;
	}
	key->pkey = pkey;
	return key;
}

struct sign_key *
sign_key_read(const char *path, bool is_private)
{
	FILE *file = fopen(path, "re");
	EVP_PKEY *pkey;

	if (file == NULL)
		return NULL;
	errno = EINVAL;
	pkey = is_private ? PEM_read_PrivateKey(file, NULL, NULL, NULL)
			  : PEM_read_PUBKEY(file, NULL, NULL, NULL);
	fclose(file);
	return wrap(pkey);
}

struct sign_key *
sign_key_of(const unsigned char bytes[static SIGN_PUBLIC])
{
	return wrap(EVP_PKEY_new_raw_public_key(
		EVP_PKEY_ED25519, NULL, bytes, SIGN_PUBLIC));
}

void
sign_key_free(struct sign_key *key)
{
	if (key == NULL)
		return;
	EVP_PKEY_free(key->pkey);
	free(key);
}

/* A new file; NULL: errno says why. */
static FILE *
new_file(const char *path, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

static bool
close_written(FILE *file, bool written)
{
	written = written && fflush(file) == 0 && fsync(fileno(file)) == 0;
	return fclose(file) == 0 && written;
}

bool
sign_key_make(const char *private_path, const char *public_path)
{
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	FILE *file = pkey != NULL ? new_file(private_path, 0600) : NULL;
	bool made = false;

	if (file != NULL)
		made = close_written(file,
			PEM_write_PrivateKey(
				file, pkey, NULL, NULL, 0, NULL, NULL) == 1);
	file = made ? new_file(public_path, 0644) : NULL;
	made = file != NULL &&
		close_written(file, PEM_write_PUBKEY(file, pkey) == 1);
	EVP_PKEY_free(pkey);
	return made;
}

bool
sign_key_public(
	const struct sign_key *key, unsigned char out[static SIGN_PUBLIC])
{
	size_t len = SIGN_PUBLIC;

	return EVP_PKEY_get_raw_public_key(key->pkey, out, &len) == 1;
}

bool
sign_key_secret(const struct sign_key *key, unsigned char out[static SIGN_HASH])
{
	static const char purpose[] = "statespace receipts: words";
	unsigned char raw[SIGN_HASH];
	size_t len = sizeof(raw);
	bool made = EVP_PKEY_get_raw_private_key(key->pkey, raw, &len) == 1 &&
		sign_keyed(raw, purpose, sizeof(purpose), out);

	OPENSSL_cleanse(raw, sizeof(raw));
	return made;
}

bool
sign_make(const struct sign_key *key, const char *data, size_t len,
	unsigned char out[static SIGN_BYTES])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t n = SIGN_BYTES;
	bool made = ctx != NULL &&
		EVP_DigestSignInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
		EVP_DigestSign(
			ctx, out, &n, (const unsigned char *)data, len) == 1;

	EVP_MD_CTX_free(ctx);
	return made;
}

bool
sign_check(const struct sign_key *key, const char *data, size_t len,
	const unsigned char signature[static SIGN_BYTES])
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	bool right = ctx != NULL &&
		EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key->pkey) == 1 &&
		EVP_DigestVerify(ctx, signature, SIGN_BYTES,
			(const unsigned char *)data, len) == 1;

	EVP_MD_CTX_free(ctx);
	return right;
}

bool
sign_hash(const char *data, size_t len, unsigned char out[static SIGN_HASH])
{
	return EVP_Digest(data, len, out, NULL, EVP_sha256(), NULL) == 1;
}

bool
sign_keyed(const unsigned char secret[static SIGN_HASH], const char *data,
	size_t len, unsigned char out[static SIGN_HASH])
{
	return HMAC(EVP_sha256(), secret, SIGN_HASH,
		       (const unsigned char *)data, len, out, NULL) != NULL;
}

void
sign_hex(const unsigned char *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * len] = '\0';
}

static int
digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool
sign_unhex(const char *text, unsigned char *out, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = digit(text[2 * i]);
		int low = high >= 0 ? digit(text[2 * i + 1]) : -1;

		if (low < 0)
			return false;
		out[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}
