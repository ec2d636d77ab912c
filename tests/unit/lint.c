/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include "page/lint.h"

static const struct ss_pair server[] = { { "API_KEY", "s3cret" } };

/* Every warning, one a line. */
static char warnings[8192];
static unsigned count, first_line, first_column;

static void
note(void *ctx, const struct ss_problem *p)
{
	size_t at = strlen(warnings);

	(void)ctx;
	if (count++ == 0) {
		first_line = p->line;
		first_column = p->column;
	}
	snprintf(warnings + at, sizeof(warnings) - at, "%s%s (%s)\n",
		p->level == SS_LEVEL_WARNING ? "" : "ERROR ", p->message,
		p->hint ? p->hint : "");
}

static const char *
lint_yaml(const char *yaml)
{
	struct lint_page job = { .server = server,
		.server_count = ARRAY_LEN(server) };
	struct arena arena;
	struct frontmatter f;
	struct ss_error err;
	char page[4096];

	warnings[0] = '\0';
	count = 0;
	arena_init(&arena, 0);
	snprintf(page, sizeof(page), "---\n%s\n---\n", yaml);
	job.text = text_of(page);
	if (frontmatter_parse(&arena, page, strlen(page), &f, NULL, &err) ==
		SS_OK)
		lint_frontmatter(&f, &job, note, NULL);
	else
		snprintf(warnings, sizeof(warnings), "%s", err.message);
	frontmatter_release(&f);
	arena_release(&arena);
	return warnings;
}

/* One tool of a page, with $WHO listed. */
static const char *
lint_tool(const char *tool)
{
	char yaml[2048];

	snprintf(yaml, sizeof(yaml), "env: [WHO]\ntools:\n  - %s", tool);
	return lint_yaml(yaml);
}

static void
warns(const char *tool, const char *words)
{
	bool found = strstr(lint_tool(tool), words) != NULL;

	ok(found, "%s: %s", tool, words);
	if (!found)
		printf("# saw: %s\n", warnings);
}

static void
silent(const char *tool)
{
	is_str("", lint_tool(tool), "%s: no warning", tool);
}

static void
test_programs(void)
{
	warns("[{}]", "chooses the program");
	warns("[{regex: '^(ls|cat)$'}, ;]", "chooses the program");
	warns("[sh, -c, {}]", "chooses the code that sh runs");
	warns("[/bin/bash, -lc, '{code}', ;]", "chooses the code that bash");
	warns("[sh]", "chooses the code that sh runs");
	warns("[sh, -c, 'echo x', ;]", "may execute every program");
	ok(strstr(lint_tool("[sh, -c, 'echo x', {}]"), "chooses") == NULL,
		"words after a fixed script are its arguments");
	warns("[python3, -c, {}]", "chooses the code that python runs");
	warns("[python3.11]", "chooses the code that python runs");
	silent("[python3, report.py, {}]");
	warns("[perl, -ne, {}]", "chooses the code that perl runs");
	warns("[node, --eval, {}]", "chooses the code that node runs");
	warns("[xargs]", "chooses the program that xargs runs");
	silent("[xargs, -n1, wc, ;]");
	warns("[env, {}]", "chooses the program that env runs");
	warns("[find, .]", "find has options");
	warns("[find, {}, ;]", "find has options");
	silent("[find, ., -name, {}, ;]");
	warns("[awk, '{print $NF}']", "awk has options");
	silent("[awk, '{print $NF}', data.txt, ;]");
	warns("[rm, old]", "rm writes");
	silent("[rm, old, ;]");
	warns("[tee]", "tee writes");
	warns("[sed, -i, s/a/b/]", "sed -i writes");
	silent("[ls]");
	silent("[cat, {}]");
	silent("[catrm]");
}

static void
test_parts(void)
{
	warns("[cat, {regex: 'md'}]", "found anywhere");
	warns("[cat, {regex: 'md$'}]", "the end of a word only");
	warns("[cat, {regex: '^md'}]", "'^md[\\s\\S]*$'");
	warns("[cat, {regex: '^a|b$'}]", "'^(a|b)$'");
	silent("[cat, {regex: '^a$|^b$'}]");
	silent("[cat, {regex: '^[a-z]+\\.md$'}]");
	warns("[cat, '{file-name}']", "looks like a placeholder");
	silent("[cat, '{print $1}']");
	silent("[cat, {literal: x}]");
	lint_tool("[cat,\n     {regex: 'x'}]");
	ok(first_line == 5 && first_column == 6,
		"the place is the regex's own, in the page: %u:%u", first_line,
		first_column);
}

static void
test_variables(void)
{
	silent("[echo, $WHO]");
	warns("[echo, $HOST_NAME]", "$HOST_NAME is neither");
	warns("[echo, 'x ${HOST_NAME} y']", "$HOST_NAME is neither");
	silent("[echo, 'costs $5 and $x']");
	silent("[echo, $WHO$]");
	silent("[perl, -e, 'print $ENV', ;]");
	warns("[curl, -H, 'Authorization: $API_KEY', {}]",
		"$API_KEY is the server's");
	warns("[curl, -H, 'Authorization: $API_KEY', https://x.example]",
		"$API_KEY is the server's");
	silent("[curl, -H, 'Authorization: $API_KEY', https://x.example, ;]");
	silent("[curl, $API_KEY, {regex: '^https://x\\.example/[a-z]+$'}, ;]");
	silent("{command: [printenv], env: [WHO]}");
	warns("{command: [printenv], env: [WHO, OTHER]}",
		"OTHER is not in the page's env:");
	ok(strstr(lint_tool("[curl, $API_KEY, {}]"), "s3cret") == NULL,
		"a value is never shown");
}

