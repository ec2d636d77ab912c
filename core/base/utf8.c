/* SPDX-License-Identifier: MIT */
#include "base/utf8.h"

/* The table of RFC 3629 section 4, read as ranges of the second byte. */
size_t
utf8_sequence(const char *s, size_t len)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned char low = 0x80, high = 0xbf;
	size_t need;

	if (len == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	need = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (len < need || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < need; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return need;
}

bool
utf8_valid(const char *s, size_t len)
{
	size_t n;

	for (size_t i = 0; i < len; i += n)
		if ((n = utf8_sequence(s + i, len - i)) == 0)
			return false;
	return true;
}

size_t
utf8_encode(uint32_t c, char out[4])
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/*
 * The longest beginning of a sequence that more bytes could have completed, at
 * least one (Unicode 16, section 3.9, "maximal subpart"; the WHATWG decoder
 * does the same).
 */
size_t
utf8_ill_formed(const char *s, size_t len)
{
	char tried[4] = { s[0], '\x80', '\x80', '\x80' };
	size_t n = 1;

	for (; n < len && n < 3; n++) {
		tried[n] = s[n];
		if (utf8_sequence(tried, sizeof(tried)) <= n)
			break;
	}
	return n;
}

size_t
utf8_unfinished(const char *s, size_t len)
{
	for (size_t n = 1; n <= 3 && n <= len; n++) {
		const char *p = s + len - n;
		unsigned char lead = (unsigned char)*p;

		if ((lead & 0xc0) == 0x80)
			continue;
		if (lead < 0xc2 || lead > 0xf4)
			return 0;
		return n < (lead < 0xe0                  ? 2u
					   : lead < 0xf0 ? 3u
							 : 4u) &&
				utf8_ill_formed(p, n) == n
			? n
			: 0;
	}
	return 0;
}

size_t
utf8_cut(const char *s, size_t len, size_t max)
{
	if (len <= max)
		return len;
	while (max > 0 && ((unsigned char)s[max] & 0xc0) == 0x80)
		max--;
	return max;
}
