/* SPDX-License-Identifier: MIT */
/* Words to values and back: types, templates, optional words, defaults. */
#include "page/words.h"
#include "page/frontmatter.h"
#include "page/match.h"
#include "page/template.h"
#include "tap.h"
#include "wire/proto.h"

static struct arena arena;
static struct frontmatter front;
static struct ss_error err;
static struct given given;
static struct command command;

/* The tool, or NULL when it is refused: then err says why. */
static const struct spec *
tool(const char *line)
{
	char page[16000];

	frontmatter_release(&front);
	arena_clear(&arena);
	error_clear(&err);
	snprintf(page, sizeof(page), "---\ntools:\n  - %s\n---\n", line);
	return frontmatter_parse(
		       &arena, page, strlen(page), &front, NULL, &err) == SS_OK
		? &front.specs[0]
		: NULL;
}

/* Matches words, a NULL-terminated list, and builds them again. */
static bool
run(const char *line, const char *const *list)
{
	static struct ss_text words[16];
	const struct spec *s = tool(line);
	size_t count = 0;

	if (!ok(s != NULL, "%s is a tool: %s", line, err.message))
		return false;
	while (list[count] != NULL) {
		words[count] = text_of(list[count]);
		count++;
	}
	return match_words(s, words, count, &arena, &given) == PATTERN_YES &&
		command_build(&arena, s, &given, &command, &err) == SS_OK;
}

#define RUN(line, ...) run(line, (const char *const[]){ __VA_ARGS__, NULL })
#define TAKES(line, ...) ok(RUN(line, __VA_ARGS__), "%s takes it", line)
#define REFUSES(line, ...) ok(!RUN(line, __VA_ARGS__), "%s refuses it", line)

static void
is_word(const char *expected, size_t i)
{
	is_str(expected, i < command.count ? command.words[i].data : NULL,
		"word %zu is %s", i, expected);
}

static void
is_wrong(const char *line, const char *hint)
{
	ok(tool(line) == NULL && strstr(err.hint, hint) != NULL,
		"%s is refused: %s; %s", line, err.message, err.hint);
}

/* ------------------------------------------------------------------ types */

static void
takes(const char *keys, const char *const *good, const char *const *bad)
{
	char line[400];

	snprintf(line, sizeof(line), "[x, { name: n, %s }, ;]", keys);
	for (; *good != NULL; good++)
		ok(RUN(line, "x", *good), "%s takes \"%s\"", keys, *good);
	for (; *bad != NULL; bad++)
		ok(!RUN(line, "x", *bad), "%s refuses \"%s\"", keys, *bad);
}

#define GOOD(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void
types(void)
{
	takes("type: integer", GOOD("0", "7", "9007199254740991"),
		GOOD("", "-", "-1", "01", "1.0", "1e3", " 1", "1 ", "0x10",
			"9007199254740992", "+1", "1\n"));
	takes("type: integer, min: -5, max: 99", GOOD("-5", "99", "-0"),
		GOOD("-6", "100", "--5", "5-"));
	takes("type: integer, dash: true", GOOD("-7"), GOOD("-"));
	takes("type: number", GOOD("0", "1.5", "2e3", "2E-3"),
		GOOD("", ".5", "5.", "1e", "nan", "inf", "-1.5", "1e9999",
			"0x1p3", "1,5"));
	takes("type: number, min: 0.5, max: 1.5", GOOD("0.5", "1.5", "5e-1"),
		GOOD("0.4999", "1.5001"));
	takes("type: boolean", GOOD("true", "false"),
		GOOD("True", "yes", "1", ""));
	takes("type: date", GOOD("2026-02-28", "2024-02-29", "2000-02-29"),
		GOOD("2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10",
			"2026-1-1", "2026-04-31", "26-01-01", "2026-01-01x"));
	takes("type: date, min: 2026-01-31, max: 2026-02-02",
		GOOD("2026-01-31", "2026-02-02"),
		GOOD("2026-01-30", "2026-02-03"));
	takes("enum: [open, 5, -x, /a/../b]", GOOD("open", "5", "-x"),
		GOOD("Open", "", "ope", "openx"));
	takes("kind: text", GOOD("", "a b", "/api/../x", "a\nb", "$X"),
		GOOD("-", "-rf", "--x"));
	takes("kind: text, dash: true", GOOD("-rf"), GOOD(NULL));
	takes("kind: text, regex: '^a'", GOOD("a/../b"), GOOD("b"));
	takes("kind: path", GOOD("a", "a/b", "..."), GOOD("", "-a"));
}

