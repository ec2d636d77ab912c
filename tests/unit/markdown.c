/* SPDX-License-Identifier: MIT */
/*
 * markdown: what a text becomes, and what it can never become.
 */
#include <time.h>

#include "page/markdown.h"
#include "tap.h"

static struct buf html = BUF_INIT((size_t)32 << 20);

static const char *
show(const char *text, const char *base)
{
	buf_clear(&html);
	markdown_html(text_of(text), base, &html);
	return html.data;
}

static const struct {
	const char *sentence, *text, *html;
} shown[] = {
	{ "a paragraph", "Hello *you*", "<p>Hello <em>you</em></p>\n" },
	{ "a heading can be linked to", "# Hello, *World* 2",
		"<h1 id=\"hello-world-2\">\nHello, <em>World</em> 2\n</h1>\n" },
	{ "the second of a name cannot", "# A\n## A",
		"<h1 id=\"a\">\nA\n</h1>\n<h2>A</h2>\n" },
	{ "a heading never has a name of ours", "# _text",
		"<h1 id=\"text\">\n_text\n</h1>\n" },
	{ "a heading without letters has no name", "# !", "<h1>!</h1>\n" },
	{ "strikethrough", "~~a~~", "<p><del>a</del></p>\n" },
	{ "an address is a link", "see https://e.org/a?b=c&d",
		"<p>see <a href=\"https://e.org/a?b=c&amp;d\">"
		"https://e.org/a?b=c&amp;d</a></p>\n" },
	{ "a done task", "- [x] a",
		"<ul>\n<li><span class=\"task\" role=\"img\" "
		"aria-label=\"done\">&#x2611;</span> a</li>\n</ul>\n" },
	{ "code, with its language", "```sh x\n<a>\n```",
		"<pre tabindex=\"0\"><code class=\"language-sh\">&lt;a&gt;\n"
		"</code></pre>\n" },
	{ "a language does not leave its attribute", "```\"><script>\n```",
		"<pre tabindex=\"0\"><code class=\"language-&quot;&gt;"
		"&lt;script&gt;\"></code></pre>\n" },
	{ "HTML is shown", "<script>alert(1)</script>",
		"<pre tabindex=\"0\"><code>&lt;script&gt;alert(1)"
		"&lt;/script&gt;\n</code></pre>\n" },
	{ "HTML in a line is shown", "a <b onclick=\"x\">b</b>",
		"<p>a &lt;b onclick=&quot;x&quot;&gt;b&lt;/b&gt;</p>\n" },
	{ "a comment is left out", "a\n\n<!-- x\ny -->\n\nb <!-- c --> d",
		"<p>a</p>\n<p>b  d</p>\n" },
	{ "text beside a comment is shown", "<!-- x --><img src=x onerror=y>",
		"<pre tabindex=\"0\"><code>&lt;!-- x --&gt;&lt;img src=x "
		"onerror=y&gt;\n</code></pre>\n" },
	{ "an unfinished comment is shown", "<!-- x",
		"<pre tabindex=\"0\"><code>&lt;!-- x\n</code></pre>\n" },
	{ "a link of the site", "[a](b/c.md \"t\")",
		"<p><a href=\"b/c.md\" title=\"t\">a</a></p>\n" },
	{ "javascript: leads nowhere", "[a](javascript:alert(1))",
		"<p>a</p>\n" },
	{ "in any letters", "[a](JaVaScRiPt:alert(1))", "<p>a</p>\n" },
	{ "with a line break inside", "[a](java&#10;script:alert(1))",
		"<p>a</p>\n" },
	{ "with a control byte before", "[a](&#1;javascript:alert(1))",
		"<p>a</p>\n" },
	{ "with its colon as an entity", "[a](javascript&colon;alert(1))",
		"<p>a</p>\n" },
	{ "as an autolink", "<javascript:alert(1)>",
		"<p>javascript:alert(1)</p>\n" },
	{ "by reference", "[a]\n\n[a]: javascript:alert(1)", "<p>a</p>\n" },
	{ "data: leads nowhere", "[a](data:text/html,<script>)", "<p>a</p>\n" },
	{ "vbscript: and file: neither", "[a](vbscript:x) [b](file:///etc)",
		"<p>a b</p>\n" },
	{ "nor does any scheme that we do not know", "[a](intent:x)",
		"<p>a</p>\n" },
	{ "a colon behind a slash is no scheme", "[a](b/c:d)",
		"<p><a href=\"b/c:d\">a</a></p>\n" },
	{ "mail is fine", "[a](mailto:a@b.c)",
		"<p><a href=\"mailto:a@b.c\">a</a></p>\n" },
	{ "an image of the site", "![a](b.png)",
		"<p><img src=\"b.png\" alt=\"a\" /></p>\n" },
	{ "an image of another site is a link", "![a](https://e.org/b.png)",
		"<p><a href=\"https://e.org/b.png\">a</a></p>\n" },
	{ "also without a scheme", "![a](//e.org/b.png)",
		"<p><a href=\"//e.org/b.png\">a</a></p>\n" },
	{ "a data: image is its text", "![a](data:image/png;base64,x)",
		"<p>a</p>\n" },
	{ "an image of another site in a link is its text",
		"[![a](https://e.org/b.png)](c)",
		"<p><a href=\"c\">a</a></p>\n" },
	{ "an image's text does not leave its attribute", "![\"><b>](c)",
		"<p><img src=\"c\" alt=\"&quot;&gt;&lt;b&gt;\" /></p>\n" },
	{ "a link does not leave its attribute", "[a](<b\"onclick=x>)",
		"<p><a href=\"b%22onclick=x\">a</a></p>\n" },
	{ "bytes that are not UTF-8 are replaced", "a\xff",
		"<p>a\xef\xbf\xbd</p>\n" },
	{ "no link or image in a table's cell leads to script or data",
		"|[a](javascript:b)|![c](data:image/png;base64,d)|\n|-|-|",
		"<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n"
		"<tr>\n<th>a</th>\n<th>c</th>\n</tr>\n</thead>\n</table>\n"
		"</div>\n" },
	{ "a table can be scrolled", "|a|\n|-|\n|<b>|",
		"<div class=\"scroll\" tabindex=\"0\">\n<table>\n<thead>\n"
		"<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>&lt;b"
		"&gt;</td>\n</tr>\n</tbody>\n</table>\n</div>\n" },
};

