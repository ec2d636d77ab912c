/* SPDX-License-Identifier: MIT */
/*
 * The words of the built-in tools, separated by line breaks.  What the HTTP
 * tool takes has a plain host that is no inner one, and an address that is
 * written in it is public; wildcards end; a path that passes does not climb;
 * stages that are read are all of the line; an interpreter is absolute.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <strings.h>

#include "fuzz.h"
#include "sandbox/program.h"
#include "tools/tool.h"
#include "tools/files.h"
#include "tools/parts.h"
#include "tools/stages.h"
#include "tools/wildcard.h"

#define WORDS 24

static void
check_http(char *const words[])
{
	struct tool_http http = { .url = NULL };
	struct in6_addr six;
	struct in_addr four;

	if (tool_http_read(words, &http, NULL) != SS_OK)
		return;
	promise(strncasecmp(http.url, "http", 4) == 0 && http.port > 0);
	promise(http.host[0] != '\0' &&
		strpbrk(http.host, "@%/?#\\ []") == NULL);
	promise(strcmp(http.host, "localhost") != 0);
	if (inet_aton(http.host, &four) != 0)
		promise(ss_address_is_public(AF_INET, &four));
	if (inet_pton(AF_INET6, http.host, &six) == 1)
		promise(ss_address_is_public(AF_INET6, &six));
	for (size_t i = 0; i < http.header_count; i++)
		promise(strpbrk(http.headers[i], "\r\n") == NULL);
}

static void
check_words(char *const words[])
{
	struct tool_words w;

	if (tool_words_read(words, &w, NULL) != SS_OK)
		return;
	promise(w.operand_count <= TOOL_OPERANDS && w.first > 0);
	for (size_t i = w.op == OP_GREP;
		i < (w.op == OP_WRITE || w.op == OP_EDIT ? 1 : w.operand_count);
		i++)
		promise(w.operands[i][0] != '/' &&
			strcmp(w.operands[i], "..") != 0 &&
			strstr(w.operands[i], "/../") == NULL);
}

/* Every pattern that braces leave finds itself when it is plain text. */
static void
check_wildcards(const char *pattern, const char *path)
{
	const char *out[WILDCARD_LISTS];
	struct arena arena;
	size_t count;

	arena_init(&arena, 0);
	if (wildcard_expand(&arena, pattern, out, &count, NULL) == SS_OK)
		for (size_t i = 0; i < count; i++) {
			wildcard_path(out[i], path);
			if (strpbrk(out[i], "*?[\\") == NULL)
				promise(wildcard_path(out[i], out[i]));
		}
	arena_release(&arena);
}

/* The words as the command line of statespace-pipe: it is changed. */
static void
check_stages(char *const words[], size_t count)
{
	struct stage stages[STAGES_MAX];
	char *line[WORDS + 2];
	size_t found, used = 1;

	for (size_t i = 0; i <= count; i++)
		line[i] = words[i];
	found = stages_read((int)count, line, stages);
	for (size_t i = 0; i < found; i++) {
		promise(stages[i].program != NULL && stages[i].argv[0] != NULL);
		for (used += 3; *stages[i].argv != NULL; stages[i].argv++)
			used++;
	}
	promise(found == 0 || used == count);
}

static void
check_first_line(const char *text, size_t size)
{
	struct interpreter found;
	char head[PROGRAM_LINE_MAX + 1];
	size_t len = size < PROGRAM_LINE_MAX ? size : PROGRAM_LINE_MAX;

	memcpy(head, text, len);
	head[len] = '\0';
	if (!program_interpreter(head, len, &found))
		return;
	promise(found.file[0] == '\0' || found.file[0] == '/');
	promise(strpbrk(found.file, " \t\n") == NULL);
	promise(strpbrk(found.starts, " \t\n") == NULL);
	promise(strchr(found.option, '\n') == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char file_tool[] = "fs", http_tool[] = "curl";
	char *text = malloc(size + 1), *at = text, *words[WORDS + 2];
	size_t n = 1;

	promise(text != NULL);
	for (size_t i = 0; i < size; i++)
		text[i] = data[i] == '\0' ? '0' : (char)data[i];
	text[size] = '\0';
	while (at != NULL && n < WORDS)
		words[n++] = strsep(&at, "\n");
	words[n] = NULL;
	words[0] = http_tool;
	check_http(words);
	words[0] = file_tool;
	check_words(words);
	check_wildcards(words[1], n > 2 ? words[2] : "");
	tool_reported((struct ss_text){ text, size }, NULL);
	check_stages(words, n);
	check_first_line((const char *)data, size);
	free(text);
	return 0;
}
