/* SPDX-License-Identifier: MIT */
#include "page/interpreter.h"

/* "python3.12" is python: digits, dots and dashes at the end do not count. */
static bool
is_interpreter(struct ss_text word)
{
	static const char *const names[] = { "sh", "dash", "bash", "rbash",
		"ash", "ksh", "mksh", "zsh", "fish", "busybox", "python",
		"pypy", "perl", "ruby", "node", "nodejs", "deno", "bun", "lua",
		"luajit", "php", "tclsh", "expect", "Rscript", "R", "julia",
		"raku", "groovy", "scala", "elixir", "erl", "guile", "racket",
		"ghc", "osascript", "pwsh", "gawk" };
	const char *slash = memrchr(word.data, '/', word.len);

	if (slash != NULL) {
		word.len -= (size_t)(slash + 1 - word.data);
		word.data = slash + 1;
	}
	while (word.len > 0 &&
		memchr("0123456789.-", word.data[word.len - 1], 12) != NULL)
		word.len--;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_is(word, names[i]))
			return true;
	return false;
}

/* -c, -e, a cluster with one of them ("-ec", "-lane", "-E"), --eval. */
static bool
takes_script(struct ss_text word)
{
	if (word.len < 2 || word.data[0] != '-')
		return false;
	if (word.data[1] == '-')
		return text_starts(word, "--eval") ||
			text_starts(word, "--command");
	for (size_t i = 1; i < word.len; i++)
		if (memchr("ceECr", word.data[i], 5) != NULL)
			return true;
	return false;
}

enum interpreter_word
interpreter_next(struct interpreter_scan *s, const struct part *p)
{
	bool first = s->seen++ == 0, script = s->option;

	s->option = false;
	s->named |= first && p->kind != PART_TEXT;
	if (p->kind == PART_ARGUMENT)
		return INTERPRETER_NONE;
	s->option = s->named && takes_script(p->text);
	s->named |= p->kind == PART_TEXT && is_interpreter(p->text);
	if (script)
		return INTERPRETER_SCRIPT;
	return s->option ? INTERPRETER_OPTION : INTERPRETER_NONE;
}