static void
test_base(void)
{
	is_str("<p><a href=\"x/b\">a</a> <a href=\"x/../d\">c</a> "
	       "<a href=\"/f\">e</a> <a href=\"#h\">g</a> "
	       "<a href=\"http://j\">i</a></p>\n",
		show("[a](b) [c](../d) [e](/f) [g](#h) [i](http://j)", "x/"),
		"only a link relative to the page is moved");
	is_str("<p><img src=\"x/b.png\" alt=\"a\" /></p>\n",
		show("![a](b.png)", "x/"), "an image as well");
}

static void
test_heading(void)
{
	struct buf out = BUF_INIT(1024);

	ok(markdown_heading(TEXT("a\n\n## The `x` *of* it\n# b\n"), &out),
		"a heading is found");
	is_str("The x of it", out.data, "its text has no markup");
	buf_clear(&out);
	ok(!markdown_heading(TEXT("```\n# a\n```\n"), &out),
		"a comment in code is no heading");
	ok(!markdown_heading(TEXT(""), &out), "nothing has none");
	ok(!markdown_heading(TEXT("<!-- x\n# a\n-->\n    # b\n> # c\n\n"
				  "- d\n---\n####### e\n#f\n"),
		   &out),
		"nor do a comment, code, a quote and a list");
	ok(markdown_heading(TEXT("a\n***\nb *c*\n  d\n===\n"), &out),
		"an underline makes a heading");
	is_str("b c d", out.data, "of each line above it");
	buf_clear(&out);
	ok(markdown_heading(TEXT("\r\n  ## 1. ~~a~~ [b](c) ##\r\n"), &out),
		"blanks around a heading do not count");
	is_str("1. a b", out.data, "nor do marks at its end");
	buf_release(&out);
}

