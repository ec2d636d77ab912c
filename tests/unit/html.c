/* SPDX-License-Identifier: MIT */
/*
 * html: a page as a person meets it, and that nothing in it leaves its place.
 */
#include "http/html.h"
#include "page/markdown.h"
#include "page/title.h"
#include "tap.h"

static struct buf out = BUF_INIT((size_t)8 << 20);
static struct buf text = BUF_INIT((size_t)8 << 20);
static struct arena arena;

/* The page of this source, as the README.md of docs/. */
/* As site/rights has them, without variables. */
static const struct powers *
powers_of_all(const struct frontmatter *front)
{
	static struct powers powers[64];

	for (size_t i = 0; i < front->spec_count && i < ARRAY_LEN(powers);
		i++) {
		const struct part *first = &front->specs[i].parts[0];
		bool named = first->kind == PART_TEXT;
		struct policy_ask ask = { .page = &front->sandbox,
			.tool = &front->specs[i].wants,
			.program = named ? first->text.data : NULL,
			.http = named && text_is(first->text, "curl") };

		ask.helper = ask.http ? "statespace-curl" : NULL;
		powers[i] = powers_of(&ask);
	}
	return powers;
}

static const char *
show(const char *source, void (*change)(struct html_page *page))
{
	static const char *const pages[] = { "docs/README.md", "docs/a b.md",
		"docs/sub/README.md" };
	static const char *const top[] = { "README.md", "docs/README.md",
		"z.markdown" };
	static const struct html_folder folders[] = {
		{ .path = "", .pages = top, .count = 3 },
		{ .path = "docs", .pages = pages, .count = 3 },
	};
	static const struct ss_pair server[] = { { "KEY", "s3cret" } };
	struct ss_error err = { .code = SS_OK };
	struct frontmatter front;
	struct html_page page = { .path = "docs/README.md",
		.root = "../",
		.base = "",
		.url = "http://h/docs/",
		.version = "v1",
		.front = &front,
		.error = &err,
		.folders = folders,
		.folder_count = 2,
		.server = server,
		.server_count = 1,
		.timeout = 30 };

	arena_clear(&arena);
	if (frontmatter_parse(&arena, source, strlen(source), &front, NULL,
		    &err) != SS_OK)
		printf("# %s\n", err.message);
	page.powers = powers_of_all(&front);
	page.text = (struct ss_text){ source + front.body,
		strlen(source) - front.body };
	if (change != NULL)
		change(&page);
	page.title = title_find(&arena, &front, page.path, page.text);
	buf_clear(&text);
	markdown_html(page.text, page.base, &text);
	page.html = buf_view(&text);
	buf_clear(&out);
	html_page(&page, &out);
	frontmatter_release(&front);
	return out.data;
}

static bool
has(const char *html)
{
	bool found = strstr(out.data, html) != NULL;

	if (!found)
		printf("# no %s\n", html);
	return found;
}

static size_t
count(const char *html)
{
	size_t n = 0;

	for (const char *p = out.data; (p = strstr(p, html)) != NULL; p++)
		n++;
	return n;
}

static void
test_frame(void)
{
	show("---\ntitle: A & B\ndescription: \"\\\"><script>\"\n---\ntext\n",
		NULL);
	ok(has("<title>A &amp; B</title>"), "the title is escaped");
	ok(has("content=\"&quot;&gt;&lt;script&gt;\""),
		"the description stays in its attribute");
	ok(has("<h1>A &amp; B</h1>"),
		"a text without a heading gets the title as one");
	ok(has("href=\"../__meta/view.css?v=v1\""), "the style is ours");
	ok(has("src=\"../__meta/view.js?v=v1\""), "and so is the script");
	is_int(1, (long long)count("<script"), "there is no other script");
	is_int(0, (long long)count("style="), "no style is in the page");
	ok(!strstr(out.data, "_tools"), "a page without tools has no cards");

	show("# Own *heading*\n", NULL);
	ok(has("<title>Own heading</title>"),
		"without a title the first heading is it");
	is_int(1, (long long)count("<h1"), "a heading is not repeated");
	show("text\n", NULL);
	ok(has("<title>docs/README.md</title>"),
		"without a heading the path is the title");
}

