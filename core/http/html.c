/* SPDX-License-Identifier: MIT */
/* Our ids in the document begin with '_': a heading's never does. */
#include "http/html.h"

#include <inttypes.h>

#include "page/env.h"
#include "wire/escape.h"
#include "wire/json.h"
#include "wire/path.h"
#include "wire/proto.h"

/* Limits of the tools that are shown as cards. */
#define CARDS_MAX 500
#define CARDS_BYTES_MAX ((size_t)4 << 20)

struct writer {
	const struct html_page *page;
	struct buf *out;
	struct buf scratch; /* text that is not yet escaped */
};

/* ------------------------------------------------------------------ pieces */

static void
put(struct writer *s, const char *html)
{
	buf_text(s->out, html);
}

static void
put_text(struct writer *s, const char *text)
{
	escape_html(s->out, text, strlen(text));
}

static void
put_bytes(struct writer *s, struct ss_text text)
{
	escape_html(s->out, text.data, text.len);
}

/* Escaped text between two pieces of HTML. */
static void
put_in(struct writer *s, const char *open, const char *text, const char *close)
{
	put(s, open);
	put_text(s, text);
	put(s, close);
}

/* Escapes what is in the scratch buffer. */
static void
put_scratch(struct writer *s)
{
	put_bytes(s, buf_view(&s->scratch));
	s->out->failed |= s->scratch.failed;
	s->out->full |= s->scratch.full;
	buf_clear(&s->scratch);
}

/* The href of a path of the site. */
static void
put_href(struct writer *s, const char *path, size_t len)
{
	put_in(s, " href=\"", s->page->root, "");
	escape_path(s->out, path, len);
	put(s, "\"");
}

