/* SPDX-License-Identifier: MIT */
/*
 * pipe and script: what is refused and where, what callers send, and which
 * words that gives each program.
 */
#include "page/stages.h"

#include "page/env_check.h"
#include "page/frontmatter.h"
#include "page/match.h"
#include "tap.h"

static struct arena arena;
static struct frontmatter front;
static struct node_place place;
static struct ss_error err;
static struct given given;
static struct command command;

static const struct spec *
parse(const char *fence, const char *head, const char *tool, const char *tail)
{
	char page[4000];

	frontmatter_release(&front);
	arena_clear(&arena);
	error_clear(&err);
	place = (struct node_place){ 0, 0 };
	snprintf(page, sizeof(page), "%s\n%s%s%s\n%s\n", fence, head, tool,
		tail, fence);
	return frontmatter_parse(&arena, page, strlen(page), &front, &place,
		       &err) == SS_OK
		? &front.specs[0]
		: NULL;
}

/* One tool at line 3, column 5; NULL when it is refused: err says why. */
static const struct spec *
yaml(const char *tool)
{
	return parse("---", "tools:\n  - ", tool, "");
}

/* ---------------------------------------------------------------- refused */

static const struct {
	const char *tool;
	unsigned column;
	const char *message, *hint; /* parts of them */
} wrong[] = {
	{ "{ pipe: [[a], [b]] }", 13, "no name", "name: find" },
	{ "{ script: a.sh }", 15, "no name", "name: find" },
	{ "{ name: x y, pipe: [[a], [b]] }", 13, "letters, digits", "first" },
	{ "{ name: -x, pipe: [[a], [b]] }", 13, "letters, digits", "first" },
	{ "{ name: x, pipe: a }", 22, "a list of stages", "[[grep" },
	{ "{ name: x, pipe: [a, b] }", 23, "a list of parts", "[[grep" },
	{ "{ name: x, pipe: [[a], b] }", 28, "a list of parts", "[[grep" },
	{ "{ name: x, pipe: [] }", 22, "2 to 16", "" },
	{ "{ name: x, pipe: [[a]] }", 22, "2 to 16", "command: [...]" },
	{ "{ name: x, pipe: [[a], []] }", 28, "an empty list", "" },
	{ "{ name: x, pipe: [[{}], [b]] }", 24, "a placeholder", "every" },
	{ "{ name: x, pipe: [[a, {}], [b]] }", 27, "without a name", "{name}" },
	{ "{ name: x, pipe: [[a, { regex: 'b' }], [b]] }", 27, "without a name",
		"name:" },
	{ "{ name: x, pipe: [[a, { name: q, kind: text }], "
	  "[b, { name: q, kind: text }]] }",
		57, "declared twice", "{name} alone" },
	{ "{ name: x, pipe: [[a], [b, [c]]] }", 32, "a part", "flat" },
	{ "{ name: x, command: [a], pipe: [[a], [b]] }", 25, "beside pipe",
		"" },
	{ "{ name: x, command: [a], script: b }", 25, "beside pipe", "" },
	{ "{ name: x, command: [a], arguments: [{q}] }", 41, "without script",
		"command" },
	{ "{ name: x, pipe: [[a], [b]], script: c }", 42, "pipe and script",
		"" },
	{ "{ name: x, pipe: [[a], [b]], arguments: [{q}] }", 45, "beside pipe",
		"in the stages" },
	{ "{ name: x, arguments: [{q}] }", 5, "without command", "command" },
	{ "{ name: x, script: [a] }", 24, "", "" },
	{ "{ name: x, script: /bin/sh }", 24, "relative", "tools/find.sh" },
	{ "{ name: x, script: -c }", 24, "relative", "no -" },
	{ "{ name: x, script: a/../b }", 24, "relative", ".. comes first" },
	{ "{ name: x, script: a//b }", 24, "relative", "" },
	{ "{ name: x, script: a/./b }", 24, "relative", "" },
	{ "{ name: x, script: a/ }", 24, "relative", "" },
	{ "{ name: x, script: .. }", 24, "relative", "" },
	{ "{ name: x, script: ../.. }", 24, "relative", "" },
	{ "{ name: x, script: a, arguments: q }", 38, "a list of parts",
		"arguments: [" },
	{ "{ name: x, script: a, arguments: [{}] }", 39, "without a name", "" },
	{ "{ name: x, script: a, arguments: [{q}], confirm: 'Find {w}?' }", 54,
		"", "no argument \"w\"" },
};

static void
check_wrong(void)
{
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		bool refused = yaml(wrong[i].tool) == NULL;

		ok(refused && strstr(err.message, wrong[i].message) != NULL &&
				strstr(err.hint, wrong[i].hint) != NULL,
			"%s: %s; %s", wrong[i].tool, err.message, err.hint);
		is_int(wrong[i].column, place.column, "... at its place");
	}
}

