/* SPDX-License-Identifier: MIT */
/*
 * Binary literals of git's patches: a zlib stream (RFC 1950) whose blocks are
 * stored as they are (RFC 1951, 3.2.4), in base 85 by lines of 52 bytes.
 */
#include "workspace/patch.h"

#define BLOCK 65535u
#define LINE 52u

static void
put_group(struct buf *out, const unsigned char *bytes, size_t len)
{
	static const char digits[] =
		"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"!#$%&()*+-;<=>?@^_`{|}~";
	uint32_t value = 0;
	char text[5];

	for (size_t i = 0; i < 4; i++)
		value = value << 8 | (i < len ? bytes[i] : 0);
	for (size_t i = 5; i-- > 0; value /= 85)
		text[i] = digits[value % 85];
	buf_add(out, text, sizeof(text));
}

static void
put_lines(struct buf *out, const unsigned char *bytes, size_t len)
{
	while (len > 0) {
		size_t n = len < LINE ? len : LINE;

		buf_char(out, (char)(n <= 26 ? 'A' + n - 1 : 'a' + n - 27));
		for (size_t i = 0; i < n; i += 4)
			put_group(out, bytes + i, n - i < 4 ? n - i : 4);
		buf_char(out, '\n');
		bytes += n;
		len -= n;
	}
}

/* RFC 1950, 9. */
static uint32_t
adler32(struct ss_text data)
{
	uint32_t a = 1, b = 0;

	for (size_t i = 0; i < data.len; i++) {
		a = (a + (unsigned char)data.data[i]) % 65521;
		b = (b + a) % 65521;
	}
	return b << 16 | a;
}

static bool
put_stream(struct buf *z, struct ss_text data)
{
	uint32_t sum = adler32(data);
	size_t at = 0;

	buf_add(z, "\x78\x01", 2);
	do {
		size_t n = data.len - at < BLOCK ? data.len - at : BLOCK;

		buf_char(z, at + n == data.len);
		buf_char(z, (char)(n & 255));
		buf_char(z, (char)(n >> 8));
		buf_char(z, (char)(~n & 255));
		buf_char(z, (char)(~n >> 8 & 255));
		buf_add(z, data.data + at, n);
		at += n;
	} while (at < data.len);
	for (int shift = 24; shift >= 0; shift -= 8)
		buf_char(z, (char)(sum >> shift & 255));
	return buf_ok(z);
}

bool
patch_literal(struct buf *out, struct ss_text data)
{
	struct buf z = BUF_INIT(SIZE_MAX / 2);
	bool ok = put_stream(&z, data);

	buf_printf(out, "GIT binary patch\nliteral %zu\n", data.len);
	if (ok)
		put_lines(out, (const unsigned char *)z.data, z.len);
	buf_char(out, '\n');
	buf_release(&z);
	return ok && buf_ok(out);
}
