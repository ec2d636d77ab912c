/* SPDX-License-Identifier: MIT */
/*
 * Words that an author took from a shell, where no shell reads them, and words
 * with a slip of the keyboard in them.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "page/lint_own.h"

/* Bytes of a word that a message shows. */
#define SHOWN_BYTES 60
#define SHOWN(t) (int)utf8_cut((t).data, (t).len, SHOWN_BYTES), (t).data

/* One of the author's words, after the program's. */
struct word {
	const struct lint *l;
	const struct spec *spec;
	const struct part *part;
	struct ss_text text;
	bool after_option;   /* the word before it is an option */
	bool code, patterns; /* what the program reads */
};

static void warn(const struct word *w, enum warning kind, const char *hint,
	const char *message, ...) PRINTF_LIKE(4, 5);

static void
warn(const struct word *w, enum warning kind, const char *hint,
	const char *message, ...)
{
	char text[256];
	va_list args;

	va_start(args, message);
	vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	lint_warn(w->l, kind, place_of_part(w->part), hint, "%s", text);
}

static bool
has(struct ss_text t, const char *part)
{
	return memmem(t.data, t.len, part, strlen(part)) != NULL;
}

/* The byte at i; 0 outside of the word. */
static char
at(struct ss_text t, size_t i)
{
	return i < t.len ? t.data[i] : '\0';
}

/* --------------------------------------------------------------- operators */

/* What a tool of several programs is written as. */
#define PIPE_HINT "write pipe: [[cat, a.txt], [head]], or script: tools/x.sh"

/* ">", "2>", "2>&1", "&>out", "<in": not ">=1.0" or "<name>". */
static bool
is_redirection(struct ss_text t)
{
	size_t i = 0;

	while (isdigit((unsigned char)at(t, i)))
		i++;
	if (at(t, i) == '&' && at(t, i + 1) == '>')
		i++;
	if ((at(t, i) != '>' && at(t, i) != '<') || at(t, i + 1) == '=' ||
		(at(t, i) == '<' && text_ends(t, ">")))
		return false;
	return memchr(t.data, ' ', t.len) == NULL;
}

static bool
lint_operator(const struct word *w)
{
	static const char *const joins[] = { "|", "||", "&&", "&", "|&" };
	struct ss_text t = w->text;
	struct ss_text name = lint_program_name(w->spec->parts[0].text);

	if (text_is(name, "expr") || text_is(name, "test") ||
		text_is(name, "[") || text_is(name, "find") ||
		text_is(name, "fd"))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(joins); i++)
		if (text_is(t, joins[i])) {
			warn(w, WARN_WORD, PIPE_HINT,
				"%s is an ordinary word here: the program "
				"gets it as an argument",
				joins[i]);
			return true;
		}
	if (text_is(t, ";"))
		warn(w, WARN_WORD,
			"a ; that locks the tool is its last part; a second "
			"command is a tool of its own",
			"; in the middle is an ordinary word");
	else if (is_redirection(t))
		warn(w, WARN_WORD,
			at(t, strspn(t.data, "0123456789")) == '<'
				? "let the tool take standard input, stdin: "
				  "true, or name the file as a word"
				: "the answer holds both streams; what is to "
				  "be kept, the tool itself writes",
			"%.*s redirects nothing: no shell reads it", SHOWN(t));
	else
		return false;
	return true;
}

/* "a.txt;", where a comma is missing. */
static bool
lint_glued_lock(const struct word *w)
{
	struct ss_text t = w->text;
	char hint[128];

	if (w->code || w->spec->locked || t.len < 2 || !text_ends(t, ";") ||
		w->part != &w->spec->parts[w->spec->part_count - 1] ||
		at(t, t.len - 2) == '\\' || has(t, " ") || has(t, "&") ||
		has(t, "="))
		return false;
	snprintf(hint, sizeof(hint), "put a comma between them: %.*s, ;]",
		(int)utf8_cut(t.data, t.len - 1, SHOWN_BYTES), t.data);
	warn(w, WARN_WORD, hint,
		"the ; is part of this word, and locks nothing");
	return true;
}

/* --------------------------------------------------------------- patterns */

/* Only what names of files are made of, and * ? or {a,b}. */
static bool
is_wildcard(struct ss_text t)
{
	bool star = false;

	for (size_t i = 0; i < t.len; i++) {
		char c = t.data[i];

		star |= c == '*' || (c == '?' && i > 0);
		if (!isalnum((unsigned char)c) && strchr("*?._-/", c) == NULL)
			return false;
	}
	return star && (has(t, ".") || has(t, "/") || t.len == 1);
}

static bool
is_brace_list(struct ss_text t)
{
	const char *open = memchr(t.data, '{', t.len);
	const char *close = memchr(t.data, '}', t.len);

	return open != NULL && close != NULL && open < close &&
		memchr(open, ',', (size_t)(close - open)) != NULL &&
		!has(t, " ") && !has(t, ":") && !has(t, "\"");
}

