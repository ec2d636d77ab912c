/* SPDX-License-Identifier: MIT */
#include "tools/stages.h"

#include <stdio.h>

#define FRONT 3       /* COUNT NAME PROGRAM */
#define DIGITS_MAX 6U /* PROTO_WORDS_MAX has fewer */

static char *
borrowed(const char *constant)
{
	union {
		const char *in;
		char *out;
	} word = { constant };

	return word.out;
}

static size_t
words_of(const struct stage *s)
{
	size_t n = 0;

	while (s->argv[n] != NULL)
		n++;
	return n;
}

char *const *
stages_argv(struct arena *arena, const struct stage *stages, size_t count)
{
	size_t all = 2, at = 0, words;
	char **line;

	for (size_t i = 0; i < count; i++)
		all += FRONT + words_of(&stages[i]);
	line = arena_array(arena, all, sizeof(*line));
	if (line == NULL)
		return NULL;
	line[at++] = borrowed(STAGES_HELPER);
	for (size_t i = 0; i < count; i++) {
		words = words_of(&stages[i]);
		line[at] = arena_printf(arena, "%zu", words);
		if (line[at++] == NULL)
			return NULL;
		line[at++] = borrowed(stages[i].name);
		line[at++] = borrowed(stages[i].program);
		memcpy(line + at, stages[i].argv, words * sizeof(*line));
		at += words;
	}
	line[at] = NULL;
	return line;
}

/* Decimal digits without a leading zero; 0: no such number. */
static size_t
read_count(const char *text)
{
	size_t n = 0, len = strlen(text);

	if (len > DIGITS_MAX || text[0] == '0')
		return 0;
	for (; *text != '\0'; text++) {
		if (*text < '0' || *text > '9')
			return 0;
		n = n * 10 + (size_t)(*text - '0');
	}
	return n;
}

size_t
stages_read(int argc, char **argv, struct stage out[static STAGES_MAX])
{
	size_t end = argc > 0 ? (size_t)argc : 0, at = 1, count = 0, words;

	while (at < end) {
		words = read_count(argv[at]);
		if (count == STAGES_MAX || words == 0 || end - at < FRONT ||
			end - at - FRONT < words)
			return 0;
		argv[at] = NULL; /* the end of the stage before */
		out[count++] = (struct stage){ .name = argv[at + 1],
			.program = argv[at + 2],
			.argv = argv + at + FRONT };
		at += FRONT + words;
	}
	return count;
}
