/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "page/frontmatter.h"
#include "page/value.h"

static struct arena arena;
static struct frontmatter f;
static struct ss_error err;
static struct node_place place;

static enum ss_err
parse_bytes(const char *text, size_t len)
{
	frontmatter_release(&f);
	arena_clear(&arena);
	error_clear(&err);
	place = (struct node_place){ 0, 0 };
	return frontmatter_parse(&arena, text, len, &f, &place, &err);
}

static enum ss_err
parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

static void
is_front(const char *text, const char *format, size_t body, const char *why)
{
	enum ss_err e = parse(text);

	ok(e == SS_OK &&
			strcmp(frontmatter_format_name(f.format), format) ==
				0 &&
			f.body == body,
		"%s", why);
	if (e != SS_OK || f.body != body)
		printf("# %s, body %zu, %s\n",
			frontmatter_format_name(f.format), f.body, err.message);
}

static void
accepts(const char *yaml)
{
	char page[2048];

	snprintf(page, sizeof(page), "---\n%s\n---\n", yaml);
	ok(parse(page) == SS_OK, "accepted: %.*s", (int)strcspn(yaml, "\n"),
		yaml);
	if (err.code != SS_OK)
		printf("# %s\n", err.message);
}

static void
refuses(const char *yaml, unsigned line, unsigned column, const char *hint)
{
	char page[2048];
	enum ss_err e;

	snprintf(page, sizeof(page), "---\n%s\n---\n", yaml);
	e = parse(page);
	ok(e == SS_BAD_FRONTMATTER && place.line == line &&
			place.column == column &&
			strstr(err.message, ": found ") != NULL &&
			strstr(err.message, ", expected ") != NULL,
		"refused: %s", err.message);
	if (place.line != line || place.column != column)
		printf("# saw %u:%u\n", place.line, place.column);
	ok(f.spec_count == 0 && f.env.count == 0 && !f.sandbox.exec_any &&
			f.root == NULL && f.format == FRONT_YAML,
		"and nothing is granted");
	if (hint != NULL &&
		!ok(strstr(err.hint, hint) != NULL, "the hint says %s", hint))
		printf("# saw %s\n", err.hint);
}

static void
test_fences(void)
{
	is_front("", "none", 0, "an empty page has none");
	is_front("---", "none", 0, "a fence alone has no closing");
	is_front("--", "none", 0, "two dashes are no fence");
	is_front("---\na: 1\n---", "yaml", 12, "closed at the last byte");
	is_front("---\na: 1\n---\nx", "yaml", 13, "the body follows the line");
	is_front("---\r\na: 1\r\n---\r\nx", "yaml", 16, "CR LF");
	is_front("---\ra: 1\r---\rx", "yaml", 13, "CR alone, as CommonMark");
	ok(parse("---\rhidden: true\r---\rx") == SS_OK && f.hidden,
		"a key between lines that end in CR alone is read");
	is_front("\xef\xbb\xbf---\na: 1\n---\n", "yaml", 16,
		"a byte order mark");
	is_front("\xef\xbb\xbf# T\n", "none", 3,
		"which is no part of the text without frontmatter either");
	is_front("\n \t\r\n---\na: 1\n---\n", "yaml", 18, "blank lines before");
	is_front("\xef\xbb\xbf# Page\n", "none", 3,
		"the mark is none of the body");
	is_front("x\n---\na: 1\n---\n", "none", 0, "not after text");
	is_front(" ---\na: 1\n---\n", "none", 0, "an indented fence is none");
	is_front("---x\na: 1\n---\n", "none", 0, "nor one with text after it");
	is_front("----\na: 1\n----\n", "none", 0, "nor four dashes");
	is_front("--- \t\na: 1\n--- \t\nx", "yaml", 17, "blanks after fences");
	is_front("---\na: 1\n----\nx", "yaml", 14,
		"the closing line begins with the fence");
	is_front("---\na: 1\n ---\n", "none", 0, "an indented one does not");
	is_front("---\na: 1\n+++\n", "none", 0, "another fence does not close");
	is_front("+++\na = 1\n+++\n", "toml", 14, "+++ is TOML");
	ok(parse("+++\na = 1\n---\n+++\n") == SS_BAD_FRONTMATTER,
		"and --- within it is not its end");
}

static void
test_keys(void)
{
	parse("---\ntitle: T\ndescription: D\nenv: [A, B]\nprompts: [{name: x}]\n"
	      "other: {tools: 1}\n---\n");
	is_str("T", f.title, "title is read");
	is_str("D", f.description, "description is read");
	ok(f.env.set && f.env.count == 2 && f.env.line == 4, "env is read");
	ok(f.prompt_count == 1 && f.root != NULL, "prompts are read");
	accepts("tools:");
	ok(f.spec_count == 0, "an empty tools: is an empty list");
	accepts("title: ''\ndescription: \"\"\ntools: [[ls]]");
	ok(f.spec_count == 1 && f.title == NULL && f.description == NULL,
		"a title that is left empty is none");
	accepts("x: 1\nx: 2\ny: !foo z");
	accepts("# only a comment");
	refuses("tools: ~", 2, 8, "[[ls]");
	refuses("tools: ''", 2, 8, NULL);
	refuses("- [ls]", 2, 1, "tools:");
	refuses("!x {tools: []}", 2, 1, "tag");
	refuses("tools: !x [[ls]]", 2, 8, "tag");
	refuses("!x tools: [[ls]]", 2, 1, "tag");
	refuses("env: A", 2, 6, "brackets");
	refuses("env: [A, ~]", 2, 10, NULL);
	refuses("env:", 2, 5, "[]");
	refuses("env: [A]\nenv: [B]", 3, 1, "twice");
	refuses("title: a\ntitle: b", 3, 1, "twice");
	refuses("description: a\ndescription: b", 3, 1, "twice");
	refuses("sandbox: {}\nsandbox: {}", 3, 1, "twice");
	refuses("prompts: []\nprompts: []", 3, 1, "twice");
	refuses("title: [a]", 2, 8, NULL);
	refuses("tools: [[ls]]\nenv: 1", 3, 6, NULL);
	parse("\n\n---\ntools: [ls]\n---\n");
	is_int(4, place.line, "lines count from the page's first");
	ok(parse("+++\ntools = [ls]\n+++\n") == SS_BAD_FRONTMATTER &&
			place.line == 2,
		"in TOML too");
}

