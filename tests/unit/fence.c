/* SPDX-License-Identifier: MIT */
/* fence: which blocks of a page are components, and which only look so. */
#include "page/fence.h"

#include "page/markdown.h"
#include "tap.h"

static void
finds(const char *text, const char *script, const char *why)
{
	struct fence_scan scan = { .text = text, .len = strlen(text) };
	struct fence_block b;
	char got[256] = "";

	if (fence_next(&scan, &b))
		snprintf(got, sizeof(got), "%.*s", (int)b.script_len,
			text + b.script);
	else
		snprintf(got, sizeof(got), "nothing");
	is_str(script, got, "%s", why);
}

/*
 * The cases that CommonMark 0.31.2 shows for fenced code blocks, by its
 * numbers and in words of our own: what precedes a component decides
 * whether it is one.
 */
static const struct {
	int number;
	const char *before;
	bool open; /* it reaches into what follows */
} spec[] = {
	{ 119, "```\n<x\n >\n```\n", false },
	{ 120, "~~~\n<x\n >\n~~~\n", false },
	{ 121, "``\nword\n``\n", false },
	{ 122, "```\none\n~~~\n```\n", false },
	{ 123, "~~~\none\n```\n~~~\n", false },
	{ 124, "````\none\n```\n``````\n", false },
	{ 125, "~~~~\none\n~~~\n~~~~\n", false },
	{ 126, "```\n", true },
	{ 127, "`````\n\n```\none\n", true },
	{ 128, "> ```\n> one\n\ntwo\n", false },
	{ 129, "```\n\n  \n```\n", false },
	{ 130, "```\n```\n", false },
	{ 131, " ```\n one\ntwo\n```\n", false },
	{ 132, "  ```\none\n  two\nthree\n  ```\n", false },
	{ 133, "   ```\n   one\n    two\n  three\n   ```\n", false },
	{ 134, "    ```\n    one\n    ```\n", false },
	{ 135, "```\none\n  ```\n", false },
	{ 136, "   ```\none\n  ```\n", false },
	{ 137, "```\none\n    ```\n", true },
	{ 138, "``` ```\none\n", false },
	{ 139, "~~~~~~\none\n~~~ ~~\n", true },
	{ 140, "one\n```\ntwo\n```\nthree\n", false },
	{ 141, "one\n---\n~~~\ntwo\n~~~\n# three\n", false },
	{ 142, "```c\nint\nmain(void)\n  { }\n```\n", false },
	{ 143, "~~~~    c from=3 $%@#$\nint main;\n~~~~~~~\n", false },
	{ 144, "````;\n````\n", false },
	{ 145, "``` one ```\ntwo\n", false },
	{ 146, "~~~ one ``` ~~~\ntwo\n~~~\n", false },
	{ 147, "```\n``` one\n```\n", false },
};

/* The same decision as the library's that shows the page in a browser. */
static void
test_spec(void)
{
	for (size_t i = 0; i < ARRAY_LEN(spec); i++) {
		char text[256];
		struct fence_scan scan = { .text = text };
		struct fence_block b;
		struct buf html = BUF_INIT(65536);
		bool found, shown;

		scan.len = (size_t)snprintf(text, sizeof(text),
			"%s```component\nx\n```\n", spec[i].before);
		found = fence_next(&scan, &b);
		markdown_html((struct ss_text){ text, scan.len }, "", &html);
		shown = strstr(html.data, "language-component") != NULL;
		ok(found == !spec[i].open && found == shown,
			"CommonMark's example %d %s the component behind it",
			spec[i].number, spec[i].open ? "holds" : "leaves");
		buf_release(&html);
	}
}

int
main(void)
{
	const char *two =
		"a\n```component\none\n```\nb\n```component\ntwo\n```";
	struct fence_scan scan = { .text = two, .len = strlen(two) };
	struct fence_block b;

	finds("```component\necho\n```\n", "echo\n", "a component");
	finds("```component\n```\n", "", "an empty one");
	finds("```component\r\necho\r\n```\r\n", "echo\r\n", "CR LF");
	finds("```  component \t\nx\n```", "x\n", "blanks around the word");
	finds("```component\nx\n`````   \n", "x\n", "a longer closing fence");
	finds("```component\nx\n   ```\n", "x\n", "an indented closing fence");
	finds("```component\nx\n    ```\n```\n", "x\n    ```\n",
		"four blanks do not close");
	finds("```component\nx\n~~~\n```\n", "x\n~~~\n",
		"the other mark does not close");
	finds("```component\nx\n``` y\n```\n", "x\n``` y\n",
		"a fence with words does not close");
	finds("```component\nx\n``\n```\n", "x\n``\n", "two do not close");
	finds("``\n```component\nx\n```\n", "x\n", "nor open");
	finds("```component\nx\n", "nothing", "unclosed");
	finds(" ```component\nx\n```\n", "nothing", "indented");
	finds("````component\nx\n````\n", "nothing", "four backticks");
	finds("~~~component\nx\n~~~\n", "nothing", "tildes");
	finds("```component title\nx\n```\n", "nothing", "more words");
	finds("```Component\nx\n```\n", "nothing", "another word");
	finds("```comp`onent\nx\n", "nothing", "a backtick in the words");
	finds("````\n```component\nx\n```\n````\n", "nothing",
		"inside a longer fence");
	finds("~~~\n```component\nx\n```\n~~~\n", "nothing", "inside tildes");
	finds("```md\n```component\nx\n```\n", "nothing",
		"inside a fence of the same length, which ends with it");
	finds("````\n```component\nx\n", "nothing", "inside an unclosed one");
	finds("``` `x`\n```component\nx\n```\n", "x\n",
		"after a line of inline code");
	finds("<!--\n```component\nx\n```\n-->\n", "nothing", "commented out");
	finds("   <!--\n```component\nx\n```\n-->\n", "nothing",
		"the same, indented");
	finds("<!-- c -->\n```component\nx\n```\n", "x\n", "after a comment");
	finds("> ```component\n> x\n> ```\n", "nothing", "inside a quotation");

	ok(fence_next(&scan, &b) && b.start == 2 && b.end == 2 + 12 + 1 + 4 + 3,
		"the block ends before its last line break");
	ok(fence_next(&scan, &b) && two[b.end] == '\0',
		"the second one ends with the text");
	ok(!fence_next(&scan, &b), "and there is no third");
	test_spec();
	return done();
}
