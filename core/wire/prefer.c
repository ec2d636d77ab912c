/* SPDX-License-Identifier: MIT */
/*
 * Preferences come as a list; each is a token, perhaps = and a value, perhaps ;
 * and parameters, which nothing here has.  The first of a name counts.
 */
#include "wire/prefer.h"

#include <strings.h>

#define BLANKS " \t"
#define WAIT_MAX_S 86400

/* Up to the comma behind this preference, not one in quotes. */
static size_t
preference_len(const char *at)
{
	bool quoted = false;
	size_t n = 0;

	for (; at[n] != '\0' && (quoted || at[n] != ','); n++) {
		if (quoted && at[n] == '\\' && at[n + 1] != '\0')
			n++;
		else if (at[n] == '"')
			quoted = !quoted;
	}
	return n;
}

/* The value behind a name, at the blanks before its "=". */
static struct ss_text
value_at(const char *at)
{
	size_t n;

	at += strspn(at, BLANKS);
	if (*at != '=')
		return TEXT("");
	at++;
	at += strspn(at, BLANKS);
	if (*at != '"')
		return (struct ss_text){ at, strcspn(at, BLANKS ";,") };
	n = strcspn(at + 1, "\"");
	return (struct ss_text){ at + 1, n };
}

bool
prefer_find(const char *header, const char *name, struct ss_text *value)
{
	size_t len, n;

	if (header == NULL)
		return false;
	len = strlen(name);
	for (const char *at = header; *at != '\0';
		at += at[n] == ',' ? n + 1 : n) {
		n = preference_len(at);
		const char *word = at + strspn(at, BLANKS);

		if (strncasecmp(word, name, len) != 0 ||
			strchr(BLANKS "=;,", word[len]) == NULL)
			continue;
		*value = value_at(word + len);
		return true;
	}
	return false;
}

uint32_t
prefer_wait_ms(const char *header)
{
	struct ss_text value;
	uint32_t seconds = 0;

	if (!prefer_find(header, "wait", &value))
		return 0;
	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9')
			return 0;
		seconds = seconds * 10 + (uint32_t)(value.data[i] - '0');
		if (seconds > WAIT_MAX_S)
			seconds = WAIT_MAX_S;
	}
	return seconds * 1000;
}