static void
put_head(struct writer *s)
{
	const struct html_page *page = s->page;

	put(s,
		"<!doctype html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n<title>");
	put_text(s, s->page->title);
	put(s,
		"</title>\n<meta name=\"viewport\" "
		"content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n");
	if (page->front->description != NULL)
		put_in(s, "<meta name=\"description\" content=\"",
			page->front->description, "\">\n");
	put_in(s, "<link rel=\"stylesheet\" href=\"", page->root,
		"__meta/view.css?v=");
	put_in(s, "", page->version, "\">\n");
	put_in(s, "<link rel=\"icon\" type=\"image/svg+xml\" href=\"",
		page->root, "favicon.svg\">\n");
	put_in(s, "<script defer src=\"", page->root, "__meta/view.js?v=");
	put_in(s, "", page->version, "\"></script>\n</head>\n");
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
put_crumbs(struct writer *s)
{
	const char *path = s->page->path;
	size_t start = 0;

	put(s, "<nav class=\"crumbs\" aria-label=\"Place\"><ol>\n<li><a");
	put_href(s, "", 0);
	put(s, ">site</a></li>\n");
	for (size_t i = 0; path[i] != '\0'; i++) {
		if (path[i] != '/')
			continue;
		put(s, "<li><a");
		put_href(s, path, i + 1);
		put(s, ">");
		escape_html(s->out, path + start, i - start);
		put(s, "</a></li>\n");
		start = i + 1;
	}
	if (path[start] != '\0')
		put_in(s, "<li aria-current=\"page\">", path + start,
			"</li>\n");
	put(s, "</ol></nav>\n");
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

static void put_folder(struct writer *s, size_t depth, size_t skip);

/* One page; below the README.md of the next folder on the path, that folder. */
static bool
put_page(struct writer *s, size_t depth, const char *path)
{
	const struct html_folder *f = &s->page->folders[depth];
	bool next = depth + 1 < s->page->folder_count &&
		is_front_of(path, f[1].path);

	put(s, "<li><a");
	put_href(s, path, address_len(path));
	if (strcmp(path, s->page->path) == 0)
		put(s, " aria-current=\"page\"");
	put(s, ">");
	put_bytes(s, label_of(path, f->path));
	put(s, "</a>");
	if (next)
		put_folder(s, depth + 1, 1);
	put(s, "</li>\n");
	return next;
}

/*
 * One folder without its first `skip` pages, which are listed above it.  The
 * recursion is as deep as the path.
 */
static void
put_folder(struct writer *s, size_t depth, size_t skip)
{
	const struct html_folder *f = &s->page->folders[depth];
	bool below = depth + 1 == s->page->folder_count;

	if (f->count <= skip && below)
		return;
	put(s, "<ul>\n");
	for (size_t i = skip; i < f->count; i++)
		below |= put_page(s, depth, f->pages[i]);
	if (f->cut)
		put(s, "<li>… and more</li>\n");
	if (!below) {
		put_in(s, "<li>", f[1].path, "/");
		put_folder(s, depth + 1, 0);
		put(s, "</li>\n");
	}
	put(s, "</ul>\n");
}

static void
put_pages(struct writer *s)
{
	if (s->page->folder_count == 0)
		return;
	put(s,
		"<nav class=\"pages\" id=\"_pages\" aria-label=\"Pages\">\n"
		"<h2>Pages</h2>\n");
	put_folder(s, 0, 0);
	put(s, "</nav>\n");
}

static void
put_top(struct writer *s)
{
	size_t tools = s->page->front->spec_count;

	put(s,
		"<body>\n<a class=\"skip\" href=\"#_text\">Skip to the "
		"text</a>\n<header>\n");
	put_crumbs(s);
	put(s, "<ul class=\"jump\">\n");
	if (tools > 0) {
		put(s, "<li><a href=\"#_tools\">");
		buf_printf(s->out, "%zu tool%s</a></li>\n", tools,
			tools == 1 ? "" : "s");
	}
	if (s->page->folder_count > 0)
		put(s,
			"<li class=\"narrow\"><a href=\"#_pages\">Pages</a>"
			"</li>\n");
	put(s, "</ul>\n</header>\n");
}

/* -------------------------------------------------------------------- text */

static void
put_page_text(struct writer *s)
{
	struct ss_text html = s->page->html;

	put(s, "<article>\n");
	if (memmem(html.data, html.len, "<h1", 3) == NULL) {
		put(s, "<h1>");
		put_text(s, s->page->title);
		put(s, "</h1>\n");
	}
	buf_add(s->out, html.data, html.len);
	if (s->page->cut)
		put(s,
			"<p class=\"note\">The page is longer: this is its "
			"beginning.</p>\n");
	put(s, "</article>\n");
}

static void
put_problem(struct writer *s)
{
	const struct ss_error *err = s->page->error;

	put(s,
		"<section class=\"problem\" aria-labelledby=\"_problem\">\n"
		"<h2 id=\"_problem\">This page grants no tools</h2>\n");
	put_in(s, "<p>", err->message, "</p>\n");
	if (err->hint[0] != '\0')
		put_in(s, "<p>", err->hint, "</p>\n");
	put(s, "</section>\n");
}

/* ------------------------------------------------------------ what it runs */

/* A name for a part that the agent fills in. */
static void
add_name(struct buf *out, const struct part *p, size_t i)
{
	if (p->name != NULL)
		buf_text(out, p->name);
	else
		buf_printf(out, "word %zu", i + 1);
}

/* The command as JSON; a part to be filled in is null, or its name. */
static void
add_command(struct buf *out, const struct spec *spec, bool names)
{
	struct buf name = BUF_INIT(4096);

	buf_char(out, '[');
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *p = &spec->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (p->kind == PART_TEXT) {
			json_string(out, p->text.data, p->text.len);
		} else if (!names) {
			buf_text(out, "null");
		} else {
			buf_clear(&name);
			buf_char(&name, '{');
			add_name(&name, p, i);
			buf_char(&name, '}');
			json_string(out, name.data, name.len);
		}
	}
	buf_char(out, ']');
	out->failed |= name.failed;
	buf_release(&name);
}

/* The command as in a shell, with <var> for each word that is not fixed. */
static void
put_command(struct writer *s, const struct spec *spec)
{
	put(s, "<p class=\"line\"><code>");
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *p = &spec->parts[i];

		put(s, i > 0 ? " " : "");
		if (p->kind == PART_TEXT) {
			escape_shell(&s->scratch, p->text.data, p->text.len);
			put_scratch(s);
			continue;
		}
		put(s, "<var>");
		add_name(&s->scratch, p, i);
		put_scratch(s);
		put(s, "</var>");
	}
	put(s, spec->locked ? "" : " <var class=\"more\">…</var>");
	put(s, "</code></p>\n");
}

static void
put_curl(struct writer *s, const struct spec *spec)
{
	struct buf body = BUF_INIT(s->scratch.max);

	buf_text(&body, "{\"command\": ");
	add_command(&body, spec, true);
	buf_text(&body, spec->takes_stdin ? ", \"stdin\": \"text\"}" : "}");
	buf_text(&s->scratch, "curl --json ");
	escape_shell(&s->scratch, body.data, body.len);
	buf_char(&s->scratch, ' ');
	escape_shell(&s->scratch, s->page->url, strlen(s->page->url));
	put(s,
		"<div class=\"curl\">\n<pre tabindex=\"0\" "
		"aria-label=\"The same with curl\"><code>");
	put_scratch(s);
	put(s,
		"</code></pre>\n<button type=\"button\" class=\"copy\" hidden>"
		"Copy</button>\n</div>\n");
	s->out->failed |= body.failed;
	s->out->full |= body.full;
	buf_release(&body);
}