static void
test_navigation(void)
{
	show("x\n", NULL);
	ok(has("<li><a href=\"../\">site</a></li>\n"
	       "<li><a href=\"../docs/\">docs</a></li>\n"
	       "<li aria-current=\"page\">README.md</li>"),
		"the way to the page, from the site's root");
	ok(has("<li><a href=\"../\">Overview</a></li>"),
		"the root's README.md leads to the root");
	ok(has("<a href=\"../docs/\" aria-current=\"page\">docs/</a><ul>\n"
	       "<li><a href=\"../docs/a%20b.md\">a b</a></li>\n"
	       "<li><a href=\"../docs/sub/\">sub/</a></li>\n</ul>\n"),
		"the folder's pages follow its name");
	ok(has("<a href=\"../z.markdown\">z</a>"), "then the root goes on");
}

static const char tools[] =
	"---\n"
	"env: [WHO, KEY, PYTHONPATH]\n"
	"sandbox:\n"
	"  network: [\"db.example:5432\"]\n"
	"tools:\n"
	"  - name: search\n"
	"    title: \"Search <it>\"\n"
	"    description: \"</p><img src=x onerror=alert(1)>\"\n"
	"    command:\n"
	"      - grep\n"
	"      - \"it's\"\n"
	"      - { regex: '^[a-z\"<]+$', name: word, description: lower case }\n"
	"      - '{}'\n"
	"      - ';'\n"
	"    stdin: true\n"
	"    write: [out]\n"
	"    timeout: 2.5\n"
	"    memory_bytes: 104857600\n"
	"    processes: 4\n"
	"    exec: any\n"
	"    network: false\n"
	"    env: []\n"
	"  - [ls]\n"
	"---\n# T\n";

static void
test_card(void)
{
	show(tools, NULL);
	ok(has(">Search &lt;it&gt;</h3>"), "a tool is named by its title");
	ok(has("<p>&lt;/p&gt;&lt;img src=x onerror=alert(1)&gt;</p>"),
		"its description is text");
	ok(has("<code>grep &#39;it&#39;\\&#39;&#39;s&#39; "
	       "<var data-for=\"word\">word</var> "
	       "<var data-for=\"arg2\">arg2</var></code>"),
		"the command as one would type it, with its fields marked");
	ok(has("<form data-tool=\"search\">"),
		"the name that the script calls");
	ok(has("data-regex=\"^[a-z&quot;&lt;]+$\""),
		"an expression stays in its attribute");
	ok(has("lower case; must match <code>^[a-z&quot;&lt;]+$</code>"),
		"and is shown beside its field");
	ok(has("<label for=\"_t0-a0\">word</label>\n<input type=\"text\" "),
		"a field has a label");
	ok(has("aria-describedby=\"_t0-a0h\""), "and a description");
	ok(has("<label for=\"_t0-a1\">arg2</label>"),
		"a field without a name is counted");
	ok(has("id=\"_t0-s0\" data-stdin></textarea>"),
		"standard input has a field where it is read");
	ok(!strstr(out.data, "_t0-x0"),
		"a locked tool has no field for more words");
	ok(has("data-more"), "an open one has");
	is_int(1, (long long)count("data-stdin"),
		"no standard input where it is not read");
}

