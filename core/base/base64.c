/* SPDX-License-Identifier: MIT */
#include "base/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
			       "uvwxyz0123456789+/";

/* Four characters of up to three bytes. */
static inline void
encode(const unsigned char *in, size_t n, char *out)
{
	uint32_t bits = (uint32_t)in[0] << 16 |
		(uint32_t)(n > 1 ? in[1] : 0) << 8 | (n > 2 ? in[2] : 0);

	for (size_t k = 0; k < 4; k++)
		out[k] = k <= n ? alphabet[bits >> (18 - 6 * k) & 63] : '=';
}

/* Whole groups by the piece: a call of buf_add for each cost the most. */
bool
base64_write(struct buf *out, const char *data, size_t len)
{
	const unsigned char *in = (const unsigned char *)data;
	char piece[1024];

	while (len >= 3) {
		size_t used = 0;

		for (; len >= 3 && used < sizeof(piece); len -= 3, in += 3) {
			encode(in, 3, piece + used);
			used += 4;
		}
		buf_add(out, piece, used);
	}
	if (len > 0) {
		encode(in, len, piece);
		buf_add(out, piece, 4);
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
