/* SPDX-License-Identifier: MIT */
/* fence: which blocks of a page are components, and which only look so. */
#include "fence.h"

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
	is_str(got, script, "%s", why);
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
	finds("<!-- c -->\n```component\nx\n```\n", "x\n", "after a comment");
	finds("> ```component\n> x\n> ```\n", "nothing", "inside a quotation");

	ok(fence_next(&scan, &b) && b.start == 2 && b.end == 2 + 12 + 1 + 4 + 3,
		"the block ends before its last line break");
	ok(fence_next(&scan, &b) && two[b.end] == '\0',
		"the second one ends with the text");
	ok(!fence_next(&scan, &b), "and there is no third");
	return done();
}