/* Both sides of the limit. */
static void
check_most(void)
{
	struct buf line = BUF_INIT(4000);

	for (int count = STAGES_MAX; count <= STAGES_MAX + 1; count++) {
		buf_clear(&line);
		buf_text(&line, "{ name: x, pipe: [");
		for (int i = 0; i < count; i++)
			buf_text(&line, i > 0 ? ", [a]" : "[a]");
		buf_text(&line, "] }");
		ok((yaml(line.data) != NULL) == (count == STAGES_MAX),
			"%d stages are %s", count,
			count == STAGES_MAX ? "taken" : "refused");
	}
	buf_release(&line);
	ok(yaml("{ name: a23456789012345678901234567890123456789012345678901234"
		"567, script: a }") != NULL,
		"a name of 57 is taken");
	ok(yaml("{ name: a23456789012345678901234567890123456789012345678901234"
		"5678, script: a }") == NULL,
		"one of 58 is refused");
}

/* ------------------------------------------------------------------ words */

/* Matches what a caller sends, a NULL-terminated list. */
static bool
send(const struct spec *s, const char *const *list)
{
	static struct ss_text words[16];
	size_t count = 0;

	for (; list[count] != NULL; count++)
		words[count] = text_of(list[count]);
	return match_words(s, words, count, &arena, &given) == PATTERN_YES &&
		command_build(&arena, s, &given, &command, &err) == SS_OK;
}

/* The words of one stage, "a|b c|" for a and "b c". */
static const char *
stage_words(const struct spec *s, size_t i)
{
	static struct buf out = BUF_INIT(4000);
	struct given values;
	struct command stage;

	buf_clear(&out);
	given_init(&values, s, &arena);
	memcpy(values.values, command.values,
		s->argument_count * sizeof(*values.values));
	if (command_build(&arena, &s->stages[i], &values, &stage, &err) !=
		SS_OK)
		return err.message;
	for (size_t k = 0; k < stage.count; k++)
		buf_printf(&out, "%s|", stage.words[k].data);
	return out.data;
}

#define SEND(s, ...) send(s, (const char *const[]){ __VA_ARGS__, NULL })

static const char errors[] = "{ name: errors, pipe: "
			     "[[grep, -n, { name: q, kind: text }, app.log], "
			     "[head, -n, { name: n, type: integer, min: 1, "
			     "default: 50 }, ;]] }";

static void
check_pipe(void)
{
	const struct spec *s = yaml(errors);
	struct buf line = BUF_INIT(4000);

	if (!ok(s != NULL, "a pipe is a tool: %s", err.message))
		return;
	is_int(2, (long)s->argument_count, "it has the stages' arguments");
	ok(SEND(s, "errors", "a b | c", "7"), "name and arguments are sent");
	is_str("grep|-n|a b | c|app.log|", stage_words(s, 0),
		"... the first stage");
	is_str("head|-n|7|", stage_words(s, 1), "... the second");
	ok(SEND(s, "errors", "x"), "an argument with a default is left out");
	is_str("head|-n|50|", stage_words(s, 1), "... and is filled in");
	ok(!SEND(s, "errors"), "one without is not left out");
	ok(!SEND(s, "errors", "-f"), "a value does not begin with -");
	ok(!SEND(s, "errors", "x", "0"), "a value has its limits");
	ok(!SEND(s, "errors", "x", "7", "y"), "no word may follow");
	ok(!SEND(s, "grep", "-n", "x", "app.log"), "no stage is a command");
	spec_print(s, &line);
	ok(strstr(line.data, "grep") == NULL &&
			strstr(line.data, "[errors, {") == line.data,
		"the tool is shown as it is called: %s", line.data);
	buf_release(&line);
}

static void
check_shared(void)
{
	const struct spec *s =
		yaml("{ name: x, pipe: [[a, {q}, {r}], "
		     "[b, { name: q, regex: '^[uv]$', optional: true }], "
		     "[c, {q}, { text: 'n={q}', q: '^[uv]$', optional: true }, "
		     "{r}]] }");

	if (!ok(s != NULL, "an argument is used again: %s", err.message))
		return;
	is_int(2, (long)s->argument_count, "... it counts once");
	ok(SEND(s, "x", "u", "w"), "the words are its values");
	is_str("a|u|w|", stage_words(s, 0), "... in the first stage");
	is_str("b|u|", stage_words(s, 1), "... in that which says its keys");
	is_str("c|u|n=u|w|", stage_words(s, 2), "... and inside a word");
	ok(SEND(s, "x", "w"), "an optional one is left out");
	is_str("a|w|", stage_words(s, 0), "... in each stage");
	is_str("b|", stage_words(s, 1), "... alone");
	is_str("c|w|", stage_words(s, 2), "... and as a template");
}

