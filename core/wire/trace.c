/* SPDX-License-Identifier: MIT */
#include "wire/trace.h"

#define HEX "0123456789abcdef"

/* Hexadecimal digits, not all of them zero. */
static bool
is_id(const char *text, size_t digits)
{
	return strspn(text, HEX) == digits && strspn(text, "0") < digits;
}

const char *
trace_parent(const char *text)
{
	if (text == NULL || strlen(text) != 55 || strspn(text, HEX) != 2 ||
		strncmp(text, "ff", 2) == 0 || text[2] != '-' ||
		!is_id(text + 3, 32) || text[35] != '-' ||
		!is_id(text + 36, 16) || text[52] != '-' ||
		strspn(text + 53, HEX) != 2)
		return NULL;
	return text;
}