/* ------------------------------------------------------- what it may touch */

static void
put_names(struct writer *s, const char *before, const struct name_list *list,
	const char *class)
{
	put_in(s, "<li class=\"", class, "\">");
	put(s, before);
	for (size_t i = 0; i < list->count; i++)
		put_in(s, i > 0 ? ", <code>" : " <code>", list->names[i],
			"</code>");
	put(s, "</li>\n");
}

static void
put_network(struct writer *s, const struct powers *p)
{
	switch (p->asked.network) {
	case NETWORK_UNSET:
	case NETWORK_OFF:
		put(s,
			p->http ? "<li class=\"wide\">the public Internet, "
				  "over HTTP</li>\n"
				: "<li>no network</li>\n");
		return;
	case NETWORK_LISTED:
		put_names(s, "network", &p->asked.network_targets, "wide");
		return;
	case NETWORK_ALL:
		put(s,
			"<li class=\"wide\">every network that the server "
			"reaches</li>\n");
	}
}

static void
put_files(struct writer *s, const struct wants *asked)
{
	if (asked->read.count > 0)
		put_names(s, "reads this site and", &asked->read, "");
	else
		put(s, "<li>reads this site</li>\n");
	if (asked->write.count > 0)
		put_names(s, "writes", &asked->write, "wide");
	else
		put(s, "<li>writes nothing</li>\n");
	if (asked->unix_sockets.count > 0)
		put_names(s, "local sockets", &asked->unix_sockets, "wide");
}

static void
put_programs(struct writer *s, const struct powers *p)
{
	if (p->any_program)
		put(s, "<li class=\"wide\">may start any program</li>\n");
	else if (p->asked.exec.count > 0)
		put_names(s, "may start", &p->asked.exec, "");
	if (p->asked.proc)
		put(s, "<li class=\"wide\">sees its processes</li>\n");
}

static void
put_bytes_limit(struct writer *s, uint64_t bytes)
{
	if (bytes >= (uint64_t)1 << 20)
		buf_printf(s->out, "<li>%" PRIu64 " MiB of memory</li>\n",
			bytes >> 20);
	else if (bytes > 0)
		buf_printf(s->out, "<li>%" PRIu64 " bytes of memory</li>\n",
			bytes);
}

static void
put_limits(struct writer *s, const struct spec *spec, const struct powers *p)
{
	const struct wants *asked = &p->asked;

	buf_printf(s->out, "<li>at most %g s</li>\n",
		powers_timeout(p, s->page->timeout));
	put_bytes_limit(s, asked->memory_bytes);
	if (asked->processes > 0)
		buf_printf(s->out, "<li>%" PRIu64 " processes</li>\n",
			asked->processes);
	if (spec->max_running > 0)
		buf_printf(s->out, "<li>%" PRIu64 " at a time</li>\n",
			spec->max_running);
	if (spec->confirm)
		put(s, "<li>a person is asked first</li>\n");
}

static void
put_powers(struct writer *s, const struct spec *spec, const struct powers *p)
{
	put(s, "<ul class=\"touch\" aria-label=\"What it may touch\">\n");
	put_network(s, p);
	put_files(s, &p->asked);
	put_programs(s, p);
	put_limits(s, spec, p);
	put(s, "</ul>\n");
}

/* -------------------------------------------------------------- the fields */

/* The id of a field; its help text has the same id and 'h'. */
static void
put_id(struct writer *s, size_t tool, const char *kind, size_t i)
{
	buf_printf(s->out, "_t%zu-%s%zu", tool, kind, i);
}

static void
put_label(struct writer *s, size_t tool, const char *kind, size_t i,
	const char *text)
{
	put(s, "<div class=\"field\">\n<label for=\"");
	put_id(s, tool, kind, i);
	put_in(s, "\">", text, "</label>\n");
}

/* Writes "<input …" without the end, so that the caller can add attributes. */
static void
put_input(struct writer *s, size_t tool, const char *kind, size_t i, bool help)
{
	put(s,
		"<input type=\"text\" autocomplete=\"off\" "
		"autocapitalize=\"off\" spellcheck=\"false\" id=\"");
	put_id(s, tool, kind, i);
	put(s, "\"");
	if (!help)
		return;
	put(s, " aria-describedby=\"");
	put_id(s, tool, kind, i);
	put(s, "h\"");
}

