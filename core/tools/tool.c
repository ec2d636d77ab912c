/* SPDX-License-Identifier: MIT */
/* Which words name a built-in tool, and what their arguments mean. */
#include "tools/tool.h"

#include "page/pattern.h"
#include "tools/files.h"
#include "tools/parts.h"
#include "tools/wildcard.h"

#define FILES "statespace-tool"

static const struct tool tools[] = {
	{ "glob", FILES, false },
	{ "read", FILES, false },
	{ "write", FILES, false },
	{ "edit", FILES, false },
	{ "fs", FILES, false },
	{ "curl", "statespace-curl", true },
};

const struct tool *
tool_find(const char *word)
{
	for (size_t i = 0; word != NULL && i < ARRAY_LEN(tools); i++)
		if (strcmp(word, tools[i].word) == 0)
			return &tools[i];
	return NULL;
}

/* ----------------------------------------------------------------- words */

/* The options of an operation; ':' follows those with a value. */
static const struct form {
	const char *name;
	enum tool_op op;
	const char *letters;
	size_t least, most; /* operands */
	bool free_text;     /* options come before the first operand only */
	const char *usage;
} forms[] = {
	{ "glob", OP_GLOB, "", 1, 1, false, "glob PATTERN" },
	{ "read", OP_READ, "l:b:", 1, 1, false,
		"read [-l FIRST-LAST | -b FIRST-LAST] FILE" },
	{ "write", OP_WRITE, "n", 1, 2, true, "write [-n] FILE [TEXT]" },
	{ "edit", OP_EDIT, "a", 3, 3, true, "edit [-a] FILE OLD NEW" },
	{ "grep", OP_GREP, "ilFrnEPA:B:C:g:", 1, TOOL_OPERANDS, false,
		"fs grep [-i] [-l] [-F] [-A N] [-B N] [-C N] [-g WILDCARD] "
		"PATTERN [FILE...]" },
	{ "stat", OP_STAT, "", 1, TOOL_OPERANDS, false, "fs stat FILE..." },
	{ "ls", OP_LS, "l", 0, 1, false, "fs ls [-l] [DIRECTORY]" },
};

static enum ss_err
refuse_usage(struct ss_error *err, const struct form *f, const char *what)
{
	error_set(err, SS_BAD_REQUEST, "%s: %s", f->name, what);
	error_hint(err, "usage: %s", f->usage);
	return SS_BAD_REQUEST;
}

static const struct form *
find_form(const char *name)
{
	for (size_t i = 0; name != NULL && i < ARRAY_LEN(forms); i++)
		if (strcmp(name, forms[i].name) == 0)
			return &forms[i];
	return NULL;
}

/* Reads decimal digits and moves *at after them. */
static bool
read_number(const char **at, uint64_t *out)
{
	const char *p = *at;

	for (*out = 0; *p >= '0' && *p <= '9'; p++) {
		if (*out > UINT64_MAX / 100)
			return false;
		*out = *out * 10 + (uint64_t)(*p - '0');
	}
	if (p == *at)
		return false;
	*at = p;
	return true;
}

/* "5", "5-", "5-9"; from 1. */
static bool
read_range(const char *text, uint64_t *first, uint64_t *last)
{
	if (!read_number(&text, first) || *first == 0)
		return false;
	*last = *first;
	if (*text == '-') {
		text++;
		*last = 0;
		if (*text != '\0' &&
			(!read_number(&text, last) || *last < *first))
			return false;
	}
	return *text == '\0';
}

static bool
read_count(const char *text, uint64_t *out)
{
	return read_number(&text, out) && *text == '\0' && *out <= 1000;
}

static enum ss_err
take_value(const struct form *f, struct tool_words *w, char letter,
	const char *value, struct ss_error *err)
{
	if (value == NULL)
		return refuse_usage(err, f, "the last option needs a value");
	switch (letter) {
	case 'l':
	case 'b':
		w->bytes = letter == 'b';
		return read_range(value, &w->first, &w->last)
			? SS_OK
			: refuse_usage(err, f, "a range is 5, 5-9 or 5-");
	case 'g': w->include = value; return SS_OK;
	default: break;
	}
	if (letter != 'B' && !read_count(value, &w->after))
		return refuse_usage(err, f, "context is a number up to 1000");
	if (letter != 'A' && !read_count(value, &w->before))
		return refuse_usage(err, f, "context is a number up to 1000");
	return SS_OK;
}