static void
test_touch(void)
{
	const char *second;

	show(tools, NULL);
	second = strstr(out.data, "_t1-n0");
	ok(has("<li>no network</li>"), "the tool's own word wins");
	ok(strstr(second, "network <code>db.example:5432</code>") != NULL,
		"else the page's is true");
	ok(has("<li class=\"wide\">writes <code>out</code></li>"),
		"it shows what it may write");
	ok(strstr(second, "<li>writes nothing</li>") != NULL,
		"and also when that is nothing");
	ok(has("<li>at most 2.5 s</li>"), "its time");
	ok(strstr(second, "<li>at most 30 s</li>") != NULL, "or the server's");
	ok(has("<li>100 MiB of memory</li>"), "its memory");
	ok(has("<li>4 processes</li>"), "its processes");
	ok(has("may start any program"), "what it may start");
	ok(!strstr(out.data, "_t0-e"),
		"a tool with no variables asks for none");
	ok(strstr(second, "data-env=\"WHO\"") != NULL,
		"a variable that nobody has set is asked for");
	is_int(1, (long long)count("data-env"),
		"not one of the server's, nor one that only it may set");
	ok(!strstr(out.data, "s3cret"), "no value is shown");

	show("---\ntools: [[curl, {}]]\n---\n", NULL);
	ok(has("the public Internet, over HTTP"),
		"the HTTP tool reaches the Internet");
	show("---\ntools: [[/bin/sh, -c, ls]]\n---\n", NULL);
	ok(has("may start any program"), "a shell may start anything");
	show("---\nsandbox: {network: true}\ntools: [[ping, {}]]\n---\n", NULL);
	ok(has("<li class=\"wide\">every network"),
		"all networks is a warning");
}

static void
test_curl(void)
{
	show(tools, NULL);
	ok(has("curl --json &#39;{&quot;tool_call&quot;: {&quot;name&quot;: "
	       "&quot;search&quot;, &quot;arguments&quot;: {&quot;word&quot;: "
	       "&quot;a&quot;, &quot;arg2&quot;: &quot;text&quot;}}, "
	       "&quot;stdin&quot;: &quot;text&quot;}&#39; http://h/docs/"),
		"the same with curl, quoted for a shell, with values that fit");
}

static const char typed[] =
	"---\n"
	"tools:\n"
	"  - name: get\n"
	"    command:\n"
	"      - sqlite3\n"
	"      - { name: n, type: integer, min: 1, max: 99, default: 10 }\n"
	"      - { name: ratio, type: number, examples: [0.5, 2] }\n"
	"      - { name: state, enum: [open, 'it''s', ' <'], default: open }\n"
	"      - { name: all, type: boolean, optional: true }\n"
	"      - { name: day, type: date, min: 2026-01-31 }\n"
	"      - { name: note, kind: text, optional: true }\n"
	"      - { name: file, kind: path, exists: true }\n"
	"      - { text: 'it''s {id}/{q}', id: { type: integer, dash: true },\n"
	"          q: { kind: text, escape: url }, description: A place }\n"
	"      - ;\n"
	"  - [ls, ;]\n"
	"  - { name: ls, command: [ls, -l, ;] }\n"
	"  - { name: ls, command: [ls, -a, ;] }\n"
	"---\n# T\n";

/* Is the field of this argument, up to its end, this one? */
static void
is_field(const char *name, const char *html)
{
	char start[100], *at, *end;

	snprintf(start, sizeof(start), "\">%s</label>\n", name);
	at = strstr(out.data, start);
	if (!ok(at != NULL, "there is a field %s", name))
		return;
	at += strlen(start);
	end = strstr(at, "</div>");
	*strchr(end, '\n') = '\0';
	is_str(html, at, "the field %s", name);
	out.data[strlen(out.data)] = '\n';
}

