/* SPDX-License-Identifier: MIT */
#include "base/text.h"

struct ss_text
text_of(const char *cstring)
{
	return (struct ss_text){ cstring ? cstring : "",
		cstring ? strlen(cstring) : 0 };
}

bool
text_is(struct ss_text t, const char *cstring)
{
	return text_equal(t, text_of(cstring));
}

bool
text_equal(struct ss_text a, struct ss_text b)
{
	return a.len == b.len &&
		(a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool
text_starts(struct ss_text t, const char *prefix)
{
	size_t n = strlen(prefix);

	return t.len >= n && memcmp(t.data, prefix, n) == 0;
}

bool
text_ends(struct ss_text t, const char *suffix)
{
	size_t n = strlen(suffix);

	return t.len >= n && memcmp(t.data + t.len - n, suffix, n) == 0;
}

size_t
text_number(char out[static NUMBER_MAX], int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	size_t len = 1, at;

	for (uint64_t rest = left; rest >= 10; rest /= 10)
		len++;
	if (value < 0) {
		out[0] = '-';
		len++;
	}
	at = len;
	do
		out[--at] = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	return len;
}

size_t
text_ms(char out[static NUMBER_MAX], uint64_t us)
{
	const char fraction[] = { '.', (char)('0' + us / 100 % 10),
		(char)('0' + us / 10 % 10), (char)('0' + us % 10) };
	size_t n = text_number(out, (int64_t)(us / 1000));

	memcpy(out + n, fraction, sizeof(fraction));
	return n + sizeof(fraction);
}