/* -------------------------------------------------------------- templates */

static void
templates(void)
{
#define URL                                                                    \
	"[x, { text: 'http://h/{id}/{q}', id: '^[0-9]+$', "                    \
	"q: { kind: text, escape: url } }, ;]"
	TAKES(URL, "x", "http://h/5/a%20b%2Fc");
	is_word("http://h/5/a%20b%2Fc", 1);
	ok(text_is(given.values[1], "a b/c"), "the value is without escapes");
	REFUSES(URL, "x", "http://h/5/a%2fb");
	REFUSES(URL, "x", "http://h/5/a/b");
	REFUSES(URL, "x", "http://h/5/..");
	REFUSES(URL, "x", "http://h/5/.");
	REFUSES(URL, "x", "http://h/5/");
	REFUSES(URL, "x", "http://h/5x/a");
	REFUSES(URL, "x", "http://g/5/a");
	REFUSES(URL, "x", "http://h/5/%");
	REFUSES(URL, "x", "http://h/5/%ff");
	REFUSES(URL, "x", "http://h/5/a%00");
	/* A step is one in a path only, and a query may be empty. */
#define QUERY                                                                  \
	"[x, { text: 'http://h/{p}?q={q}&r={q}#{p}', "                         \
	"p: { kind: text, escape: url }, q: { kind: text, escape: url } }, ;]"
	TAKES(QUERY, "x", "http://h/a?q=&r=#a");
	TAKES(QUERY, "x", "http://h/a?q=.&r=.#a");
	REFUSES(QUERY, "x", "http://h/.?q=a&r=a#.");
	REFUSES(QUERY, "x", "http://h/?q=a&r=a#");
	REFUSES(QUERY, "x", "http://h/a?q=a&b&r=a&b#a");
	REFUSES("[x, { text: 'a?u=http://h/{q}', q: { kind: text, "
		"escape: url } }, ;]",
		"x", "a?u=http://h/.");
	REFUSES("[x, { text: 'a?q={q} b/{q}', q: { kind: text, "
		"escape: url } }, ;]",
		"x", "a?q= b/");
#define SQL                                                                    \
	"[x, { text: \"where n = '{n}' and i = {i}\", "                        \
	"n: { kind: text, escape: sql }, i: { type: integer } }, ;]"
	TAKES(SQL, "x", "where n = 'O''Neil' and i = 3");
	ok(text_is(given.values[0], "O'Neil"), "a doubled quote is one");
	REFUSES(SQL, "x", "where n = 'O'Neil' and i = 3");
	REFUSES(SQL, "x", "where n = 'a\\' and i = 3");
	REFUSES(SQL, "x", "where n = 'a' and i = 3 or 1");
#define JSON                                                                   \
	"[x, { text: '{\"n\": \"{n}\", \"k\": {k}}', "                         \
	"n: { kind: text, escape: json }, k: { type: boolean } }, ;]"
	TAKES(JSON, "x", "{\"n\": \"a\\\"b\", \"k\": true}");
	ok(text_is(given.values[0], "a\"b"), "as in JSON");
	REFUSES(JSON, "x", "{\"n\": \"a\", \"x\": 1, \"k\": true}");
	TAKES("[x, { text: '{a}-{a}', a: '^[0-9-]+$' }, ;]", "x", "1-2-1-2");
	ok(text_is(given.values[0], "1-2"), "a name twice is one value");
	REFUSES("[x, { text: '{a}-{a}', a: '^[0-9]+$' }, ;]", "x", "1-2");
	REFUSES("[x, { text: '{a}z', a: '^-?[a-z]+$' }, ;]", "x", "-az");
	TAKES("[x, { text: '{a}z', a: { regex: '^-?[a-z]+$', dash: true } }, "
	      ";]",
		"x", "-az");
	TAKES("[x, { text: '-n{n}', n: { type: integer } }, ;]", "x", "-n5");
}

