/* SPDX-License-Identifier: MIT */
/* toolcall: names of tools and arguments, and arguments back to words. */
#include "page/frontmatter.h"
#include "tap.h"
#include "page/toolcall.h"
#include "page/toolname.h"

static struct arena arena;
static struct frontmatter front;

static const struct spec *
tool(const char *line)
{
	struct ss_error err = { 0 };
	char page[2000];

	frontmatter_release(&front);
	arena_clear(&arena);
	snprintf(page, sizeof(page), "---\ntools:\n  - %s\n---\n", line);
	if (frontmatter_parse(&arena, page, strlen(page), &front, NULL, &err) !=
		SS_OK)
		printf("# %s\n", err.message);
	return &front.specs[0];
}

static const char *
name(const char *line, const char *page)
{
	static char out[TOOLCALL_NAME_MAX + 1];

	toolcall_name(tool(line), page, out);
	return out;
}

static void
names(void)
{
	char first[TOOLCALL_NAME_MAX + 1], second[TOOLCALL_NAME_MAX + 1];

	is_str("docs-a_cat", name("[cat, {}]", "docs/a.md"),
		"a page and its program make the name");
	is_str("cat", name("[cat]", "README.md"),
		"the first page adds nothing");
	is_str("a-b_cat", name("[cat]", "a b/README.markdown"),
		"README lends its directory's name");
	is_str("a_jq", name("[/usr/bin/jq, .]", "a.md"),
		"a program goes by its own name");
	is_str("a_run", name("[{}, x]", "a.md"), "a free program is run");
	is_str("my-tool-x",
		name("{ name: 'my.tool/x', command: [ls] }", "a.md"),
		"the author's own name, without dots and slashes");
	is_str("-_ls", name("[ls]", "é.md"), "one dash a character");
	toolcall_name(tool("[ls]"),
		"a/very/long/path/to/some/page/that/no/client/could/take.md",
		first);
	is_int(TOOLCALL_NAME_MAX, (long long)strlen(first),
		"what is too long is cut and closed with a hash");
	ok(strspn(first, "abcdefghijklmnopqrstuvwxyz0123456789_-") ==
			strlen(first),
		"of the characters that every client takes");
	toolcall_hashed_name(tool("[grep, {}]"), "a.md", first);
	toolcall_hashed_name(tool("[grep, -c, {}]"), "a.md", second);
	ok(strcmp(first, second) != 0, "other parts, another hash");
	toolcall_hashed_name(tool("[grep, '{}']"), "a.md", second);
	is_str(first, second, "the same parts in other quotes, the same hash");
}

/* The labels of a page's tools, in their order. */
static const char *
labels(const char *page, const char *lines)
{
	static struct buf out = BUF_INIT(4096);
	struct toolcall_label *all;

	tool(lines);
	buf_clear(&out);
	all = toolcall_labels(front.specs, front.spec_count, page);
	for (size_t i = 0; i < front.spec_count; i++)
		buf_printf(&out, "%s%s", i > 0 ? " " : "", all[i].text);
	free(all);
	return out.data;
}

static const char *
qualified(const char *page, const char *label)
{
	static char out[TOOLCALL_NAME_MAX + 1];

	return toolcall_qualify(page, label, out) ? out : "too long";
}

static size_t
found(const char *page, const char *lines, const char *wanted)
{
	size_t index = 99;

	tool(lines);
	ok(toolcall_find(front.specs, front.spec_count, page, wanted, &index),
		"%s is looked for", wanted);
	return index;
}

#define TOO_LONG "a123456789012345678901234567890123456789012345678901234567"

static void
labels_of_a_page(void)
{
	is_str("git_log git_show",
		labels("git.md", "[git, log]\n  - [git, show, {rev}]"),
		"the words behind a program tell its tools apart");
	is_str("docs-git_log docs-git",
		labels("docs/git.md", "[git, --no-pager, log]\n  - [git, -n]"),
		"an option does not, and the page's program is told once");
	is_str("docs_git_log", labels("docs/README.md", "[git, log, -n, {n}]"),
		"arguments make no name");
	is_str("a_docker_compose_up",
		labels("a.md", "[docker, compose, up, now.txt, more]"),
		"a file ends the words");
	is_str("a_x_one_two_three",
		labels("a.md", "[x, one, two, three, four]"), "three of them");
	is_str("a_grep_c_q a_grep_q",
		labels("a.md", "[grep, -c, {q}]\n  - [grep, {q}]"),
		"tools that share a name get all words and arguments");
	is_str("a_grep_q a_grep_c_q",
		labels("a.md", "[grep, {q}]\n  - [grep, -c, {q}]"),
		"in any order the same");
	is_str("a_git_log a_git_log_n",
		labels("a.md", "[git, log]\n  - [git, log, -, '{n}']"),
		"the shorter one keeps the name");
	is_str(name("[x, -a]", "a.md"), "a_x", "alone it has the short one");
	is_str("q_ls q_ls_l",
		labels("a.md",
			"{ name: q, command: [ls] }\n"
			"  - { name: q, command: [ls, -l] }"),
		"also tools with one name of the author");
	is_str("a_x-9", labels("a.md", "{ name: a_x-9, command: [ls] }"),
		"which is kept as it is");
	ok(strcmp(labels("a.md", "[ls, -l]\n  - [ls, +l]"), "a_ls_l a_ls_l") !=
			0,
		"what no word tells apart is hashed");
	is_str(labels("a.md", "[ls]\n  - [ls]"),
		labels("a.md", "[ls]\n  - [ls]"),
		"the same command twice has one name");
}

