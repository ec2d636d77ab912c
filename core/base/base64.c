/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
			       "uvwxyz0123456789+/";

bool
base64_write(struct buf *out, const char *data, size_t len)
{
	const unsigned char *in = (const unsigned char *)data;

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)in[i] << 16 |
			(uint32_t)(n > 1 ? in[i + 1] : 0) << 8 |
			(uint32_t)(n > 2 ? in[i + 2] : 0);
		char four[4] = "====";

		for (size_t k = 0; k <= n; k++)
			four[k] = alphabet[bits >> (18 - 6 * k) & 63];
		buf_add(out, four, 4);
	}
	return buf_ok(out);
}

static int
value_of(char c)
{
	const char *at = c != '\0' ? strchr(alphabet, c) : NULL;

	return at != NULL ? (int)(at - alphabet) : -1;
}

bool
base64_read(struct buf *out, const char *text, size_t len)
{
	if (len % 4 != 0)
		return false;
	for (size_t i = 0; i < len; i += 4) {
		size_t n = 4;
		uint32_t bits = 0;

		while (i + 4 == len && n > 2 && text[i + n - 1] == '=')
			n--;
		for (size_t k = 0; k < n; k++) {
			int v = value_of(text[i + k]);

			if (v < 0)
				return false;
			bits |= (uint32_t)v << (18 - 6 * k);
		}
		/* Unused bits must be zero (RFC 4648 section 3.5). */
		if ((bits & ((1u << (24 - 8 * (n - 1))) - 1)) != 0 && n < 4)
			return false;
		for (size_t k = 0; k + 1 < n; k++)
			buf_char(out, (char)(bits >> (16 - 8 * k)));
	}
	return buf_ok(out);
}
