/* SPDX-License-Identifier: MIT */
#include "agree.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool
agree_can_ask(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

/*
 * How many bytes at text move the cursor or change the direction of text: C0, C1
 * (U+0080 to U+009F), U+200B to U+200F, U+2028 to U+202E, U+2060 to U+206F.
 */
static size_t
control_len(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	if (p[0] < ' ' || p[0] == 0x7f)
		return 1;
	if (p[0] == 0xc2 && p[1] < 0xa0)
		return 2;
	if (p[0] == 0xe2 && p[1] == 0x80 &&
		((p[2] >= 0x8b && p[2] <= 0x8f) ||
			(p[2] >= 0xa8 && p[2] <= 0xae)))
		return 3;
	return p[0] == 0xe2 && p[1] == 0x81 && p[2] >= 0xa0 && p[2] <= 0xaf ? 3
									    : 0;
}

/* Writes the word in quotes, unless it is plainly one word. */
static void
show_word(const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789_./:=@%+,-";
	size_t n;

	if (word[0] != '\0' && word[strspn(word, plain)] == '\0') {
		fputs(word, stderr);
		return;
	}
	fputc('"', stderr);
	while (*word != '\0') {
		n = control_len(word);
		for (size_t i = 0; i < n; i++)
			fprintf(stderr, "\\x%02x", (unsigned char)*word++);
		if (n > 0)
			continue;
		if (*word == '"' || *word == '\\')
			fputc('\\', stderr);
		fputc(*word++, stderr);
	}
	fputc('"', stderr);
}

/* Byte by byte: what follows the line is standard input of the tool. */
static size_t
read_line(char *out, size_t cap)
{
	size_t len = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		if (len < cap - 1)
			out[len++] = c;
	out[len] = '\0';
	return len;
}

bool
agree_ask(const char *question, const char *const *argv, size_t argc)
{
	char line[64];

	fprintf(stderr, "%s\n ",
		question != NULL ? question : "Run this command?");
	for (size_t i = 0; i < argc; i++) {
		fputc(' ', stderr);
		show_word(argv[i]);
	}
	fputs("\n[y/N] ", stderr);
	fflush(stderr);
	read_line(line, sizeof(line));
	return strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
}