static void
wrong_templates(void)
{
	is_wrong("[x, { text: 'a{id}' }]", "add id:");
	is_wrong("[x, { text: 'a{id}', id: '[0-9]+' }]", "^ and $");
	is_wrong("[x, { text: 'a{id}', id: { kind: text } }]", "escape");
	is_wrong("[x, { text: 'a{id}', id: { description: D } }]", "escape");
	is_wrong("[x, { text: 'a{a}{b}', a: '^a$', b: '^b$' }]",
		"where the first value ends");
	is_wrong("[x, { text: 'a', id: '^a$' }]", "no {id}");
	is_wrong("[x, { text: 'a' }]", "literal");
	is_wrong("[x, { text: '{q}', q: { kind: text, escape: sql } }]",
		"''{q}''");
	is_wrong("[x, { text: '{q}', q: { kind: text, escape: json } }]",
		"\"{q}\"");
	is_wrong("[x, { text: '{q}', q: { kind: text, escape: html } }]", "");
	is_wrong("[x, { text: '{q}', q: '^a$', q: '^b$' }]", "twice");
	is_wrong("[{ text: '{q}', q: '^a$', optional: true }]", "");
}

/* --------------------------------------------------- optional and defaults */

static void
optional(void)
{
#define LIST                                                                   \
	"[x, { name: n, type: integer, default: 10 }, "                        \
	"{ name: s, enum: [open, paid], optional: true }, end, ;]"
	TAKES(LIST, "x", "end");
	is_int(3, (long long)command.count, "a default makes a word");
	is_word("10", 1);
	TAKES(LIST, "x", "paid", "end");
	is_word("10", 1);
	is_word("paid", 2);
	TAKES(LIST, "x", "7", "end");
	is_word("7", 1);
	REFUSES(LIST, "x", "7");
	REFUSES(LIST, "x", "paid", "7", "end");
	REFUSES(LIST, "x", "7", "paid", "end", "more");
	TAKES("[x, { text: '-n{n}', n: '^[0-9]$', optional: true }, {f}, ;]",
		"x", "a");
	is_int(2, (long long)command.count, "without a value it is no word");
	TAKES("[x, { text: '-n{n}', n: { type: integer, default: 3 } }, ;]",
		"x");
	is_word("-n3", 1);
	is_wrong("[x, { name: n, type: integer, default: a }]", "whole number");
	is_wrong("[x, { name: n, type: integer, min: 3, max: 1 }]", "exchange");
	is_wrong("[x, { name: n, type: integer, examples: [b] }]", "takes");
	is_wrong("[x, { name: n, min: 3 }]", "type: integer");
	is_wrong("[x, { name: n, type: integer, regex: '^1$' }]", "remove one");
	is_wrong("[x, { name: n, type: integr }]", "");
	is_wrong("[x, { name: n, enum: [] }]", "enum: [open, paid]");
}

/* A value of kind: path is relative to the page, also in a longer word. */
static void
paths(void)
{
#define NAMED "[x, { text: '%s', f: { kind: path, default: /etc/own } }, ;]"
	static const struct {
		const char *text, *word;
		bool fits;
	} rows[] = { { "{f}.conf", "a/b.conf", true },
		{ "{f}.conf", "/etc/own.conf", true },
		{ "{f}.conf", "/etc/other.conf", false },
		{ "{f}:r", "x=/etc/other:r", false },
		{ "--file={f}", "--file=a=b", true },
		{ "--file={f}", "--file=/etc/own", true },
		{ "--file={f}", "--file=/etc/other", false },
		{ "--file={f}", "--file=a/../b", false },
		{ "./{f}", ".//etc/other", false },
		{ "./{f}", "./a/b", true } };
	char line[120];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(line, sizeof(line), NAMED, rows[i].text);
		if (!RUN(line, "x", rows[i].word)) {
			ok(false, "%s takes %s", line, rows[i].word);
			continue;
		}
		error_clear(&err);
		is_int(rows[i].fits ? SS_OK : SS_PATH_REFUSED,
			words_check(&command, &err), "the word %s for %s",
			rows[i].word, rows[i].text);
	}
}

