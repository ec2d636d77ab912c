/* SPDX-License-Identifier: MIT */
#include "base/digest.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha1.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <unistd.h>

static void
sha256_add(struct sha256_ctx *ctx, const char *data, size_t len)
{
	sha256_update(ctx, len, (const uint8_t *)data);
}

void
digest_parts(const struct ss_text *parts, size_t count,
	uint8_t out[static DIGEST_BYTES])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	for (size_t i = 0; i < count; i++) {
		sha256_add(&ctx, parts[i].data, parts[i].len);
		sha256_add(&ctx, "", 1);
	}
	sha256_digest(&ctx, DIGEST_BYTES, out);
}

void
digest_of(const char *data, size_t len, uint8_t out[static DIGEST_BYTES])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_add(&ctx, data, len);
	sha256_digest(&ctx, DIGEST_BYTES, out);
}

int
digest_file(int fd, uint64_t *bytes, uint8_t out[static DIGEST_BYTES])
{
	struct sha256_ctx ctx;
	char chunk[16384];
	ssize_t n;

	*bytes = 0;
	sha256_init(&ctx);
	while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		sha256_add(&ctx, chunk, (size_t)n);
		*bytes += (uint64_t)n;
	}
	sha256_digest(&ctx, DIGEST_BYTES, out);
	return 0;
}

void
digest_git(const char *data, size_t len, char out[static DIGEST_GIT_HEX + 1])
{
	struct sha1_ctx ctx;
	char head[48];
	uint8_t digest[SHA1_DIGEST_SIZE];
	int n = snprintf(head, sizeof(head), "blob %zu", len);

	sha1_init(&ctx);
	sha1_update(&ctx, (size_t)n + 1, (const uint8_t *)head);
	sha1_update(&ctx, len, (const uint8_t *)data);
	sha1_digest(&ctx, sizeof(digest), digest);
	digest_hex(digest, sizeof(digest), out);
}

void
digest_keyed(const uint8_t key[static DIGEST_BYTES], const char *data,
	size_t len, uint8_t out[static DIGEST_BYTES])
{
	struct hmac_sha256_ctx ctx;

	hmac_sha256_set_key(&ctx, DIGEST_BYTES, key);
	hmac_sha256_update(&ctx, len, (const uint8_t *)data);
	hmac_sha256_digest(&ctx, DIGEST_BYTES, out);
}

void
digest_hex(const uint8_t *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 15];
	}
	*out = '\0';
}

bool
digest_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	return memeql_sec(a, b, len) != 0;
}