static void
check_script(void)
{
	const struct spec *s = yaml("{ name: find, script: ../t/find.sh, "
				    "arguments: [-n, { name: q, kind: text }, "
				    "{ text: 'in={d}', d: '^[a-z]+$' }] }");

	if (!ok(s != NULL, "a script is a tool: %s", err.message))
		return;
	is_str("../t/find.sh", s->script, "it has its path");
	ok(SEND(s, "find", "a b", "docs"), "name and arguments are sent");
	is_str("-n|a b|in=docs|", stage_words(s, 0), "... its words");
	ok(!SEND(s, "find", "a b", "DOCS"), "a pattern holds");
	ok(!SEND(s, "find", "-n", "a b", "docs"),
		"an author's word is not sent");
	s = yaml("{ name: top, script: ./top.py }");
	ok(s != NULL && SEND(s, "top"), "a script without arguments");
	is_str("", s != NULL ? stage_words(s, 0) : NULL, "... has no words");
	ok(s != NULL && !SEND(s, "top", "x"), "... and takes none");
}

static void
check_toml(void)
{
	const struct spec *s = parse("+++", "tools = [",
		"{ name = \"e\", pipe = [[\"grep\", { name = \"q\", kind = "
		"\"text\" }], [\"head\", \"-n\", 5]] }",
		"]");

	ok(s != NULL && SEND(s, "e", "x"), "a pipe in TOML: %s", err.message);
	is_str("head|-n|5|", s != NULL ? stage_words(s, 1) : NULL,
		"... its words");
	s = parse("+++", "",
		"[[tools]]\nname = \"f\"\nscript = \"a.sh\"\narguments = "
		"[{ name = \"n\", type = \"integer\" }]",
		"");
	ok(s != NULL && SEND(s, "f", "7") && !SEND(s, "f", "x"),
		"a script in TOML: %s", err.message);
}

/* Whatever a caller sends is one word of one stage. */
static void
check_any_value(void)
{
	static const char some[] = "|;&$`'\"\\\n\t -<>()*?[]{}#~!ab%";
	const struct spec *s = yaml(errors);
	char value[12], expected[64];
	bool all = s != NULL;

	srand(5);
	for (int round = 0; round < 5000 && all; round++) {
		size_t len = (size_t)rand() % (sizeof(value) - 1);

		for (size_t i = 0; i < len; i++)
			value[i] = some[(size_t)rand() % (sizeof(some) - 1)];
		value[len] = '\0';
		snprintf(expected, sizeof(expected), "grep|-n|%s|app.log|",
			value);
		all = SEND(s, "errors", value)
			? strcmp(stage_words(s, 0), expected) == 0 &&
				strcmp(stage_words(s, 1), "head|-n|50|") == 0
			: value[0] == '-';
		if (round % 100 == 99)
			s = yaml(errors);
	}
	ok(all, "a value is one word, or refused for its dash");
}

/* Of a word that an interpreter reads as its script. */
static const struct {
	const char *tool;
	bool refused;
} scripts[] = {
	{ "[sh, -c, { text: 'echo {q}', q: '^[a-z]+$' }, ;]", true },
	{ "[sh, -ec, { text: 'echo {q}', q: '^[a-z]+$' }, ;]", true },
	{ "[sh, { text: '-c{q}', q: '^[a-z]+$' }, ;]", true },
	{ "[env, A=1, bash, -c, { text: 'echo {q}', q: '^a$' }, ;]", true },
	{ "[python3, -c, { text: \"print('{q}')\", "
	  "q: { kind: text, escape: sql } }, ;]",
		true },
	{ "[perl, -e, { text: 'print {p}', p: { kind: path, regex: '^a$' } "
	  "}, ;]",
		true },
	{ "[sh, -c, { text: 'echo {n}', n: { type: integer } }, ;]", false },
	{ "[sh, -c, { text: 'echo {n}', n: { enum: [a, b] } }, ;]", false },
	{ "[sh, -c, 'echo $1', sh, { text: 'a={q}', q: '^a$' }, ;]", false },
	{ "[sh, -c, 'echo $1', sh, {q}, ;]", false },
	{ "[grep, -c, { text: 'x{q}', q: '^a$' }, ;]", false },
};

static void
check_inside(void)
{
	const struct env_scope scope = { .page = &front.env };

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
		const struct spec *s = yaml(scripts[i].tool);
		enum ss_err code = s != NULL
			? env_check_spec(s, &scope, &place, &err)
			: SS_INTERNAL;

		is_int(scripts[i].refused ? SS_BAD_FRONTMATTER : SS_OK, code,
			"%s: %s", scripts[i].tool, err.message);
	}
}

int
main(void)
{
	arena_init(&arena, 0);
	check_wrong();
	check_most();
	check_pipe();
	check_shared();
	check_script();
	check_toml();
	check_any_value();
	check_inside();
	frontmatter_release(&front);
	arena_release(&arena);
	return done();
}
