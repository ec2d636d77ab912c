/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "page/frontmatter.h"
#include "page/match.h"

static struct arena arena;
static struct frontmatter f;
static struct ss_error err;
static struct node_place place;

static enum ss_err
parse(const char *fence, const char *head, const char *tool, const char *tail)
{
	char page[4096];

	frontmatter_release(&f);
	arena_clear(&arena);
	error_clear(&err);
	place = (struct node_place){ 0, 0 };
	snprintf(page, sizeof(page), "%s\n%s%s%s\n%s\n", fence, head, tool,
		tail, fence);
	return frontmatter_parse(&arena, page, strlen(page), &f, &place, &err);
}

/* One YAML tool; its column is 5 on line 3. */
static bool
yaml(const char *tool)
{
	return parse("---", "tools:\n  - ", tool, "") == SS_OK;
}

static bool
toml(const char *tool)
{
	return parse("+++", "tools = [", tool, "]") == SS_OK;
}

static enum pattern_result
match(size_t count, const char *const *argv)
{
	struct ss_text words[8];

	for (size_t i = 0; i < count; i++)
		words[i] = text_of(argv[i]);
	return spec_match(&f.specs[0], words, count);
}

#define ALLOWS(...)                                                            \
	(match(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *),       \
		 (const char *[]){ __VA_ARGS__ }) == PATTERN_YES)
#define DENIES(...)                                                            \
	(match(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *),       \
		 (const char *[]){ __VA_ARGS__ }) == PATTERN_NO)

static void
refuses(const char *tool, unsigned column, const char *hint)
{
	ok(!yaml(tool) && err.code == SS_BAD_FRONTMATTER && place.line == 3 &&
			place.column == column && f.spec_count == 0,
		"refused: %s", err.message);
	if (place.line != 3 || place.column != column)
		printf("# %s: saw %u:%u\n", tool, place.line, place.column);
	if (hint != NULL &&
		!ok(strstr(err.hint, hint) != NULL, "the hint says %s", hint))
		printf("# saw %s\n", err.hint);
}

static void
prints(const char *tool, const char *wanted)
{
	struct buf out = BUF_INIT(4096);

	ok(yaml(tool), "%s is a tool", tool);
	if (err.code != SS_OK)
		printf("# %s\n", err.message);
	else if (spec_print(&f.specs[0], &out))
		is_str(wanted, out.data, "%s is printed", tool);
	buf_release(&out);
}

static void
test_placeholders(void)
{
	static const char *const any[] = { "[a, {}, ;]", "[a, { }, ;]",
		"[a, \"{}\", ;]", "[a, '{}', ;]", "[a, {w}, ;]",
		"[a, '{w}', ;]", "[a, {_w9: }, ;]", "[a, {name: w}, ;]",
		"[a, {name: w, description: D}, ;]" };

	for (size_t i = 0; i < ARRAY_LEN(any); i++) {
		yaml(any[i]);
		ok(ALLOWS("a", "x") && ALLOWS("a", "") && DENIES("a") &&
				DENIES("a", "x", "y"),
			"%s takes exactly one word", any[i]);
	}
	yaml("[a, {w}, {name: v, description: D}]");
	is_str("w", part_argument(&f.specs[0].parts[1])->name,
		"{word} has a name");
	is_str("v", part_argument(&f.specs[0].parts[2])->name, "name: names");
	is_str("D", part_argument(&f.specs[0].parts[2])->description,
		"description: describes");
	yaml("[a, '{ }', '{w x}', '{1}', '{a-b}', '{', '{}x']");
	ok(ALLOWS("a", "{ }", "{w x}", "{1}", "{a-b}", "{", "{}x") &&
			DENIES("a", "x", "{w x}", "{1}", "{a-b}", "{", "{}x"),
		"other words in braces are text");
}

