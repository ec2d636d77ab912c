/* SPDX-License-Identifier: MIT */
/* Our ids in the document begin with '_': a heading's never does. */
#include "http/html_writer.h"

#include "wire/escape.h"
#include "wire/path.h"

static void
put_head(struct html_writer *s)
{
	const struct html_page *page = s->page;

	html_put(s,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n<title>");
	html_text(s, s->page->title);
	html_put(s,
		"</title>\n<meta name=\"viewport\" "
		"content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n");
	if (page->front->description != NULL)
		html_in(s, "<meta name=\"description\" content=\"",
			page->front->description, "\">\n");
	html_in(s, "<link rel=\"stylesheet\" href=\"", page->root,
		"__meta/view.css?v=");
	html_in(s, "", page->version, "\">\n");
	html_in(s, "<link rel=\"icon\" type=\"image/svg+xml\" href=\"",
		page->root, "favicon.svg\">\n");
	html_in(s, "<script defer src=\"", page->root, "__meta/view.js?v=");
	html_in(s, "", page->version, "\"></script>\n</head>\n");
}

/* -------------------------------------------------------------- navigation */

/* Length of a page's address: "docs/README.md" is "docs/". */
static size_t
address_len(const char *path)
{
	size_t dir = path_dir_len(path), name = dir + (dir > 0);

	return strcmp(path + name, "README.md") == 0 ? name : strlen(path);
}

/* Links to the site, each folder on the path, the page's file. */
static void
put_crumbs(struct html_writer *s)
{
	const char *path = s->page->path;
	size_t start = 0;

	html_put(s, "<nav class=\"crumbs\" aria-label=\"Place\"><ol>\n<li><a");
	html_href(s, "", 0);
	html_put(s, ">site</a></li>\n");
	for (size_t i = 0; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		html_put(s, "<li><a");
		html_href(s, path, i + 1);
		html_put(s, ">");
		escape_html(s->out, path + start, i - start);
		html_put(s, "</a></li>\n");
		start = i + 1;
	}
	if (path[start] != '\0')
		html_in(s, "<li aria-current=\"page\">", path + start,
			"</li>\n");
	html_put(s, "</ol></nav>\n");
}

/* The name below its folder, without the page's ending. */
static struct ss_text
label_of(const char *path, const char *folder)
{
	const char *name = path + strlen(folder) + (folder[0] != '\0');
	struct ss_text t = { name, address_len(path) - (size_t)(name - path) };

	if (t.len == 0)
		return TEXT("Overview");
	if (text_ends(t, ".md"))
		t.len -= 3;
	else if (text_ends(t, ".markdown"))
		t.len -= 9;
	return t;
}

/* Is path the README.md of this folder? */
static bool
is_front_of(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return strncmp(path, folder, n) == 0 &&
		strcmp(path + n, "/README.md") == 0;
}

static void put_folder(struct html_writer *s, size_t depth, size_t skip);

/* One page; below the README.md of the next folder on the path, that folder. */
static bool
put_page(struct html_writer *s, size_t depth, const char *path)
{
	const struct html_folder *f = &s->page->folders[depth];
	bool next = depth + 1 < s->page->folder_count &&
		is_front_of(path, f[1].path);

	html_put(s, "<li><a");
	html_href(s, path, address_len(path));
	if (strcmp(path, s->page->path) == 0)
		html_put(s, " aria-current=\"page\"");
	html_put(s, ">");
	html_bytes(s, label_of(path, f->path));
	html_put(s, "</a>");
	if (next)
		put_folder(s, depth + 1, 1);
	html_put(s, "</li>\n");
	return next;
}

/*
 * One folder without its first `skip` pages, which are listed above it.  The
 * recursion is as deep as the path.
 */
static void
put_folder(struct html_writer *s, size_t depth, size_t skip)
{
	const struct html_folder *f = &s->page->folders[depth];
	bool below = depth + 1 == s->page->folder_count;

	if (f->count <= skip && below)
		return;
	html_put(s, "<ul>\n");
	for (size_t i = skip; i < f->count; i++)
		below |= put_page(s, depth, f->pages[i]);
	if (f->cut)
		html_put(s, "<li>… and more</li>\n");
	if (!below) {
		html_in(s, "<li>", f[1].path, "/");
		put_folder(s, depth + 1, 0);
		html_put(s, "</li>\n");
	}
	html_put(s, "</ul>\n");
}

static void
put_pages(struct html_writer *s)
{
	if (s->page->folder_count == 0)
		return;
	html_put(s,
		"<nav class=\"pages\" id=\"_pages\" aria-label=\"Pages\">\n"
		"<h2>Pages</h2>\n");
	put_folder(s, 0, 0);
	html_put(s, "</nav>\n");
}

static void
put_top(struct html_writer *s)
{
	size_t tools = s->page->front->spec_count;

	html_put(s,
		"<body>\n<a class=\"skip\" href=\"#_text\">Skip to the "
		"text</a>\n<header>\n");
	put_crumbs(s);
	html_put(s, "<ul class=\"jump\">\n");
	if (tools > 0) {
		html_put(s, "<li><a href=\"#_tools\">");
		buf_printf(s->out, "%zu tool%s</a></li>\n", tools,
			tools == 1 ? "" : "s");
	}
	if (s->page->folder_count > 0)
		html_put(s,
			"<li class=\"narrow\"><a href=\"#_pages\">Pages</a>"
			"</li>\n");
	html_put(s, "</ul>\n</header>\n");
}

/* -------------------------------------------------------------------- text */

static void
put_page_text(struct html_writer *s)
{
	struct ss_text html = s->page->html;

	html_put(s, "<article>\n");
	if (memmem(html.data, html.len, "<h1", 3) == NULL) {
		html_put(s, "<h1>");
		html_text(s, s->page->title);
		html_put(s, "</h1>\n");
	}
	buf_add(s->out, html.data, html.len);
	if (s->page->cut)
		html_put(s,
			"<p class=\"note\">The page is longer: this is its "
			"beginning.</p>\n");
	html_put(s, "</article>\n");
}

static void
put_problem(struct html_writer *s)
{
	const struct ss_error *err = s->page->error;

	html_put(s,
		"<section class=\"problem\" aria-labelledby=\"_problem\">\n"
		"<h2 id=\"_problem\">This page grants no tools</h2>\n");
	html_in(s, "<p>", err->message, "</p>\n");
	if (err->hint[0] != '\0')
		html_in(s, "<p>", err->hint, "</p>\n");
	html_put(s, "</section>\n");
}

static void
put_source(struct html_writer *s)
{
	html_put(s, "<p id=\"_source\">What an agent reads: <code>");
	buf_text(&s->scratch, "curl ");
	escape_shell(&s->scratch, s->page->url, strlen(s->page->url));
	html_scratch(s);
	html_put(s, "</code></p>\n");
}

static void
put_foot(struct html_writer *s, bool page)
{
	html_put(s, "<footer>\n");
	if (page)
		put_source(s);
	html_put(s, "<p><a");
	html_href(s, "AGENTS.md", 9);
	html_put(s, ">How agents use this site</a> · <a");
	html_href(s, "llms.txt", 8);
	html_put(s, ">List of its pages</a></p>\n</footer>\n");
}

/* The end of the document, after the main part.  Releases the writer. */
static void
put_end(struct html_writer *s, bool page)
{
	html_put(s, "</main>\n");
	put_pages(s);
	html_put(s, "</div>\n");
	put_foot(s, page);
	html_put(s, "</body>\n</html>\n");
	buf_release(&s->scratch);
}

void
html_page(const struct html_page *page, struct buf *out)
{
	struct html_writer s = {
		.page = page, .out = out, .scratch = BUF_INIT((size_t)1 << 20)
	};

	put_head(&s);
	put_top(&s);
	html_put(&s, "<div class=\"sheet\">\n<main id=\"_text\">\n");
	if (page->error->code != SS_OK)
		put_problem(&s);
	put_page_text(&s);
	html_tools(&s);
	put_end(&s, true);
}

/* ------------------------------------------------------------------ errors */

/* A heading for people; the code below it is the one that agents see. */
static const char *
heading_of(int status)
{
	static const struct {
		int status;
		const char *words;
	} known[] = {
		{ 400, "Not understood" },
		{ 401, "Who is it?" },
		{ 403, "Refused" },
		{ 404, "Not found" },
		{ 405, "Not done here" },
		{ 421, "Not this server" },
		{ 503, "Busy" },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (known[i].status == status)
			return known[i].words;
	return "Something went wrong";
}

static void
put_error(struct html_writer *s, int status)
{
	const struct ss_error *err = s->page->error;

	html_in(s, "<article class=\"trouble\">\n<h1>", heading_of(status),
		"</h1>\n");
	html_in(s, "<p>", err->message, "</p>\n");
	if (err->hint[0] != '\0')
		html_in(s, "<p>", err->hint, "</p>\n");
	if (s->page->next != NULL)
		html_in(s, "<p>Next: ", s->page->next, "</p>\n");
	html_in(s, "<p class=\"asked\"><code>", s->page->url,
		"</code></p>\n<p class=\"note\">");
	buf_printf(s->out, "Status %d, ", status);
	html_in(s, "<code>", ss_err_code(err->code), "</code></p>\n");
	html_put(s, "<p><a");
	html_href(s, "", 0);
	html_put(s, ">Back to the front page</a></p>\n</article>\n");
}

void
html_error(const struct html_page *page, int status, struct buf *out)
{
	struct frontmatter front = { .format = FRONT_NONE };
	struct html_page frame = *page;
	struct html_writer s = {
		.page = &frame, .out = out, .scratch = BUF_INIT((size_t)1 << 20)
	};

	frame.front = &front;
	frame.title = heading_of(status);
	frame.path = "";
	put_head(&s);
	put_top(&s);
	html_put(&s, "<div class=\"sheet\">\n<main id=\"_text\">\n");
	put_error(&s, status);
	put_end(&s, false);
}