/* A page whose env: names so many variables. */
static enum ss_err
parse_names(size_t count)
{
	struct buf page = BUF_INIT((size_t)1 << 20);
	enum ss_err e;

	buf_text(&page, "---\nenv: [");
	for (size_t i = 0; i < count; i++)
		buf_printf(&page, "%sN%zu", i > 0 ? ", " : "", i);
	buf_text(&page, "]\n---\n");
	e = parse(page.data);
	buf_release(&page);
	return e;
}

static void
test_many_names(void)
{
	is_int(SS_OK, parse_names(VALUE_NAMES_MAX), "as many names as may be");
	ok(f.env.count == VALUE_NAMES_MAX, "are all read");
	is_int(SS_BAD_FRONTMATTER, parse_names(VALUE_NAMES_MAX + 1),
		"one more is refused");
	ok(strstr(err.message, "at most 1000") != NULL &&
			strstr(err.hint, "1001") != NULL,
		"with the most and their number");
}

static void
test_sandbox(void)
{
	accepts("sandbox: {network: [\"db:5432\"], read: [a], write: [b], "
		"unix: [/s], exec: any, proc: true, timeout: 0.5, "
		"memory_bytes: 1, processes: 2}");
	ok(f.sandbox.network == NETWORK_LISTED &&
			f.sandbox.network_targets.count == 1 &&
			f.sandbox.read.count == 1 &&
			f.sandbox.write.count == 1 &&
			f.sandbox.unix_sockets.count == 1 &&
			f.sandbox.exec_any && f.sandbox.proc &&
			f.sandbox.proc_set && f.sandbox.timeout == 0.5 &&
			f.sandbox.memory_bytes == 1 &&
			f.sandbox.processes == 2 &&
			f.sandbox.timeout_at.line == 2,
		"every key of sandbox is read");
	accepts("sandbox: {network: false, exec: [jq], proc: false}");
	ok(f.sandbox.network == NETWORK_OFF && !f.sandbox.exec_any &&
			f.sandbox.exec.count == 1 && f.sandbox.proc_set,
		"false is set, a list of programs is no any");
	accepts("sandbox: {network: true}");
	ok(f.sandbox.network == NETWORK_ALL, "network: true");
	accepts("sandbox: {}");
	ok(f.sandbox.network == NETWORK_UNSET && !f.sandbox.read.set,
		"absent keys stay unset");
	ok(parse("+++\n[sandbox]\ntimeout = 3\nnetwork = true\nexec = 'any'\n"
		 "processes = 4\n+++\n") == SS_OK &&
			f.sandbox.timeout == 3.0 && f.sandbox.processes == 4 &&
			f.sandbox.network == NETWORK_ALL && f.sandbox.exec_any,
		"the same in TOML");
	ok(parse("+++\n[sandbox]\ntimeout = nan\n+++\n") == SS_BAD_FRONTMATTER,
		"a timeout that is no number is refused");
	refuses("sandbox:", 2, 9, NULL);
	refuses("sandbox: [network]", 2, 10, "dash");
	refuses("sandbox: {net: true}", 2, 11, NULL);
	refuses("sandbox: {max_running: 1}", 2, 11, NULL);
	refuses("sandbox: {proc: true, proc: false}", 2, 23, "twice");
	refuses("sandbox: {network: any}", 2, 20, NULL);
	refuses("sandbox: {network: 'true'}", 2, 20, NULL);
	refuses("sandbox: {exec: all}", 2, 17, "[all]");
	refuses("sandbox: {exec: true}", 2, 17, NULL);
	refuses("sandbox: {read: data}", 2, 17, "[data]");
	refuses("sandbox: {read: [[a]]}", 2, 18, NULL);
	refuses("sandbox: {read: ['']}", 2, 18, NULL);
	refuses("sandbox: {proc: yes}", 2, 17, NULL);
	refuses("sandbox: {timeout: 0}", 2, 20, NULL);
	refuses("sandbox: {timeout: -1}", 2, 20, NULL);
	refuses("sandbox: {timeout: 1e3}", 2, 20, NULL);
	refuses("sandbox: {timeout: '5'}", 2, 20, NULL);
	refuses("sandbox: {timeout: 4000001}", 2, 20, NULL);
	accepts("sandbox: {timeout: 4000000}");
	accepts("sandbox: {timeout: 0.001}");
	refuses("sandbox: {timeout: 0.0009}", 2, 20, NULL);
	refuses("sandbox: {memory_bytes: 0}", 2, 25, NULL);
	refuses("sandbox: {memory_bytes: 64M}", 2, 25, NULL);
	refuses("sandbox: {memory_bytes: 9223372036854775808}", 2, 25, NULL);
	accepts("sandbox: {memory_bytes: 9223372036854775807}");
	refuses("sandbox: {processes: 1.5}", 2, 22, NULL);
}

int
main(void)
{
	arena_init(&arena, 0);
	test_fences();
	test_keys();
	test_many_names();
	test_sandbox();
	frontmatter_release(&f);
	arena_release(&arena);
	return done();
}
