/* SPDX-License-Identifier: MIT */
/* Examples: each is a request that the tool takes. */
#include "page/example.h"
#include "page/frontmatter.h"
#include "page/match.h"
#include "page/question.h"
#include "tap.h"

static struct arena arena;
static struct frontmatter front;
static struct buf out = BUF_INIT((size_t)1 << 20);

static const struct spec *
tool(const char *text)
{
	struct ss_error err;
	char page[4000];

	frontmatter_release(&front);
	arena_clear(&arena);
	buf_clear(&out);
	snprintf(page, sizeof(page), "---\ntools:\n  - %s\n---\n", text);
	if (!ok(frontmatter_parse(&arena, page, strlen(page), &front, NULL,
			&err) == SS_OK,
		    "%s is a tool", text))
		printf("# %s\n", err.message);
	return front.spec_count > 0 ? &front.specs[0] : NULL;
}

/* expected NULL: no value is known. */
static void
is_value(const char *keys, const char *expected)
{
	char line[300];
	const struct spec *s;
	bool found;

	snprintf(line, sizeof(line), "[x, %s, ;]", keys);
	s = tool(line);
	if (s == NULL)
		return;
	found = example_value(s->arguments[0], &out);
	is_str(expected, found ? out.data : NULL, "%s", keys);
	ok(!found ||
			argument_takes(s->arguments[0], buf_view(&out)) ==
				PATTERN_YES,
		"which it takes");
}

static void
values(void)
{
	is_value("{}", "text");
	is_value("{file}", "file");
	is_value("{ name: file, kind: path }", "file");
	is_value("{ name: file, kind: path, exists: true }", NULL);
	is_value("{ name: file, kind: path, exists: true, examples: [a.txt] }",
		"a.txt");
	is_value("{ regex: '^(tea|coffee)$' }", "tea");
	is_value("{ regex: '^[0-9]{2}$' }", "10");
	is_value("{ regex: '^[a-z]+\\.txt$' }", "file.txt");
	is_value("{ regex: '^q{9}$' }", NULL);
	is_value("{ name: n, type: integer }", "1");
	is_value("{ name: n, type: integer, min: -5 }", "-5");
	is_value("{ name: n, type: integer, max: 0 }", "0");
	is_value("{ name: n, type: integer, max: -3 }", NULL);
	is_value("{ name: n, type: integer, max: -3, dash: true }", "-3");
	is_value("{ name: n, type: number, min: 1.5 }", "1.5");
	is_value("{ name: n, type: number, max: 0.5 }", "0.5");
	is_value("{ name: b, type: boolean }", "true");
	is_value("{ name: d, type: date }", "2026-01-31");
	is_value("{ name: d, type: date, max: 2020-01-01 }", "2020-01-01");
	is_value("{ name: d, type: date, min: 2030-01-01 }", "2030-01-01");
	is_value("{ name: s, enum: [open, paid] }", "open");
	is_value("{ name: t, kind: text, examples: [a b, c] }", "a b");
	is_value("{ name: t, default: x }", "x");
	is_value(
		"{ name: p, kind: path, regex: '^[A-Z]+\\.md$' }", "README.md");
}

static void
is_request(const char *line, bool command, const char *expected)
{
	const struct spec *s = tool(line);
	bool failed = false;

	if (s == NULL)
		return;
	is_int(command, example_is_command(s, 0, &failed), "%s a command: %s",
		command ? "is" : "is not", line);
	if (command)
		example_command(s, &out);
	else
		example_call(s, "t", &out);
	is_str(expected, out.data, "its example");
}

static void
requests(void)
{
	char line[200];

	is_request("[ls, ;]", true, "{\"command\": [\"ls\"]}");
	is_request("{ command: [wc, {file}], stdin: true }", true,
		"{\"command\": [\"wc\", \"file\"], \"stdin\": \"text\"}");
	is_request("[head, { name: n, type: integer }, ;]", true,
		"{\"command\": [\"head\", \"1\"]}");
	is_request("[x, { name: n, type: integer, optional: true }, ;]", false,
		"{\"tool_call\": {\"name\": \"t\"}}");
	is_request("[x, { name: n, type: integer, optional: true, examples: "
		   "[5] }, ;]",
		false,
		"{\"tool_call\": {\"name\": \"t\", \"arguments\": "
		"{\"n\": 5}}}");
	is_request("[x, { text: '{a}/{b}', a: { type: integer }, b: { enum: [o,"
		   " p], examples: [p] }, optional: true }, ;]",
		false,
		"{\"tool_call\": {\"name\": \"t\", \"arguments\": "
		"{\"a\": 1, \"b\": \"p\"}}}");
	is_request("[env, sh, -c, 'echo $0', {}, ;]", false,
		"{\"tool_call\": {\"name\": \"t\", \"arguments\": "
		"{\"arg1\": \"text\"}}}");
	is_request("[perl, -ne, print, ;]", false,
		"{\"tool_call\": {\"name\": \"t\"}}");
	is_request("[grep, -c, print, ;]", true,
		"{\"command\": [\"grep\", \"-c\", \"print\"]}");
	for (int n = 40; n <= 41; n++) {
		bool failed = false;

		snprintf(line, sizeof(line), "[x, '%0*d', ;]", n, 0);
		ok(example_is_command(tool(line), 0, &failed) == (n == 40),
			"a word of %d bytes", n);
	}
}

static void
question(void)
{
	const struct spec *s = tool(
		"{ command: [x, {name: a}, {name: b, optional: true}, ;], "
		"env: [WHO], confirm: \"  {a}\\n\\t{b} {}{ {a} {WHO} x\" }");
	const struct ss_pair env[] = { { "WHO", "me" } };
	const struct ss_text values[] = { TEXT("it's"), { NULL, 0 } };
	struct env_scope scope = { .request = env, .request_count = 1 };

	if (s == NULL)
		return;
	scope.page = scope.tool = &s->env;
	question_fill(s, values, &scope, &out);
	is_str("\"it's\" (none) {}{ \"it's\" me x", out.data,
		"the values are in the question, which is one line");
	buf_clear(&out);
	scope.server = env;
	scope.server_count = 1;
	question_fill(s, values, &scope, &out);
	ok(strstr(out.data, "$WHO x") != NULL,
		"a variable that the server sets is its name");
	buf_clear(&out);
	question_fill(s, values,
		&(struct env_scope){ .page = &s->env, .tool = &s->env }, &out);
	ok(strstr(out.data, "$WHO x") != NULL,
		"so is one that the request has not");
}

int
main(void)
{
	arena_init(&arena, 0);
	values();
	requests();
	question();
	frontmatter_release(&front);
	arena_release(&arena);
	buf_release(&out);
	return done();
}