static void
test_network(void)
{
	warns("{command: [ls], network: true}", "network: true");
	silent("{command: [ls], network: false}");
	warns("{command: [ls], network: ['db:5432']}", "curl only");
	silent("{command: [curl, {url}], network: ['db:5432']}");
	lint_yaml("sandbox: {network: true}\ntools: [[ls]]");
	ok(count == 1 && first_line == 2, "network: true of the page too");
}

/* The place of the first warning about prompts; "": there is none. */
static void
prompts(const char *yaml, unsigned line, unsigned column, const char *words)
{
	char text[2048];

	snprintf(text, sizeof(text), "prompts:\n%s", yaml);
	lint_yaml(text);
	if (words[0] == '\0') {
		is_str("", warnings, "%s: no warning", yaml);
		return;
	}
	ok(strstr(warnings, words) != NULL && first_line == line &&
			first_column == column && count == 1,
		"%s: %s", yaml, words);
	if (strstr(warnings, words) == NULL || first_line != line ||
		first_column != column || count != 1)
		printf("# saw at %u:%u: %s\n", first_line, first_column,
			warnings);
}

#define P " - { name: p, "

static void
test_prompts(void)
{
	prompts(P "title: T, description: D, arguments: [a, {name: b, "
		  "description: B, required: true}], text: '{a} {b} {} { x "
		  "{1}', ask: [{name: f, message: M, arguments: [b]}] }",
		0, 0, "");
	prompts(P "messages: [{role: assistant, text: x}, {file: a.png}] }", 0,
		0, "");
	prompts(" name: p", 3, 2, "prompts is a mapping");
	prompts(" p", 3, 2, "prompts is a string");
	prompts(" - p", 3, 4, "without a name is not offered");
	prompts(" - { text: x }", 3, 4, "without a name is not offered");
	prompts(P "text: x }\n" P "text: y }", 4, 4, "p is listed twice");
	prompts(P "txt: x }", 3, 15, "txt is no key here");
	prompts(P "title: [x] }", 3, 22, "title is no text");
	prompts(P "arguments: a }", 3, 26, "arguments is a string");
	prompts(P "arguments: [a, a] }", 3, 30,
		"the argument a is listed twice");
	prompts(P "arguments: [{description: x}] }", 3, 27,
		"an argument without a name");
	prompts(P "arguments: [{name: a, need: true}] }", 3, 37,
		"need is no key here");
	prompts(P "arguments: [{name: a, required: yes}] }", 3, 47,
		"neither true nor false");
	prompts(P "text: 'see {page} and {page_2}', arguments: [page] }", 3, 21,
		"{page_2} is no argument");
	prompts(P "messages: x }", 3, 25, "messages is a string");
	prompts(P "messages: [{role: user}] }", 3, 26,
		"a message without text and file");
	prompts(P "messages: [{role: system, text: x}] }", 3, 33,
		"the role system is not known");
	prompts(P "messages: [{text: x, file: y}] }", 3, 42,
		"file is not used with text");
	prompts(P "messages: [{text: '{x}'}] }", 3, 33, "{x} is no argument");
	prompts(P "messages: [{text: x}], text: y }", 3, 44,
		"text is not used with messages");
	prompts(P "ask: [{name: f}] }", 3, 21, "expected name, message");
	prompts(P "ask: [{name: f, message: M, arguments: [a]}] }", 3, 43,
		"a is no argument of this prompt");
}

/* A page's own `job` and metadata may be anything else. */
static void
test_keys(void)
{
#define IGNORED "the key job is ignored: its value is none of ours "
	static const char *const pages[][2] = {
		{ "job: requird", IGNORED "(did you mean required?)\n" },
		{ "job: Auto", IGNORED "(did you mean auto?)\n" },
		{ "job: {aftr: 3}",
			IGNORED "(did you mean {after: SECONDS}?)\n" },
		{ "jobs: true",
			"the key jobs is ignored (did you mean job?)\n" },
		{ "jobb: {after: 3}",
			"the key jobb is ignored (did you mean job?)\n" },
		{ "job: required", "" },
		{ "job: true", "" },
		{ "job: {after: 3}", "" },
		{ "job: Baker", "" },
		{ "job: {title: Baker}", "" },
		{ "job: {after: 3, title: Baker}", "" },
		{ "job: [requird]", "" },
		{ "metadata: {statespce: {tools: [[ls]]}}",
			"the key statespce is ignored (did you mean "
			"statespace?)\n" },
		{ "metadata: {statespace: {tool: [[ls]]}}",
			"the key tool is ignored (did you mean tools?)\n" },
		{ "metadata: {statespace: {job: requird}}",
			IGNORED "(did you mean required?)\n" },
		{ "metadata: {statespace: {title: x}, author: {tool: [a]}}",
			"" },
		{ "metadata: text", "" },
	};
#undef IGNORED

	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		lint_yaml(pages[i][0]);
		is_str(pages[i][1], warnings, "%s", pages[i][0]);
	}
}

int
main(void)
{
	test_programs();
	test_parts();
	test_variables();
	test_network();
	test_prompts();
	test_keys();
	lint_yaml("title: x");
	is_int(0, count, "a page without tools has no warnings");
	return done();
}