static void
put_help(struct writer *s, size_t tool, const char *kind, size_t i)
{
	put(s, "<p class=\"help\" id=\"");
	put_id(s, tool, kind, i);
	put(s, "h\">");
}

static void
put_word(struct writer *s, size_t tool, const struct part *p, size_t i)
{
	bool regex = p->kind == PART_REGEX;
	bool help = regex || p->description != NULL;

	add_name(&s->scratch, p, i);
	put(s, "<div class=\"field\">\n<label for=\"");
	put_id(s, tool, "w", i);
	put(s, "\">");
	put_scratch(s);
	put(s, "</label>\n");
	put_input(s, tool, "w", i, help);
	buf_printf(s->out, " data-word=\"%zu\"", i);
	if (regex)
		put_in(s, " data-regex=\"", p->text.data, "\"");
	put(s, ">\n");
	if (help) {
		put_help(s, tool, "w", i);
		if (p->description != NULL)
			put_text(s, p->description);
		if (regex && p->description != NULL)
			put(s, "; ");
		if (regex)
			put_in(s, "must match <code>", p->text.data, "</code>");
		put(s, "</p>\n");
	}
	put(s, "</div>\n");
}

static void
put_extra(struct writer *s, size_t tool)
{
	put_label(s, tool, "x", 0, "more words");
	put_input(s, tool, "x", 0, true);
	put(s, " data-more>\n");
	put_help(s, tool, "x", 0);
	put(s,
		"optional; divided by blanks, quotes keep one together</p>\n"
		"</div>\n");
}

static void
put_variables(struct writer *s, size_t tool, const struct spec *spec)
{
	const struct name_list *list = &s->page->front->env;
	const struct env_scope scope = { .server = s->page->server,
		.server_count = s->page->server_count,
		.page = list,
		.tool = &spec->env };

	/* A full card is thrown away: the rest of it is not worth writing. */
	for (size_t i = 0; i < list->count && buf_ok(s->out); i++) {
		const char *name = list->names[i];

		if (!env_is_open(&scope, name))
			continue;
		put_label(s, tool, "e", i, name);
		put_input(s, tool, "e", i, true);
		put_in(s, " data-env=\"", name, "\">\n");
		put_help(s, tool, "e", i);
		put(s,
			"optional; a variable of the environment</p>\n"
			"</div>\n");
	}
}

static void
put_stdin(struct writer *s, size_t tool)
{
	put_label(s, tool, "s", 0, "standard input");
	put(s, "<textarea rows=\"4\" spellcheck=\"false\" id=\"");
	put_id(s, tool, "s", 0);
	put(s, "\" data-stdin></textarea>\n</div>\n");
}

static void
put_form(struct writer *s, size_t tool, const struct spec *spec)
{
	put(s, "<form data-command=\"");
	add_command(&s->scratch, spec, false);
	put_scratch(s);
	put(s, "\">\n");
	for (size_t i = 0; i < spec->part_count; i++)
		if (spec->parts[i].kind != PART_TEXT)
			put_word(s, tool, &spec->parts[i], i);
	if (!spec->locked)
		put_extra(s, tool);
	put_variables(s, tool, spec);
	if (spec->takes_stdin)
		put_stdin(s, tool);
	put(s,
		"<div class=\"act\"><button type=\"submit\" hidden>Run</button>"
		"</div>\n</form>\n");
}

/* ------------------------------------------------------------------- cards */

static void
put_name(struct writer *s, const struct spec *spec)
{
	const struct part *first = &spec->parts[0];

	if (spec->title != NULL)
		put_text(s, spec->title);
	else if (spec->name != NULL)
		put_text(s, spec->name);
	else if (first->kind == PART_TEXT)
		put_bytes(s, first->text);
	else
		put(s, "any program");
}

static void
put_card(struct writer *s, size_t tool, const struct spec *spec)
{
	put(s, "<div class=\"tool\" role=\"group\" aria-labelledby=\"");
	put_id(s, tool, "n", 0);
	put(s, "\">\n<h3 id=\"");
	put_id(s, tool, "n", 0);
	put(s, "\">");
	put_name(s, spec);
	put(s, "</h3>\n");
	if (spec->description != NULL)
		put_in(s, "<p>", spec->description, "</p>\n");
	put_command(s, spec);
	put_form(s, tool, spec);
	put(s, "<div class=\"result\" aria-live=\"polite\"></div>\n");
	put_powers(s, spec, &s->page->powers[tool]);
	put_curl(s, spec);
	put(s, "</div>\n");
}