static bool
lint_pattern(const struct word *w)
{
	struct ss_text t = w->text;

	if (w->code || w->patterns || w->after_option || text_starts(t, "-"))
		return false;
	if (is_wildcard(t))
		warn(w, WARN_WORD,
			"name the files, or let the agent choose: {file}; "
			"[glob, '*.txt', ;] lists them",
			"no shell expands %.*s: the program gets it as it is",
			SHOWN(t));
	else if (is_brace_list(t))
		warn(w, WARN_WORD, "write one word for each name",
			"no shell expands the braces of %.*s", SHOWN(t));
	else
		return false;
	return true;
}

/* --------------------------------------------------------- what shells fill */

static bool
lint_expansion(const struct word *w)
{
	struct ss_text t = w->text;
	const char *open = memmem(t.data, t.len, "$(", 2);
	const char *tick = memchr(t.data, '`', t.len);

	if (w->code)
		return false;
	if (text_is(t, "~") || text_starts(t, "~/"))
		warn(w, WARN_WORD,
			"write the whole path, or one from the page's "
			"directory",
			"no shell reads ~ here: it is text");
	else if (open != NULL &&
		memchr(open, ')', t.len - (size_t)(open - t.data)) != NULL)
		warn(w, WARN_WORD,
			"let a script of the page's run both commands",
			"$(...) runs nothing: no shell reads this word");
	else if (tick != NULL &&
		memchr(tick + 1, '`', t.len - (size_t)(tick + 1 - t.data)) !=
			NULL)
		warn(w, WARN_WORD,
			"let a script of the page's run both commands",
			"backquotes run nothing: no shell reads this word");
	else if (t.len == 2 && at(t, 0) == '$' &&
		(isdigit((unsigned char)at(t, 1)) ||
			strchr("@*#?", at(t, 1)) != NULL))
		warn(w, WARN_VARIABLE,
			"write a placeholder where the agent chooses the "
			"word: {name}",
			"%.*s is a shell's, and stays text", SHOWN(t));
	else
		return false;
	return true;
}

/* ------------------------------------------------------------ placeholders */

/* "{file-name}": braces around what is no identifier are text. */
static bool
is_odd_placeholder(struct ss_text t)
{
	if (t.len < 3 || !text_starts(t, "{") || !text_ends(t, "}"))
		return false;
	for (size_t i = 1; i + 1 < t.len; i++)
		if (!isalnum((unsigned char)t.data[i]) &&
			strchr("_- .", t.data[i]) == NULL)
			return false;
	return true;
}

/* "<file>" as in a synopsis, "{{file}}" as in templates. */
static bool
is_foreign_placeholder(struct ss_text t)
{
	bool angle = text_starts(t, "<") && text_ends(t, ">");
	bool braces = text_starts(t, "{{") && text_ends(t, "}}");
	size_t skip = braces ? 2 : 1;

	if ((!angle && !braces) || t.len <= 2 * skip)
		return false;
	for (size_t i = skip; i < t.len - skip; i++)
		if (!isalnum((unsigned char)t.data[i]) &&
			strchr("_- .", t.data[i]) == NULL)
			return false;
	return true;
}

/* The name of the first "{id}" within the word; len 0: none. */
static struct ss_text
inner_placeholder(struct ss_text t)
{
	for (size_t i = 0, n; i < t.len; i++) {
		if (t.data[i] != '{' ||
			(i > 0 && strchr("$%@#\\{", t.data[i - 1]) != NULL))
			continue;
		n = 1;
		while (isalnum((unsigned char)at(t, i + n)) ||
			at(t, i + n) == '_')
			n++;
		if (n > 1 && at(t, i + n) == '}' &&
			!isdigit((unsigned char)at(t, i + 1)))
			return (struct ss_text){ t.data + i + 1, n - 1 };
	}
	return (struct ss_text){ "", 0 };
}

static bool
lint_placeholder(const struct word *w)
{
	struct ss_text t = w->text, name = inner_placeholder(t);

	if (is_odd_placeholder(t))
		warn(w, WARN_PLACEHOLDER,
			"a placeholder's name holds letters, digits and _ "
			"only",
			"this text looks like a placeholder and is none");
	else if (!w->code && is_foreign_placeholder(t))
		warn(w, WARN_PLACEHOLDER, "write {name}, in braces",
			"%.*s is text, and no placeholder", SHOWN(t));
	else if (!w->code && name.len > 0 && name.len < SHOWN_BYTES &&
		name.len + 2 < t.len)
		warn(w, WARN_PLACEHOLDER,
			"write { text: 'x/{id}', id: '^[0-9]+$' }, or make "
			"{id} a part of its own",
			"{%.*s} inside a word is text", (int)name.len,
			name.data);
	else if (text_is(t, "..."))
		warn(w, WARN_PLACEHOLDER,
			"leave it out: without a last ; the agent may append "
			"words",
			"... is text, and stands for nothing");
	else
		return false;
	return true;
}

/* ------------------------------------------------------------------ quotes */