/* -r, -n, -E and -P are what grep does here anyway. */
static void
take_flag(struct tool_words *w, char letter)
{
	switch (letter) {
	case 'a': w->all = true; break;
	case 'n': w->new_only = true; break;
	case 'i': w->ignore_case = true; break;
	case 'F': w->fixed = true; break;
	case 'l': w->brief = w->details = true; break;
	default: break;
	}
}

/* One word of options: "-i", "-il", "-l5-9", "-l" "5-9". */
static enum ss_err
take_options(const struct form *f, struct tool_words *w, const char *word,
	char *const **next, struct ss_error *err)
{
	for (const char *p = word + 1; *p != '\0'; p++) {
		const char *known = *p != ':' ? strchr(f->letters, *p) : NULL;

		if (known == NULL)
			return refuse_usage(err, f, "there is no such option");
		if (known[1] != ':') {
			take_flag(w, *p);
			continue;
		}
		if (p[1] != '\0')
			return take_value(f, w, *p, p + 1, err);
		return take_value(
			f, w, *p, **next != NULL ? *(*next)++ : NULL, err);
	}
	return SS_OK;
}

/* Options may come between operands, unless those are free text. */
static enum ss_err
take_words(const struct form *f, char *const *next, struct tool_words *w,
	struct ss_error *err)
{
	bool only_operands = false;
	enum ss_err code = SS_OK;

	while (code == SS_OK && *next != NULL) {
		const char *word = *next++;

		if (!only_operands && strcmp(word, "--") == 0) {
			only_operands = true;
			continue;
		}
		if (!only_operands && word[0] == '-' && word[1] != '\0') {
			code = take_options(f, w, word, &next, err);
			continue;
		}
		if (w->operand_count == TOOL_OPERANDS)
			return refuse_usage(err, f, "too many words");
		w->operands[w->operand_count++] = word;
		only_operands |= f->free_text;
	}
	return code;
}

/* Refuses what needs no look at a file. */
static enum ss_err
check_operands(
	const struct form *f, const struct tool_words *w, struct ss_error *err)
{
	struct ss_error own = { .code = SS_OK };
	size_t first = f->op == OP_GREP ? 1 : 0, last = w->operand_count;

	if (f->op == OP_WRITE || f->op == OP_EDIT)
		last = 1;
	for (size_t i = first; i < last; i++) {
		enum ss_err code = tool_path_check(w->operands[i], &own);

		/* The tool itself reports a dot entry as not found. */
		if (code == SS_OK || code == SS_NOT_FOUND)
			continue;
		if (err != NULL)
			*err = own;
		return code;
	}
	if (f->op == OP_EDIT && w->operands[1][0] == '\0')
		return refuse_usage(err, f, "OLD must not be empty");
	if (f->op == OP_GREP && w->operands[0][0] == '\0')
		return refuse_usage(err, f, "PATTERN must not be empty");
	return SS_OK;
}

enum ss_err
tool_words_read(
	char *const argv[], struct tool_words *out, struct ss_error *err)
{
	bool fs = strcmp(argv[0], "fs") == 0;
	const struct form *f = find_form(fs ? argv[1] : argv[0]);
	enum ss_err code;

	*out = (struct tool_words){ .first = 1 };
	if (f == NULL) {
		error_set(err, SS_BAD_REQUEST,
			"fs: the first word is the operation");
		error_hint(err, "glob, read, write, edit, grep, stat or ls");
		return SS_BAD_REQUEST;
	}
	out->op = f->op;
	code = take_words(f, argv + 1 + fs, out, err);
	if (code != SS_OK)
		return code;
	if (out->operand_count < f->least || out->operand_count > f->most)
		return refuse_usage(err, f,
			out->operand_count < f->least ? "words are missing"
						      : "too many words");
	return check_operands(f, out, err);
}

/* ------------------------------------------------------- before the start */

/* Compiles patterns for their errors; the helper compiles them again. */
static enum ss_err
check_patterns(const struct tool_words *w, struct ss_error *err)
{
	const char *lists[WILDCARD_LISTS];
	const char *first = w->operand_count > 0 ? w->operands[0] : "";
	const char *wildcard = w->op == OP_GLOB ? first : w->include;
	struct pattern *p = NULL;
	struct arena arena;
	enum ss_err code = SS_OK;
	size_t count;

	if (w->op == OP_GREP && !w->fixed) {
		code = pattern_new(first, strlen(first), &p, err);
		pattern_free(p);
		if (code == SS_BAD_FRONTMATTER) {
			code = SS_BAD_REQUEST;
			if (err != NULL)
				err->code = code;
		}
	}
	if (code == SS_OK && wildcard != NULL) {
		arena_init(&arena, 0);
		code = wildcard_expand(&arena, wildcard, lists, &count, err);
		arena_release(&arena);
	}
	return code;
}