static void
test_reserved(void)
{
	refuses("[a, {regex}]", 10, "literal");
	refuses("[a, {literal}]", 10, NULL);
	refuses("[a, {name}]", 10, NULL);
	refuses("[a, {description}]", 10, NULL);
	refuses("[a, '{regex}']", 9, "literal");
	refuses("[a, '{name}']", 9, NULL);
	ok(yaml("[a, {name: regex}]"),
		"a key is a name where it is told as one");
	refuses("[a, {a-b}]", 10, NULL);
	refuses("[a, {a b}]", 10, NULL);
	refuses("[a, {w: x}]", 10, NULL);
	refuses("[a, {w: ~}]", 10, NULL);
	refuses("[a, {w, v}]", 10, NULL);
	refuses("[a, {name: 'a b'}]", 16, NULL);
	refuses("[a, {name: ''}]", 16, NULL);
	refuses("[a, {description: D}]", 9, "name");
}

static void
test_regex(void)
{
	yaml("[a, {regex: '^b+$', name: n, description: D}, ;]");
	ok(ALLOWS("a", "bb") && DENIES("a", "bc") && DENIES("a"),
		"a regex decides about one word");
	is_str("n", part_argument(&f.specs[0].parts[1])->name,
		"a regex can have a name");
	yaml("[a, {regex: '^(a+)+$'}, z, ;]");
	ok(DENIES("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "y"),
		"a wrong literal is seen before any regex runs");
	ok(match(3,
		   (const char *[]){ "a",
			   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "z" }) ==
			PATTERN_LIMIT,
		"a limit is told");
	refuses("[a, {regex: ''}]", 17, NULL);
	refuses("[a, {regex: ~}]", 17, NULL);
	refuses("[a, {regex: '('}]", 17, NULL);
	refuses("[a, {regex: [a]}]", 17, "quote");
	refuses("[a, {regex: a,b}]", 19, "comma");
	refuses("[a, {regex: a, regex: b}]", 20, "twice");
	refuses("[a, {regex: a, max: 3}]", 20, NULL);
	refuses("[a, {regex: !x a}]", 17, "tag");
	refuses("[a, {!x regex: a}]", 10, "tag");
	refuses("[a, {regex: \"a\\0b\"}]", 17, "NUL");
}

static void
test_literal_and_text(void)
{
	yaml("[a, {literal: '{}'}, {literal: ;}]");
	ok(ALLOWS("a", "{}", ";") && ALLOWS("a", "{}", ";", "x") &&
			DENIES("a", "x", ";"),
		"a literal is exactly that word, and no lock");
	yaml("[head, -n, 5, 0.5, true, 007, '']");
	ok(ALLOWS("head", "-n", "5", "0.5", "true", "007", ""),
		"a YAML scalar is its source text");
	refuses("[a, {literal: x, name: n}]", 22, NULL);
	refuses("[a, {literal: ~}]", 19, NULL);
	refuses("[a, ~]", 9, "quote");
	refuses("[a, null]", 9, "'null'");
	refuses("[a, !x b]", 9, "tag");
	refuses("[a, \"b\\0\"]", 9, "NUL");
	refuses("[a, [b]]", 9, NULL);
	yaml("[a, 'null', \"~\", !!str ~]");
	ok(ALLOWS("a", "null", "~", "~"), "a quoted null is text");
}

static void
test_lock(void)
{
	yaml("[a, b]");
	ok(ALLOWS("a", "b") && ALLOWS("a", "b", "c") && DENIES("a"),
		"words may be appended");
	yaml("[a, b, ;]");
	ok(ALLOWS("a", "b") && DENIES("a", "b", "c") && DENIES("a"),
		"a last ; forbids it");
	ok(f.specs[0].locked && f.specs[0].part_count == 2, "and is no part");
	yaml("[a, ;, b]");
	ok(ALLOWS("a", ";", "b", "c") && !f.specs[0].locked,
		"elsewhere it is text");
	yaml("[a, ;, ;]");
	ok(ALLOWS("a", ";") && DENIES("a", ";", "c"), "of two the last locks");
	refuses("[]", 5, NULL);
	refuses("[;]", 5, NULL);
	refuses("", 4, NULL);
	refuses("ls", 5, "a list with a dash");
}

static void
test_mapping(void)
{
	const struct spec *s;

	ok(yaml("{command: [a, {}, ;], name: n, title: t, description: d, "
		"version: '1', stdin: true, env: [A], network: false, "
		"read: [r], write: [w], exec: any, unix: [u], proc: true, "
		"timeout: 1.5, memory_bytes: 5, processes: 6, max_running: 7, "
		"confirm: true, output: application/json}"),
		"a mapping with every key");
	s = &f.specs[0];
	ok(s->part_count == 2 && s->locked && s->takes_stdin && s->confirm &&
			s->env.count == 1 && s->max_running == 7 &&
			s->wants.network == NETWORK_OFF &&
			s->wants.timeout == 1.5 && s->wants.processes == 6,
		"all of it is read");
	is_str("application/json", s->output, "output is kept");
	yaml("{command: [a], output: 'text/csv; charset=utf-8'}");
	is_int(1, f.spec_count, "a MIME type may have a parameter");
	refuses("{name: n}", 5, "command");
	refuses("{command: ls}", 15, "[ls]");
	refuses("{command: []}", 15, NULL);
	refuses("{command: [;]}", 15, NULL);
	refuses("{command: [a], max: 1}", 20, NULL);
	refuses("{command: [a], command: [b]}", 20, "twice");
	refuses("{command: [a], stdin: yes}", 27, NULL);
	refuses("{command: [a], stdin: 'true'}", 27, NULL);
	refuses("{command: [a], name: ~}", 26, NULL);
	refuses("{command: [a], name: [n]}", 26, NULL);
	refuses("{command: [a], output: json}", 28, NULL);
	refuses("{command: [a], output: /csv}", 28, NULL);
	refuses("{command: [a], output: text/}", 28, NULL);
	refuses("{command: !x [a]}", 15, "tag");
	refuses("{command: [a], env: A}", 25, NULL);
	refuses("{command: [a], max_running: 0}", 33, NULL);
	refuses("{command: [a], timeout: 0}", 29, NULL);
	refuses("{command: [a, {regex: '('}], name: n}", 27, NULL);
}

#define FORM "{name: f, message: M, arguments: [w]}"

static void
test_ask(void)
{
	ok(yaml("{command: [a, {w}, {v}], env: [V], ask: [{name: f, message: "
		"M, arguments: [w, V]}, {name: g, message: N, arguments: "
		"[v]}]}"),
		"forms for placeholders and variables");
	ok(f.specs[0].ask_count == 2 && f.specs[0].asks[0].arguments.count == 2,
		"all of them are read");
	is_str("N", f.specs[0].asks[1].message, "with their words");
	refuses("{command: [a], ask: " FORM "}", 25, "write - ");
	refuses("{command: [a], ask: [f]}", 26, "write - ");
	refuses("{command: [a], ask: [{name: f, message: M}]}", 26,
		"add arguments:");
	refuses("{command: [a], ask: [{message: M, arguments: [w]}]}", 26,
		"add name:");
	refuses("{command: [a], ask: [" FORM "]}", 25,
		"this tool takes no \"w\"");
	refuses("{command: [a, {w}], ask: [{name: confirm, message: M, "
		"arguments: [w]}]}",
		38, NULL);
	refuses("{command: [a, {w}], ask: [{name: 'a b', message: M, "
		"arguments: [w]}]}",
		38, NULL);
	refuses("{command: [a, {w}], ask: [{name: f, message: M, arguments: "
		"[]}]}",
		64, NULL);
	refuses("{command: [a, {w}], ask: [{name: f, message: M, arguments: "
		"[w, w]}]}",
		64, "twice");
	refuses("{command: [a, {w}], ask: [" FORM ", " FORM "]}", 77,
		"an earlier form");
	refuses("{command: [a, {w}], ask: [{name: f, message: M, arguments: "
		"[w], more: 1}]}",
		69, NULL);
}

static void
test_toml(void)
{
	ok(toml("['a', {}, '{w}', {regex = '^x'}, {literal = '{}'}, 5, 0x1F, "
		"true, ';']"),
		"every part in TOML");
	ok(ALLOWS("a", "q", "w", "xy", "{}", "5", "0x1F", "true") &&
			f.specs[0].locked,
		"numbers and booleans as written");
	ok(!toml("['a', 1.5]") && strstr(err.hint, "quote") != NULL,
		"a float is refused");
	ok(!toml("['a', 2024-01-31]") && !toml("['a', inf]"),
		"dates and inf are refused");
	ok(!toml("['a', \"b\\u0000\"]"), "a NUL is refused");
	ok(toml("{command = ['a'], timeout = 2, stdin = true}") &&
			f.specs[0].wants.timeout == 2 && f.specs[0].takes_stdin,
		"a mapping in TOML");
	ok(!toml("{command = ['a'], stdin = 'true'}") &&
			!toml("{command = ['a'], processes = 1.0}") &&
			!toml("{command = ['a'], processes = -1}"),
		"types are TOML's own");
}

static void
test_print(void)
{
	prints("[cat, {}, ;]", "[cat, {}, ;]");
	prints("[cat, '{}', {w}]", "[cat, {}, {w}]");
	prints("[a, {regex: '^it''s$'}]", "[a, { regex: '^it''s$' }]");
	prints("[a, {regex: x, name: n, description: D}]",
		"[a, { regex: 'x', name: n, description: 'D' }]");
	prints("[a, {literal: '{}'}, {literal: ;}]",
		"[a, { literal: '{}' }, { literal: ';' }]");
	prints("[a, 'b c', \"x\\ny\", '', 'null']",
		"[a, 'b c', \"x\\ny\", '', 'null']");
	prints("{command: [ls, -l], name: n}", "[ls, -l]");
	prints("[a, \"\\u0085\", \"\\u2028\", \"\\u2029\", \"\\ufeff\", \"\\t\"]",
		"[a, \"\\u0085\", \"\\u2028\", \"\\u2029\", \"\\ufeff\", "
		"\"\\u0009\"]");
	prints("[a, \"\\u00a0\", é, 日, \"it's\\n\\\"\\\\\"]",
		"[a, '\xc2\xa0', 'é', '日', \"it's\\n\\\"\\\\\"]");
}

static void
outlines(const char *tool, const char *wanted)
{
	struct buf out = BUF_INIT(4096);

	ok(yaml(tool) && spec_outline(&f.specs[0], &out), "%.60s is a tool",
		tool);
	is_str(wanted, out.data, "in short it is %s", wanted);
	buf_release(&out);
}

/* A word of 40 bytes is shown, one of 41 is not; no more after 300 bytes. */
static void
test_outline(void)
{
#define TEN "abcdefghij"
	outlines("[a, 'b c', {w}, {regex: '^x$', name: n}, {}, ;]",
		"[a, 'b c', {w}, {n}, {}, ;]");
	outlines("[a, " TEN TEN TEN TEN "]", "[a, " TEN TEN TEN TEN "]");
	outlines("[a, " TEN TEN TEN TEN "k]", "[a, …]");
	outlines("[sh, -c, \"a\\nb\", ;]", "[sh, -c, …, ;]");
	outlines("[" TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		 ", " TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		 ", " TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		 ", " TEN TEN TEN ", last, "
		 "more]",
		"[" TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		", " TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		", " TEN TEN TEN ", " TEN TEN TEN ", " TEN TEN TEN
		", " TEN TEN TEN ", …]");
#undef TEN
}

int
main(void)
{
	arena_init(&arena, 0);
	test_placeholders();
	test_reserved();
	test_regex();
	test_literal_and_text();
	test_lock();
	test_mapping();
	test_ask();
	test_toml();
	test_print();
	test_outline();
	frontmatter_release(&f);
	arena_release(&arena);
	return done();
}
