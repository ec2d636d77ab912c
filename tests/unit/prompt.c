/* SPDX-License-Identifier: MIT */
/* prompt: what is offered of `prompts:`, whatever mistakes are beside it. */
#include "page/frontmatter.h"
#include "tap.h"

static struct arena arena;
static struct frontmatter front;

/* The prompts of a page with that frontmatter; false: the page has an error. */
static bool
parse(const char *prompts)
{
	struct ss_error err = { 0 };
	struct node_place place;
	char text[2048];
	int n = snprintf(text, sizeof(text), "---\nprompts:%s\n---\n", prompts);

	arena_clear(&arena);
	return frontmatter_parse(
		       &arena, text, (size_t)n, &front, &place, &err) == SS_OK;
}

static void
test_messages(void)
{
	const struct prompt *p;

	ok(parse("\n - { name: p }"), "a name is enough");
	ok(front.prompts[0].is_page && front.prompts[0].message_count == 0,
		"then the page is the message");
	parse("\n - { name: p, text: x }");
	p = front.prompts;
	ok(!p->is_page && p->message_count == 1, "text is one message");
	is_str("user", p->messages[0].role, "of the user");
	parse("\n - { name: p, text: x, messages: [{role: assistant, text: y, "
	      "file: z}, {role: system, file: f}, {role: user}, w] }");
	p = front.prompts;
	is_int(2, p->message_count, "messages without text and file are none");
	is_str("assistant", p->messages[0].role, "the role is kept");
	ok(p->messages[0].file == NULL, "text comes before file");
	is_str("user", p->messages[1].role, "an unknown role is the user");
	is_str("f", p->messages[1].file, "a file is kept");
	parse("\n - { name: p, text: x, messages: y }");
	is_str("x", front.prompts[0].messages[0].text,
		"messages that are no list leave the text");
	parse("\n - { name: p, messages: [] }");
	ok(!front.prompts[0].is_page && front.prompts[0].message_count == 0,
		"an empty list is no message");
}

static void
test_arguments(void)
{
	const struct prompt *p;

	parse("\n - name: p\n   arguments: [a, {name: b, required: true}, "
	      "{required: true}, a, {name: c, required: 'true'}]");
	p = front.prompts;
	is_int(3, p->argument_count, "one for each name");
	ok(!p->arguments[0].required && p->arguments[1].required,
		"required is read");
	ok(!p->arguments[2].required, "and must be a boolean");
	ok(prompt_argument_find(p, TEXT("b")) == &p->arguments[1],
		"found by its name");
	ok(prompt_argument_find(p, TEXT("d")) == NULL, "NULL: there is none");
}

static void
test_lenient(void)
{
	ok(parse(" x") && front.prompt_count == 0, "a text is no list");
	ok(parse(" {a: b}") && front.prompt_count == 0, "nor is a mapping");
	ok(parse("\n - x\n - {text: y}\n - {name: p, title: 1}\n"
		 " - {name: p, title: 2}") &&
			front.prompt_count == 1,
		"what has no name, or a name again, is not offered");
	is_str("1", front.prompts[0].title, "the first counts");
	ok(prompt_find(front.prompts, front.prompt_count, "q") == NULL,
		"NULL: no such prompt");
	ok(!parse(" !foo []"), "a tag is an error of the page");
}

static void
test_forms(void)
{
	parse("\n - {name: p, ask: [{name: f, message: M, arguments: [a]}]}");
	is_int(1, front.prompts[0].ask_count, "forms are read");
	ok(front.prompts[0].ask_error == NULL, "without an error");
	parse("\n - {name: p, ask: [{name: f}]}");
	ok(front.prompt_count == 1 && front.prompts[0].ask_count == 0 &&
			front.prompts[0].ask_error != NULL,
		"an error in a form is kept with the prompt");
}

int
main(void)
{
	arena_init(&arena, 0);
	test_messages();
	test_arguments();
	test_lenient();
	test_forms();
	arena_release(&arena);
	return done();
}