enum ss_err
tool_check(const struct tool *tool, char *const argv[],
	const struct tool_bounds *bounds, struct ss_error *err)
{
	struct tool_http http = { .url = NULL };
	struct tool_words words;
	enum ss_err code;

	if (tool->http) {
		http.targets = bounds->targets;
		http.target_count = bounds->target_count;
		return tool_http_read(argv, &http, err);
	}
	code = tool_words_read(argv, &words, err);
	return code == SS_OK ? check_patterns(&words, err) : code;
}

/* -------------------------------------------------- the helper's own line */

char *const *
tool_argv(struct arena *arena, const struct tool *tool, char *const argv[],
	const struct tool_bounds *b)
{
	size_t words = 0, n = 0;
	union {
		const char *in;
		char *out;
	} borrowed;
	char **line;

	while (argv[words] != NULL)
		words++;
	line = arena_array(arena, words + b->target_count + 6, sizeof(*line));
	if (line == NULL)
		return NULL;
	borrowed.in = tool->helper;
	line[n++] = borrowed.out;
	line[n++] = arena_printf(arena, "items=%zu", b->items);
	line[n++] = arena_printf(arena, "timeout=%u", b->timeout_ms);
	if (b->target_count > 0)
		line[n++] = arena_printf(arena, "targets");
	for (size_t i = 0; i < b->target_count; i++) {
		borrowed.in = b->targets[i];
		line[n++] = borrowed.out;
	}
	line[n++] = arena_printf(arena, "--");
	for (size_t i = 0; i < n; i++)
		if (line[i] == NULL)
			return NULL;
	memcpy(line + n, argv, words * sizeof(*line));
	return line;
}

char *const *
tool_settings_read(char *const argv[], struct tool_setting *out)
{
	char *const *at = argv + 1;
	uint64_t n;

	*out = (struct tool_setting){ .items = TOOL_ITEMS };
	for (; *at != NULL && strcmp(*at, "--") != 0; at++) {
		const char *value = strchr(*at, '=');

		if (strcmp(*at, "targets") == 0) {
			out->targets = (const char *const *)(at + 1);
			while (at[1] != NULL && strcmp(at[1], "--") != 0) {
				out->target_count++;
				at++;
			}
			continue;
		}
		if (value++ == NULL || !read_number(&value, &n) ||
			*value != '\0')
			return NULL;
		if (strncmp(*at, "items=", 6) == 0)
			out->items = (size_t)n;
		else if (strncmp(*at, "timeout=", 8) == 0)
			out->timeout_ms = (uint32_t)n;
		else
			return NULL;
	}
	return *at != NULL && at[1] != NULL ? at + 1 : NULL;
}

/* ---------------------------------------------------------------- reports */

/*
 * A report has three lines: the code's name, the message, the hint.  A helper
 * reports no other codes.
 */
static const enum ss_err reportable[] = { SS_BAD_REQUEST, SS_NOT_ALLOWED,
	SS_PATH_REFUSED, SS_ADDRESS_REFUSED, SS_CAPABILITY_REFUSED,
	SS_NETWORK };

static struct ss_text
next_line(struct ss_text *rest)
{
	const char *end = memchr(rest->data, '\n', rest->len);
	struct ss_text line = { rest->data,
		end != NULL ? (size_t)(end - rest->data) : rest->len };
	size_t used = end != NULL ? line.len + 1 : line.len;

	rest->data += used;
	rest->len -= used;
	return line;
}

enum ss_err
tool_reported(struct ss_text report, struct ss_error *err)
{
	struct ss_text name, message, hint;

	if (report.len == 0)
		return SS_OK;
	name = next_line(&report);
	message = next_line(&report);
	hint = next_line(&report);
	for (size_t i = 0; i < ARRAY_LEN(reportable); i++) {
		if (!text_is(name, ss_err_code(reportable[i])))
			continue;
		error_set(err, reportable[i], "%.*s", (int)message.len,
			message.data);
		if (hint.len > 0)
			error_hint(err, "%.*s", (int)hint.len, hint.data);
		return reportable[i];
	}
	return error_internal(err, 0, "the report of a helper is malformed");
}