/* Texts that made the library slow or large. */
static void
test_bounds(void)
{
	static const char *const pieces[] = { "a@", "x@x.", "[", "![", "[a](",
		"*a **a ", ">", "- ", "<", "<!", "a|", "`a", "a_", "www.",
		"http://", "\\", "&a" };
	static char text[MARKDOWN_BYTES_MAX + 2];
	double begun, longest = 0;

	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		size_t n = strlen(pieces[i]), at = 0;

		for (; at + n < sizeof(text) / 4; at += n)
			memcpy(text + at, pieces[i], n);
		text[at] = '\0';
		begun = cpu_ms();
		show(text, "");
		begun = cpu_ms() - begun;
		longest = begun > longest ? begun : longest;
		ok(buf_ok(&html) && html.len > 0, "256 KiB of \"%s\" pass",
			pieces[i]);
	}
	ok(longest < 20e3, "and none of them takes long");
	memset(text, 'a', sizeof(text) - 1);
	show(text, "");
	ok(strstr(html.data, "<pre class=\"plain\"") != NULL,
		"more than 1 MiB is shown as it is");
}

static void
test_wide_table(void)
{
	static char text[400000];
	size_t at = 0;

	for (int row = 0; row < 2; row++) {
		for (int i = 0; i < 20000; i++)
			at += (size_t)snprintf(
				text + at, 8, "%s", row == 0 ? "a|" : "-|");
		text[at++] = '\n';
	}
	for (int i = 0; i < 20000; i++)
		at += (size_t)snprintf(text + at, 8, "|\n");
	show(text, "");
	ok(strstr(html.data, "<table") == NULL && html.len < 2000000,
		"a table of 20000 columns and rows is none");
}

/* Head, a piece so often that the text has that many bytes, tail. */
static const char *
pile(const char *head, const char *piece, const char *tail, size_t bytes)
{
	static char text[201000];
	size_t n = strlen(piece), at = (size_t)sprintf(text, "%s", head);

	for (; at + n <= bytes; at += n)
		memcpy(text + at, piece, n);
	sprintf(text + at, "%s", tail);
	return text;
}

/*
 * The library would need seconds to minutes for each: it does not get to see
 * them, or has to do without an extension.
 */
static void
test_guards(void)
{
	static const struct {
		const char *head, *piece, *tail, *lacks;
	} t[] = {
		{ "www.a", ")", "", "<a" },
		{ "", "www.a_", "", "<a" },
		{ "http://a", "_", "", "<a" },
		{ "", "a\n", "|-", "<table" },
		{ "", "a\r\n", "|-", "<table" },
		{ "|a|\n|-|\n", "|", "", "<table" },
		{ "a ", "<?", "", "<p>" },
		{ "a ", "<![CDATA[", "", "<p>" },
		{ "a ", "<!A", "", "<p>" },
		{ "a ", "<?", "\n\n?>", "<p>" },
	};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		show(pile(t[i].head, t[i].piece, t[i].tail, 200000), "");
		ok(buf_ok(&html) && strstr(html.data, t[i].lacks) == NULL,
			"text %zu of 200 kB that repeats itself has no %s", i,
			t[i].lacks);
	}
	show(pile("|a|b|\n|-|-|\n", "|c|d|\n", "\n\nwww.a.b\n", 40000), "");
	ok(strstr(html.data, "<table") != NULL &&
			strstr(html.data, "<a href") != NULL,
		"a long table stays one, and an address a link");
	show(pile("a ", "<?a?> <!-- b --> <!C> ", "", 40000), "");
	ok(strstr(html.data, "<p>") != NULL,
		"instructions that end are none of these");
}

int
main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		is_str(shown[i].html, show(shown[i].text, ""), "%s",
			shown[i].sentence);
	test_base();
	test_heading();
	test_bounds();
	test_wide_table();
	test_guards();
	buf_release(&html);
	return done();
}