static void
found_by_name(void)
{
	static const char two[] = "{ name: q, command: [ls] }\n  - [ls, -l]";
	char hashed[TOOLCALL_NAME_MAX + 1], again[TOOLCALL_NAME_MAX + 1];

	is_str("a_q", qualified("a.md", "q"), "the page comes before a label");
	is_str("a_q", qualified("a.md", "a_q"), "but once");
	is_str("a", qualified("a.md", "a"), "also where it is all");
	is_str("a_ab", qualified("a.md", "ab"), "a beginning is no page");
	is_str("q", qualified("README.md", "q"), "the first page adds nothing");
	is_str("too long", qualified("a/b.md", &TOO_LONG[3]), "57 at most");
	is_int(0, (long long)found("a.md", two, "q"), "by its label");
	is_int(0, (long long)found("a.md", two, "a_q"), "with the page");
	toolcall_hashed_name(tool("[ls, -l]"), "a.md", hashed);
	is_int(1, (long long)found("a.md", two, hashed), "hashed");
	ok(found("a.md", two, "ls") == SIZE_MAX, "and by no other name");
	toolcall_hashed_name(
		tool("[cat, { name: f, regex: x }]"), "a.md", hashed);
	toolcall_hashed_name(
		tool("[cat, { name: f, regex: x, description: A file }]"),
		"a.md", again);
	is_str(hashed, again, "a description changes no hash");
	toolcall_hashed_name(tool("[cat, {f}]"), "a.md", hashed);
	toolcall_hashed_name(
		tool("[cat, { name: f, description: A file }]"), "a.md", again);
	is_str(hashed, again, "nor for a bare placeholder");
}

static void
properties(void)
{
	const struct spec *s = tool("[x, {}, {word}, {word}, {args}, {arg2}]");
	static const char *const wanted[] = { "arg1", "word", "arg3", "arg4",
		"arg2" };
	char out[TOOLCALL_PROPERTY_MAX + 1];

	is_int(ARRAY_LEN(wanted), (long long)s->argument_count,
		"a word of the author is none");
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		toolcall_property(s, s->arguments[i], out);
		is_str(wanted[i], out, "argument %zu", i);
	}
	s = tool("[x, {}, {arg1}]");
	toolcall_property(s, s->arguments[0], out);
	is_str("arg1_", out, "an author's own arg1 is not hidden");
}

static struct ss_error err;
static struct toolcall request;
static struct command command;

static enum ss_err
words(const char *line, const struct proto_argument *args, size_t count)
{
	const struct spec *s = tool(line);
	enum ss_err code;

	err = (struct ss_error){ 0 };
	code = toolcall_read(&arena, s, args, count, &request, &err);

	return code == SS_OK
		? command_build(&arena, s, &request.given, &command, &err)
		: code;
}

static void
calls(void)
{
	struct ss_text items[] = { TEXT("-n"), TEXT("3") };
	struct proto_argument file = {
		.name = "file", .kind = PROTO_TEXT, .text = TEXT("{x}.md")
	};
	struct proto_argument extra = { .name = "args",
		.kind = PROTO_LIST,
		.items = items,
		.item_count = 2 };
	struct proto_argument number = {
		.name = "file", .kind = PROTO_NUMBER, .found = "a number"
	};
	struct proto_argument both[] = { extra, file };
	struct proto_argument in = {
		.name = "stdin", .kind = PROTO_TEXT, .text = TEXT("hello")
	};

	is_int(SS_OK, words("[head, {file}]", both, 2), "in any order");
	is_int(4, (long long)command.count, "words are put in theirs");
	is_str("head", command.words[0].data, "the author's word");
	is_str("{x}.md", command.words[1].data, "an argument is not filled");
	is_str("3", command.words[3].data, "the appended ones come last");
	is_int(SS_BAD_REQUEST, words("[head, {file}, ;]", both, 2),
		"a locked tool takes no args");
	is_str("there is no argument \"args\"", err.message, "and says so");
	is_str("this tool takes file", err.hint, "with what it takes");
	is_int(SS_BAD_REQUEST, words("[head, {file}]", &extra, 1),
		"an argument that is missing is refused");
	is_int(SS_BAD_REQUEST, words("[head, {file}]", &number, 1),
		"so is one of another type");
	is_str("the argument \"file\" must be a string: it is a "
	       "number",
		err.message, "which is named");
	is_int(SS_BAD_REQUEST,
		words("[head, { name: file, regex: '^a' }]", &file, 1),
		"so is one that its pattern does not find");
	is_int(SS_BAD_REQUEST, words("[cat]", &in, 1),
		"stdin is only for a tool that declares it");
	is_int(SS_OK, words("{ command: [cat], stdin: true }", &in, 1),
		"which takes it");
	ok(request.has_stdin && text_is(request.stdin_text, "hello"),
		"as it is");
}

int
main(void)
{
	arena_init(&arena, 0);
	names();
	labels_of_a_page();
	found_by_name();
	properties();
	calls();
	frontmatter_release(&front);
	arena_release(&arena);
	return done();
}
