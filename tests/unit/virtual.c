/* SPDX-License-Identifier: MIT */
/*
 * virtual and listing: which pages a site names, in what order, within which
 * bounds; the files that it has without holding them.
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "site/site.h"
#include "tap.h"

static char dir[] = "/tmp/statespace-virtual-XXXXXX";
static struct ss_site *site;
static struct ss_response res;

static void
put(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	for (char *p = path + strlen(dir) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		printf("# cannot write %s\n", path);
}

static void
remove_page(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void
put_link(const char *name, const char *target)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (symlink(target, path) != 0)
		printf("# cannot link %s\n", path);
}

/* A page with more tools than a list holds. */
static void
put_large(const char *name)
{
	static char text[1 << 20];
	size_t at = (size_t)sprintf(text, "---\ntools:\n");

	while (at + 300 < sizeof(text))
		at += (size_t)sprintf(text + at, "  - [echo, '%0200zu']\n", at);
	sprintf(text + at, "---\n");
	put(name, text);
}

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void
open_site(const char *listed, const char *items)
{
	struct ss_error err = { 0 };

	ss_response_release(&res);
	ss_site_free(site);
	site = ss_site_new();
	ss_site_set_root(site, dir, &err);
	ss_site_set_option(site, "sandbox.mode", "off", &err);
	if (listed != NULL)
		ss_site_set_option(site, "http.listed", listed, &err);
	if (items != NULL)
		ss_site_set_option(site, "limits.max_list_items", items, &err);
	if (ss_site_open(site, &err) != SS_OK)
		printf("# %s\n", err.message);
}

/* The same below a path of the front's. */
static void
open_prefixed(const char *prefix)
{
	struct ss_error err = { 0 };

	site = ss_site_new();
	ss_site_set_root(site, dir, &err);
	ss_site_set_option(site, "sandbox.mode", "off", &err);
	ss_site_set_option(site, "http.prefix", prefix, &err);
	if (ss_site_open(site, &err) != SS_OK)
		printf("# %s\n", err.message);
}

/* The paths of a list with a blank between; "+": it is cut. */
static const char *
names(const struct listing *l)
{
	static char text[65536];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < l->count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s",
			i > 0 ? " " : "", l->paths[i]);
	if (l->cut)
		snprintf(text + at, sizeof(text) - at, " +");
	arena_clear(&site->arena);
	return text;
}

static const char *
in_site(void)
{
	struct listing l;

	return listing_site(&site->catalog.source, &l, NULL) == SS_OK
		? names(&l)
		: "an error";
}

static const char *
in_folder(const char *folder)
{
	struct listing l;

	return listing_folder(&site->catalog.source, folder, &l, NULL) == SS_OK
		? names(&l)
		: "an error";
}

static void
test_listing(void)
{
	open_site(NULL, NULL);
	is_str("README.md a.md in.md z.markdown docs/README.md docs/b.md "
	       "docs/deep/c.md other/d.md",
		in_site(),
		"all pages, a folder's own before those of folders in it");
	is_str("README.md a.md docs/README.md in.md z.markdown", in_folder(""),
		"a folder's pages, and the README.md of folders in it");
	is_str("docs/README.md docs/b.md", in_folder("docs"),
		"a folder without a README.md is no page of its parent");
	is_str("", in_folder("none"), "a folder that is not there is empty");
	is_str("", in_folder("a.md"), "so is a file");
	is_str("", in_folder("up"), "no symlinked folder is entered");

	open_site("[\"/docs/**\", \"/{a,z}.m*\"]", NULL);
	is_str("a.md z.markdown docs/README.md docs/b.md docs/deep/c.md",
		in_site(), "only what [http] listed names");
	open_site("[]", NULL);
	is_str("", in_site(), "an empty list names nothing");
	open_site(NULL, "3");
	is_str("README.md a.md in.md +", in_site(),
		"limits.max_list_items cuts");
}

static const char *
ask(const char *method, const char *path, const char *accept)
{
	struct ss_request req = SS_REQUEST_INIT;

	ss_response_release(&res);
	req.method = method;
	req.path = path;
	req.accept = accept;
	req.content_type = "application/json";
	req.body = "{\"command\": [\"ls\"]}";
	req.body_len = strlen(req.body);
	ss_site_handle(site, &req, &res);
	return res.body;
}

static const char *
header(const char *name)
{
	for (size_t i = 0; i < res.header_count; i++)
		if (strcmp(res.headers[i].name, name) == 0)
			return res.headers[i].value;
	return "";
}