static void
test_fields(void)
{
	show(typed, NULL);
	is_field("n",
		"<input type=\"number\" step=\"1\" min=\"1\" max=\"99\" "
		"id=\"_t0-a0\" aria-describedby=\"_t0-a0h\" "
		"data-argument=\"n\" data-json data-omit value=\"10\">\n"
		"<p class=\"help\" id=\"_t0-a0h\">a whole number from 1 to 99; "
		"default <code>10</code></p>\n</div>");
	is_field("ratio",
		"<input type=\"number\" step=\"any\" min=\"0\" required "
		"id=\"_t0-a1\" aria-describedby=\"_t0-a1h\" "
		"data-argument=\"ratio\" data-json data-sample=\"0.5\" "
		"placeholder=\"0.5\">\n"
		"<p class=\"help\" id=\"_t0-a1h\">a number; for example "
		"<code>0.5</code>, <code>2</code></p>\n</div>");
	is_field("state",
		"<select id=\"_t0-a2\" aria-describedby=\"_t0-a2h\" "
		"data-argument=\"state\" data-omit><option selected>open"
		"</option><option>it&#39;s</option>"
		"<option value=\" &lt;\"> &lt;</option></select>\n"
		"<p class=\"help\" id=\"_t0-a2h\">default "
		"<code>open</code></p>\n</div>");
	is_field("all",
		"<select id=\"_t0-a3\" aria-describedby=\"_t0-a3h\" "
		"data-argument=\"all\" data-json data-omit><option></option>"
		"<option>true</option><option>false</option></select>\n"
		"<p class=\"help\" id=\"_t0-a3h\">optional</p>\n</div>");
	is_field("day",
		"<input type=\"date\" min=\"2026-01-31\" required "
		"id=\"_t0-a4\" aria-describedby=\"_t0-a4h\" "
		"data-argument=\"day\" data-sample=\"2026-01-31\">\n"
		"<p class=\"help\" id=\"_t0-a4h\">a date as 2026-01-31 from "
		"2026-01-31</p>\n</div>");
	is_field("id",
		"<input type=\"number\" step=\"1\" required id=\"_t0-a7\" "
		"aria-describedby=\"_t0-a7h\" data-argument=\"id\" data-json "
		"data-sample=\"1\">\n<p class=\"help\" id=\"_t0-a7h\">A place; "
		"a whole number</p>\n</div>");
	ok(has("the path of a file that exists"), "a path says what it is");
	ok(has("<var data-for=\"note\">[note]</var>"),
		"a word that may be left out is marked");
	ok(has("&#39;it&#39;\\&#39;&#39;s &#39;"
	       "<var data-for=\"id\">id</var>/"
	       "<var data-for=\"q\" data-escape=\"url\">q</var>"),
		"a word with places for values");
	ok(has("&quot;arguments&quot;: {&quot;ratio&quot;: 0.5, "
	       "&quot;day&quot;: &quot;2026-01-31&quot;, "
	       "&quot;file&quot;: &quot;{file}&quot;, &quot;id&quot;: 1, "
	       "&quot;q&quot;: &quot;q&quot;}}"),
		"an example leaves out what may be left out");
	ok(has("<form data-tool=\"docs_ls\">"), "a name of the page");
	is_int(2, (long long)count("<form data-tool=\"ls_"),
		"two tools of one name have longer ones");
}

static void
refuse(struct html_page *page)
{
	static struct ss_error err = { .code = SS_BAD_FRONTMATTER,
		.message = "line 2: found <x>",
		.hint = "write \"y\"" };

	page->error = &err;
}

static void
cut(struct html_page *page)
{
	page->cut = true;
}

static void
test_problems(void)
{
	show("# T\n", refuse);
	ok(has("This page grants no tools</h2>\n<p>line 2: found &lt;x&gt;</p>"
	       "\n<p>write &quot;y&quot;</p>"),
		"why a page grants nothing, and what to do");
	show("# T\n", cut);
	ok(has("The page is longer"), "a page that is cut says so");
}

int
main(void)
{
	arena_init(&arena, 0);
	test_frame();
	test_navigation();
	test_card();
	test_touch();
	test_curl();
	test_fields();
	test_problems();
	buf_release(&out);
	buf_release(&text);
	arena_release(&arena);
	return done();
}