/* 40 optional words that all fit: the search must stay small. */
static void
bounded(void)
{
	struct buf line = BUF_INIT(4000);
	static struct ss_text words[64];
	const struct spec *s;

	buf_text(&line, "[x");
	for (size_t i = 0; i < 40; i++)
		buf_printf(&line,
			", { name: a%zu, regex: '^a+$', optional: true }", i);
	buf_text(&line, ", b, ;]");
	s = tool(line.data);
	words[0] = TEXT("x");
	for (size_t i = 1; i < 31; i++)
		words[i] = TEXT("aaaa");
	if (!ok(s != NULL, "40 optional words are a tool: %s", err.message))
		return;
	ok(match_words(s, words, 30, &arena, &given) == PATTERN_NO,
		"which soon refuses what does not fit");
	words[30] = TEXT("b");
	ok(match_words(s, words, 31, &arena, &given) == PATTERN_YES,
		"and takes what does");
	buf_release(&line);
}

/* A word of 99994 bytes, and then so often a text that may end a value. */
static enum pattern_result
divide(const struct spec *s, size_t separators)
{
	struct buf word = BUF_INIT(PROTO_WORD_MAX);
	struct ss_text words[2] = { TEXT("x") };
	enum pattern_result found;

	buf_text(&word, "u/");
	for (size_t i = 0; i < 99994; i++)
		buf_char(&word, 'y');
	for (size_t i = 0; i < separators; i++)
		buf_text(&word, "/");
	buf_text(&word, "!");
	words[1] = buf_view(&word);
	found = match_words(s, words, 2, &arena, &given);
	buf_release(&word);
	return found;
}

/* Empty values cost, too: 40 optional words, each divided often. */
static void
short_values(void)
{
	struct buf line = BUF_INIT(16000);
	static struct ss_text words[40];
	const struct spec *s;

	buf_text(&line, "[x");
	for (size_t i = 0; i < 40; i++) {
		buf_text(&line, ", { text: '");
		for (size_t k = 0; k < 9; k++)
			buf_printf(
				&line, "%s{a%zu_%zu}", k > 0 ? "x" : "", i, k);
		buf_text(&line, "!', optional: true");
		for (size_t k = 0; k < 9; k++)
			buf_printf(&line, ", a%zu_%zu: '^x*$'", i, k);
		buf_text(&line, " }");
	}
	buf_text(&line, ", z, ;]");
	s = tool(line.data);
	words[0] = TEXT("x");
	for (size_t i = 1; i < 40; i++)
		words[i] = TEXT("xxxxxxxxxxxxx?");
	if (ok(s != NULL, "40 optional words are a tool: %s", err.message))
		ok(match_words(s, words, 40, &arena, &given) == PATTERN_LIMIT,
			"all tries of a command have one limit");
	buf_release(&line);
}

/* Each try costs as much as the value is long: so do all of a command. */
static void
divisions(void)
{
	const struct spec *s =
		tool("[x, { text: 'u/{a}/{b}', a: { kind: text, escape: url }, "
		     "b: { kind: text, escape: url } }, ;]");
	const size_t most = TEMPLATE_BYTES_MAX / 99994;
	struct ss_text words[2] = { TEXT("x") };
	struct buf word = BUF_INIT(PROTO_WORD_MAX);
	size_t tool_number;

	if (!ok(s != NULL, "two values in a word are a tool"))
		return;
	ok(divide(s, most / 2) == PATTERN_NO, "a long word is divided often");
	ok(divide(s, most + 1) == PATTERN_LIMIT, "but not for seconds");
	short_values();

	/* Two tools, and each divides a word for half of that. */
	s = tool("[x, { text: 'u/{a}/{b}', a: '^y+/*$', b: '^[?]$' }, ;]\n"
		 "  - [x, { text: 'u/{a}/{c}', a: '^y+/*$', c: '^[?]$' }, ;]");
	if (!ok(s != NULL && front.spec_count == 2, "two tools"))
		return;
	ok(divide(s, most * 3 / 4) == PATTERN_NO, "one alone decides");
	buf_text(&word, "u/");
	for (size_t i = 0; i < 99994; i++)
		buf_char(&word, 'y');
	for (size_t i = 0; i < most * 3 / 4; i++)
		buf_text(&word, "/");
	words[1] = buf_view(&word);
	ok(match_choose(front.specs, 2, words, 2, &arena, &tool_number, &given,
		   &err) == SS_NOT_ALLOWED &&
			strstr(err.message, "limit") != NULL,
		"all tools of a page share the limit: %s", err.message);
	buf_release(&word);
}

int
main(void)
{
	arena_init(&arena, 0);
	types();
	templates();
	wrong_templates();
	optional();
	paths();
	bounded();
	divisions();
	frontmatter_release(&front);
	arena_release(&arena);
	return done();
}