static void
test_files(void)
{
	const char *body;

	open_site(NULL, NULL);
	body = ask("GET", "/AGENTS.md", NULL);
	is_int(200, res.status, "AGENTS.md is there");
	ok(strstr(body, "Accept: text/event-stream") != NULL,
		"... and says how to get the output as it comes");
	ok(strstr(body,
		   "\n### A b\n\n`a.md`: several lines\n\n"
		   "- **a_echo** ``[echo, '`', {x}]``, more words may "
		   "follow, reads `stdin`, `env`: `WHO`: says it\n"
		   "  - `x`: a word; a word that matches `^.$`\n"
		   "  - ``{\"command\": [\"echo\", \"`\", \"1\"], "
		   "\"stdin\": \"text\"}``\n") != NULL,
		"a page with its tool, each text on one line");
	ok(strstr(body, "\n### Bad\n\n`docs/b.md`\n\n###") != NULL,
		"a page that grants nothing has no tools");
	ok(strstr(body, "out.md") == NULL, "nothing outside is named");
	body = ask("GET", "/llms.txt", NULL);
	ok(strstr(body, "- [A b](a.md): several lines\n") != NULL,
		"llms.txt: a page with its description");
	ok(strstr(body, "- [q \\[x\\]](z.markdown)\n") != NULL,
		"a heading cannot close its link");
	is_str("text/plain; charset=utf-8", header("Content-Type"),
		"it is text");
	ask("HEAD", "/llms.txt", NULL);
	ok(res.head_only && res.length > 0, "HEAD knows its length");
	ask("POST", "/llms.txt", NULL);
	is_int(405, res.status, "it takes no POST");
	ask("GET", "/favicon.ico", NULL);
	is_str("image/vnd.microsoft.icon", header("Content-Type"), "an icon");
	ask("GET", "/other/AGENTS.md", NULL);
	is_int(404, res.status, "only the root has them");
	ask("GET", "/AGENTS.md", "text/html");
	is_str("text/html; charset=utf-8", header("Content-Type"),
		"AGENTS.md for people");

	ok(strstr(ask("GET", "/none", "text/html"), " href=\"./\"") != NULL,
		"an error leads back to the site");
	ss_response_release(&res);
	ss_site_free(site);
	site = NULL;
	open_prefixed("/p q/");
	ok(strstr(ask("GET", "/p q", "text/html"),
		   " href=\"p%20q/__meta/view.css") != NULL,
		"a prefix without its slash is a folder above the site");
	ok(strstr(ask("GET", "/else/where", "text/html"),
		   " href=\"/p%20q/__meta/view.css") != NULL,
		"from outside of it only its whole path leads there");
	open_site(NULL, NULL);

	put_large("other/large.md");
	body = ask("GET", "/AGENTS.md", NULL);
	ok(strstr(body, "large.md") == NULL,
		"a page that does not fit is left out whole");
	ok(strstr(body, "\nThe list is cut here: there are more pages.\n"),
		"and AGENTS.md has a note that the list is cut");
	put("AGENTS.md", "mine\n");
	ask("GET", "/AGENTS.md", NULL);
	is_int(5, (long long)res.length, "the site's own wins");
}

/* The pages of a large folder, in an order that nobody sorted. */
static void
put_many(const char *folder, size_t count)
{
	char name[64];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%04zu.md", folder,
			i * 7919 % count);
		put(name, "# Many\n");
	}
}

static void
test_many(void)
{
	struct listing l;

	put_many("many", 1000);
	put("many/README.md", "# Many\n");
	put("many/aside.txt", "no page\n");
	open_site(NULL, NULL);
	ok(listing_folder(&site->catalog.source, "many", &l, NULL) == SS_OK &&
			l.count == 200 && l.cut,
		"of a large folder some are shown");
	ok(strcmp(l.paths[0], "many/README.md") == 0 &&
			strcmp(l.paths[1], "many/0000.md") == 0 &&
			strcmp(l.paths[199], "many/0198.md") == 0,
		"its README.md and the first by name");
	put_many("most", 201);
	ok(listing_folder(&site->catalog.source, "most", &l, NULL) == SS_OK &&
			l.count == 200 && l.cut &&
			strcmp(l.paths[199], "most/0199.md") == 0,
		"one more than are shown is one too many");
}

/* Read again is only what changed; at most a fifth of a second late. */
static void
test_catalog(void)
{
	struct catalog *first, *c;
	struct timespec t = { .tv_nsec = 30000000 };

	nanosleep(&t, NULL); /* what was just written is not kept */
	open_site("[\"/{a,z,other/d}.m*\"]", NULL);
	ok(catalog_refresh(&site->catalog, &first, NULL) == SS_OK &&
			!first->has_lists,
		"a catalog for MCP has no lists");
	ok(catalog_refresh(&site->catalog, &c, NULL) == SS_OK && c == first,
		"nothing changed: the same catalog");
	ok(catalog_lists(&site->catalog, &first, NULL) == SS_OK &&
			first->has_lists &&
			catalog_refresh(&site->catalog, &c, NULL) == SS_OK &&
			c == first,
		"once there are lists, it keeps them");
	put("other/d.md", "# Another\n");
	ok(catalog_lists(&site->catalog, &c, NULL) == SS_OK && c == first,
		"a list may be a little old");
	c->checked_us = 0;
	ok(catalog_lists(&site->catalog, &c, NULL) == SS_OK &&
			strstr(buf_view(&c->lists[CATALOG_LLMS].text).data,
				"- [A b](a.md): several lines\n"
				"- [q \\[x\\]](z.markdown)\n"
				"- [Another](other/d.md)\n") != NULL,
		"then what changed is read again, and the rest is as before");
	put("other/d.md", "# Yet another\n");
	ok(catalog_refresh(&site->catalog, &c, NULL) == SS_OK &&
			strcmp(catalog_page_find(c, "other/d.md")->title,
				"Yet another") == 0,
		"MCP is never late");
	remove_page("z.markdown");
	ok(catalog_refresh(&site->catalog, &c, NULL) == SS_OK &&
			c->page_count == 2 &&
			strstr(buf_view(&c->lists[CATALOG_AGENTS].text).data,
				"z.markdown") == NULL,
		"a page that is gone is in no list");
}

