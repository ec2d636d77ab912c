/* SPDX-License-Identifier: MIT */
#include "site/confirm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define NUMBER_BYTES 12

/* Each list comes with its count: no two calls have the same parts. */
bool
confirm_about(const struct confirm *c, uint8_t about[static DIGEST_BYTES])
{
	const struct proto_request *q = c->request;
	size_t words = 0, n = 0;
	struct ss_text *parts;
	char *fixed;

	while (c->argv[words] != NULL)
		words++;
	parts = arena_array(
		c->arena, words + 2 * q->env_count + 7, sizeof(*parts));
	fixed = arena_printf(c->arena,
		"%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRIu64
		" %zu %zu %zu %d",
		(uint64_t)c->doc->device, (uint64_t)c->doc->inode,
		(int64_t)c->doc->mtime_ns, (uint64_t)c->doc->length, c->tool,
		words, q->env_count, q->has_stdin);
	if (parts == NULL || fixed == NULL)
		return false;
	parts[n++] = text_of(fixed);
	parts[n++] = text_of(c->doc->path);
	parts[n++] = text_of(c->user);
	for (size_t i = 0; i < words; i++)
		parts[n++] = text_of(c->argv[i]);
	for (size_t i = 0; i < q->env_count; i++) {
		parts[n++] = text_of(q->env[i].name);
		parts[n++] = text_of(q->env[i].value);
	}
	parts[n++] = q->has_stdin ? q->stdin_text : TEXT("");
	if (q->has_workspace) {
		parts[n++] = q->commit ? TEXT("commit") : TEXT("workspace");
		parts[n++] = text_of(q->session != NULL ? q->session : "");
	}
	digest_parts(parts, n, about);
	return true;
}

/* Signs EXPIRES.NUMBER, the token's text up to its last point. */
static bool
sign_token(const struct confirm *c, struct ss_text text, int64_t expires,
	uint8_t out[static DIGEST_BYTES])
{
	uint8_t about[DIGEST_BYTES];
	const struct ss_text parts[] = { text,
		{ (const char *)about, DIGEST_BYTES } };

	if (!confirm_about(c, about))
		return false;
	seal_sign(c->seal, "confirm", expires, parts, ARRAY_LEN(parts), out);
	return true;
}

bool
confirm_offer(const struct confirm *c, char out[static CONFIRM_TOKEN_MAX + 1])
{
	int64_t expires = (int64_t)time(NULL) + SEAL_VALID_S;
	uint8_t number[NUMBER_BYTES], signature[DIGEST_BYTES];
	char hex[NUMBER_BYTES * 2 + 1];
	int n;

	if (getrandom(number, sizeof(number), 0) != (ssize_t)sizeof(number))
		return false;
	digest_hex(number, sizeof(number), hex);
	n = snprintf(
		out, CONFIRM_TOKEN_MAX + 1, "%" PRId64 ".%s", expires, hex);
	if (!sign_token(
		    c, (struct ss_text){ out, (size_t)n }, expires, signature))
		return false;
	out[n] = '.';
	digest_hex(signature, sizeof(signature), out + n + 1);
	return true;
}

bool
confirm_accept(const struct confirm *c, const char *token)
{
	const char *point = strrchr(token, '.');
	int64_t expires, now = (int64_t)time(NULL);
	uint8_t signature[DIGEST_BYTES];
	char hex[DIGEST_HEX + 1];

	if (point == NULL || strlen(point + 1) != DIGEST_HEX ||
		strlen(token) > CONFIRM_TOKEN_MAX || token[0] < '1' ||
		token[0] > '9')
		return false;
	expires = strtoll(token, NULL, 10);
	if (expires < now || expires > now + SEAL_VALID_S ||
		!sign_token(c,
			(struct ss_text){ token, (size_t)(point - token) },
			expires, signature))
		return false;
	digest_hex(signature, sizeof(signature), hex);
	return digest_equal((const uint8_t *)hex, (const uint8_t *)(point + 1),
		       DIGEST_HEX) &&
		seal_use(c->seal, signature, expires);
}