/* Of the characters that begin with E2 80: dashes and quotes. */
static bool
is_dash(struct ss_text t)
{
	return text_starts(t, "\xe2\x80\x92") ||
		text_starts(t, "\xe2\x80\x93") ||
		text_starts(t, "\xe2\x80\x94") ||
		text_starts(t, "\xe2\x80\x95") ||
		text_starts(t, "\xe2\x88\x92");
}

static bool
has_curly_quote(struct ss_text t)
{
	static const char *const quotes[] = { "\xe2\x80\x98", "\xe2\x80\x99",
		"\xe2\x80\x9a", "\xe2\x80\x9c", "\xe2\x80\x9d",
		"\xe2\x80\x9e" };

	for (size_t i = 0; i < ARRAY_LEN(quotes); i++)
		if (text_starts(t, quotes[i]) || text_ends(t, quotes[i]))
			return true;
	return false;
}

/* No-break, zero-width and ideographic spaces, and a byte order mark. */
static bool
has_odd_space(struct ss_text t)
{
	return has(t, "\xc2\xa0") || has(t, "\xe2\x80\x8b") ||
		has(t, "\xe2\x80\xaf") || has(t, "\xe3\x80\x80") ||
		has(t, "\xef\xbb\xbf");
}

static bool
lint_character(const struct word *w)
{
	struct ss_text t = w->text;

	if (is_dash(t))
		warn(w, WARN_CHARACTER, "write an ASCII hyphen: -",
			"this word begins with a dash that is no hyphen: it "
			"is no option");
	else if (has_curly_quote(t))
		warn(w, WARN_CHARACTER,
			"quote with ' or \", or leave the quotes out",
			"curly quotes quote nothing: they are part of the "
			"word");
	else if (has_odd_space(t))
		warn(w, WARN_CHARACTER, "type an ordinary space, or none",
			"this word holds a space that looks ordinary and is "
			"not");
	else if (has(t, "\b"))
		warn(w, WARN_CHARACTER,
			"put the text in single quotes, where \\b is two "
			"characters",
			"this word holds a backspace: in double quotes \\b "
			"is one");
	else if (text_ends(t, "\r"))
		warn(w, WARN_CHARACTER, "remove \\r",
			"this word ends in a carriage return");
	else
		return false;
	return true;
}

static bool
is_quoted(struct ss_text t)
{
	return t.len >= 2 && (t.data[0] == '\'' || t.data[0] == '"') &&
		t.data[t.len - 1] == t.data[0];
}

/* --name='x' */
static bool
is_quoted_value(struct ss_text t)
{
	const char *sign = memchr(t.data, '=', t.len);
	size_t n = sign != NULL ? (size_t)(sign + 1 - t.data) : t.len;

	return text_starts(t, "--") &&
		is_quoted((struct ss_text){ t.data + n, t.len - n });
}

static bool
lint_quotes(const struct word *w)
{
	struct ss_text t = w->text;

	if (w->code || w->patterns || (!is_quoted(t) && !is_quoted_value(t)))
		return false;
	warn(w, WARN_QUOTE,
		"quote once: 'two words'; no shell takes a second pair off",
		"the quotes are part of this word");
	return true;
}

/* ------------------------------------------------------------------ blanks */

/* "-n 5": an option and its value in one word. */
static bool
is_option_with_value(struct ss_text t)
{
	size_t i = 1 + (at(t, 1) == '-');

	if (at(t, 0) != '-' || !isalpha((unsigned char)at(t, i)))
		return false;
	while (isalnum((unsigned char)at(t, i)) || at(t, i) == '-')
		i++;
	return at(t, i) == ' ' && i + 1 < t.len;
}

static bool
lint_blanks(const struct word *w)
{
	struct ss_text t = w->text;

	if (t.len == 0)
		warn(w, WARN_EMPTY, "remove it, or write {} for any word",
			"this word is empty: the program gets it as one");
	else if (!w->code && is_option_with_value(t))
		warn(w, WARN_WORD, "write two parts: -n, 5",
			"an option and its value are one word here");
	else if (!w->code && !w->patterns && !w->after_option &&
		(at(t, 0) == ' ' || at(t, t.len - 1) == ' '))
		warn(w, WARN_QUOTE, "take the blank out of the quotes",
			"a blank begins or ends this word");
	else
		return false;
	return true;
}

/* The first finding of a word: the others follow from the same slip. */
static void
lint_word(const struct word *w)
{
	(void)(lint_character(w) || lint_blanks(w) || lint_operator(w) ||
		lint_glued_lock(w) || lint_placeholder(w) ||
		lint_expansion(w) || lint_pattern(w) || lint_quotes(w));
}

void
lint_words(const struct lint *l, const struct spec *s, bool script)
{
	for (size_t i = script ? 0 : 1; i < s->part_count; i++) {
		struct word w = { .l = l,
			.spec = s,
			.part = &s->parts[i],
			.text = s->parts[i].text };

		if (s->parts[i].kind != PART_TEXT)
			continue;
		w.after_option = i > 0 && lint_is_option(&s->parts[i - 1]);
		w.code = !script && lint_reads_code(s);
		w.patterns = !script && lint_reads_patterns(s);
		lint_word(&w);
	}
}