/* MCP, llms.txt and AGENTS.md call a page by the same name. */
static void
test_titles(void)
{
	static char x[301];
	char long_heading[400], long_front[400];
	const struct {
		const char *text, *title;
	} pages[] = {
		{ "# Closed title #\n", "Closed title" },
		{ "# With *emphasis* and `code`\n", "With emphasis and code" },
		{ "Setext title\n===\n", "Setext title" },
		{ "~~~\n```\n# code\n~~~\n## After code\n", "After code" },
		{ "<!--\n# comment\n-->\n> # quote\n\n # One space\n",
			"One space" },
		{ "    # code\n", "t/t.md" },
		{ "#\n", "t/t.md" },
		{ "#hashtag\n", "t/t.md" },
		{ "---\ntitle: \"Of\\n\\tthe front\"\n---\n# No\n",
			"Of the front" },
		{ long_heading, x + 100 },
		{ long_front, x + 100 },
	};
	struct catalog *c;
	char line[400];

	memset(x, 'x', sizeof(x) - 1);
	snprintf(long_heading, sizeof(long_heading), "# %s\n", x);
	snprintf(long_front, sizeof(long_front), "---\ntitle: %s\n---\n", x);
	open_site("[\"/t/t.md\"]", NULL);
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		const struct catalog_page *p;

		put("t/t.md", pages[i].text);
		catalog_refresh(&site->catalog, &c, NULL);
		c->checked_us = 0;
		catalog_lists(&site->catalog, &c, NULL);
		p = catalog_page_find(c, "t/t.md");
		is_str(pages[i].title, p->title, "over MCP: %s",
			pages[i].title);
		snprintf(line, sizeof(line), "- [%s](t/t.md)", pages[i].title);
		ok(strstr(buf_view(&c->lists[CATALOG_LLMS].text).data, line) !=
				NULL,
			"in llms.txt");
		snprintf(line, sizeof(line), "### %s\n", pages[i].title);
		ok(strstr(buf_view(&c->lists[CATALOG_AGENTS].text).data,
			   line) != NULL,
			"in AGENTS.md");
	}
}

/* What MCP says of a page that has no description: its first paragraph. */
static void
test_summaries(void)
{
	static const struct {
		const char *text, *summary;
	} pages[] = {
		{ "# T\n\nOne  \ntwo.\n\nMore\n", "One two." },
		{ "Setext\n---\nAfter it.\n", "After it." },
		{ "Before.\n\n# T\n\nAfter.\n", "Before." },
		{ "# T\n- list\n\n> quote\n\n| t |\n\n<b>\n\nText\n", "Text" },
		{ "~~~\n```\ncode\n~~~\nText\n", "Text" },
		{ "<!-- a\nb -->\nText\n***\nNo\n", "Text" },
		{ "![badge](x)\n\nText\n# T\n", "Text" },
		{ "---\ndescription: D\n---\nText\n", "D" },
		{ "# T\n", "" },
	};
	struct catalog *c;

	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		put("t/t.md", pages[i].text);
		catalog_refresh(&site->catalog, &c, NULL);
		is_str(pages[i].summary,
			catalog_page_find(c, "t/t.md")->description,
			"summary %zu", i);
	}
}

int
main(void)
{
	if (mkdtemp(dir) == NULL || chmod(dir, 0755) != 0)
		return 1;
	put("README.md", "# Front\n");
	put("a.md",
		"---\ntitle: \"A\\n b\"\ndescription: |\n  several\n"
		"  lines\nenv: [WHO]\ntools:\n  - command: [echo, '`', "
		"{regex: '^.$', name: x, description: a word}]\n"
		"    description: says it\n    stdin: true\n---\n");
	put("z.markdown", "# q [x]\n");
	put("docs/README.md", "docs\n");
	put("docs/b.md", "---\ntools: ls\n---\n# Bad\n");
	put("docs/deep/c.md", "c\n");
	put("other/d.md", "d\n");
	put("data.txt", "no page\n");
	put(".hidden.md", "no\n");
	put(".hidden/e.md", "no\n");
	put("bad\xff.md", "no\n");
	put_link("in.md", "docs/b.md");
	put_link("out.md", "/etc/passwd");
	put_link("gone.md", "nothing.md");
	put_link("up", ".");
	test_listing();
	test_files();
	test_many();
	test_catalog();
	test_titles();
	test_summaries();
	ss_response_release(&res);
	ss_site_free(site);
	nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