/* False when the card is longer than *left bytes. */
static bool
fit_card(struct writer *s, size_t tool, const struct spec *spec, size_t *left)
{
	struct buf card = BUF_INIT(*left), *out = s->out;
	bool fits;

	s->out = &card;
	put_card(s, tool, spec);
	s->out = out;
	fits = !card.full;
	out->failed |= card.failed;
	if (fits)
		buf_add(out, card.data, card.len);
	*left -= fits ? card.len : 0;
	buf_release(&card);
	return fits;
}

static void
put_left_out(struct writer *s, size_t count)
{
	if (count > 0)
		buf_printf(s->out,
			"<p class=\"note\">%zu more tool%s not shown here: "
			"<a href=\"#_source\">the source</a> of the page has "
			"them all.</p>\n",
			count, count == 1 ? " is" : "s are");
}

static void
put_tools(struct writer *s)
{
	const struct frontmatter *front = s->page->front;
	size_t left = CARDS_BYTES_MAX, shown = 0;

	if (front->spec_count == 0)
		return;
	put(s,
		"<section class=\"tools\" aria-labelledby=\"_tools\">\n"
		"<h2 id=\"_tools\">Tools</h2>\n"
		"<p class=\"note\" data-still>The forms need script. The command "
		"lines below them do not.</p>\n");
	for (size_t i = 0; i < front->spec_count && i < CARDS_MAX; i++)
		shown += fit_card(s, i, &front->specs[i], &left);
	put_left_out(s, front->spec_count - shown);
	put(s, "</section>\n");
}

static void
put_source(struct writer *s)
{
	put(s, "<p id=\"_source\">What an agent reads: <code>");
	buf_text(&s->scratch, "curl ");
	escape_shell(&s->scratch, s->page->url, strlen(s->page->url));
	put_scratch(s);
	put(s, "</code></p>\n");
}

static void
put_foot(struct writer *s, bool page)
{
	put(s, "<footer>\n");
	if (page)
		put_source(s);
	put(s, "<p><a");
	put_href(s, "AGENTS.md", 9);
	put(s, ">How agents use this site</a> · <a");
	put_href(s, "llms.txt", 8);
	put(s, ">List of its pages</a></p>\n</footer>\n");
}

/* The end of the document, after the main part.  Releases the writer. */
static void
put_end(struct writer *s, bool page)
{
	put(s, "</main>\n");
	put_pages(s);
	put(s, "</div>\n");
	put_foot(s, page);
	put(s, "</body>\n</html>\n");
	buf_release(&s->scratch);
}

void
html_page(const struct html_page *page, struct buf *out)
{
	struct writer s = {
		.page = page, .out = out, .scratch = BUF_INIT((size_t)1 << 20)
	};

	put_head(&s);
	put_top(&s);
	put(&s, "<div class=\"sheet\">\n<main id=\"_text\">\n");
	if (page->error->code != SS_OK)
		put_problem(&s);
	put_page_text(&s);
	put_tools(&s);
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
put_error(struct writer *s, int status)
{
	const struct ss_error *err = s->page->error;

	put_in(s, "<article class=\"trouble\">\n<h1>", heading_of(status),
		"</h1>\n");
	put_in(s, "<p>", err->message, "</p>\n");
	if (err->hint[0] != '\0')
		put_in(s, "<p>", err->hint, "</p>\n");
	put_in(s, "<p class=\"asked\"><code>", s->page->url,
		"</code></p>\n<p class=\"note\">");
	buf_printf(s->out, "Status %d, ", status);
	put_in(s, "<code>", ss_err_code(err->code), "</code></p>\n");
	put(s, "<p><a");
	put_href(s, "", 0);
	put(s, ">Back to the front page</a></p>\n</article>\n");
}

void
html_error(const struct html_page *page, int status, struct buf *out)
{
	struct frontmatter front = { .format = FRONT_NONE };
	struct html_page frame = *page;
	struct writer s = {
		.page = &frame, .out = out, .scratch = BUF_INIT((size_t)1 << 20)
	};

	frame.front = &front;
	frame.title = heading_of(status);
	frame.path = "";
	put_head(&s);
	put_top(&s);
	put(&s, "<div class=\"sheet\">\n<main id=\"_text\">\n");
	put_error(&s, status);
	put_end(&s, false);
}
