/* SPDX-License-Identifier: MIT */
#include "http/browser.h"

#include "base/error.h"
#include "http/assets.h"
#include "http/content.h"
#include "http/html.h"
#include "http/render.h"
#include "page/markdown.h"
#include "page/title.h"
#include "site/component.h"
#include "site/listing.h"
#include "site/page.h"
#include "site/refusal.h"
#include "wire/escape.h"
#include "wire/media.h"

#define FOLDERS_MAX 8
#define MEDIA_HTML "text/html; charset=utf-8"

bool
browser_wanted(const struct exchange *x, const char *path)
{
	static const char *const offers[] = { "text/markdown", "text/html" };

	return x->site->config.http.html && path_is_page(path) &&
		media_prefer(x->req->accept, offers, ARRAY_LEN(offers)) == 1;
}

/* ------------------------------------------------------------ addresses -- */

/* "./", or "../" for each folder of the address. */
static const char *
way_to_root(struct exchange *x, size_t depth)
{
	char *way = arena_alloc(&x->site->arena, depth * 3 + 3);

	if (way == NULL)
		return NULL;
	if (depth == 0)
		return memcpy(way, "./", 3);
	for (size_t i = 0; i < depth; i++)
		memcpy(way + 3 * i, "../", 4);
	return way;
}

/*
 * The address is [http] prefix without its slash: the site is one folder below
 * the browser's folder.  Outside of the prefix only an absolute path leads
 * there.
 */
static const char *
way_into_prefix(struct exchange *x, bool above)
{
	const char *name = x->site->config.http.prefix, *slash;
	size_t n = strlen(name);
	struct buf way = BUF_INIT(PATH_BYTES_MAX);
	const char *copy;

	while (n > 0 && name[n - 1] == '/')
		n--;
	slash = above ? memrchr(name, '/', n) : NULL;
	if (slash != NULL) {
		n -= (size_t)(slash + 1 - name);
		name = slash + 1;
	}
	escape_path(&way, name, n);
	buf_char(&way, '/');
	copy = arena_copy(&x->site->arena, way.data, way.len);
	buf_release(&way);
	return copy;
}

/*
 * A page may have the addresses /a, /a/ and /a.md, and browsers resolve
 * relative links against the address.  base leads from there to the page's
 * folder; "" when they are the same.
 */
static bool
find_ways(struct exchange *x, struct html_page *page)
{
	const char *asked = exchange_path(x);
	size_t dir = path_dir_len(page->path), depth = 0;

	if (asked == NULL || asked[0] == '\0') {
		page->root = way_into_prefix(x, asked != NULL);
	} else {
		for (const char *p = asked + 1; *p != '\0'; p++)
			depth += *p == '/';
		page->root = way_to_root(x, depth);
	}
	if (page->root == NULL)
		return false;
	page->base = "";
	if (asked != NULL && asked[0] != '\0' &&
		(size_t)(strrchr(asked, '/') - asked) == dir + (dir > 0) &&
		strncmp(asked + 1, page->path, dir) == 0)
		return true;
	if (dir == 0) {
		page->base = page->root;
		return true;
	}
	page->base = arena_printf(
		&x->site->arena, "%s%.*s/", page->root, (int)dir, page->path);
	return page->base != NULL;
}

/*
 * Only the front server knows whether it speaks TLS; view.js corrects the
 * address.
 */
static bool
find_url(struct exchange *x, struct html_page *page)
{
	struct buf url = BUF_INIT((size_t)1 << 16);
	const char *host = x->req->host != NULL ? x->req->host : "localhost";
	const char *path = x->req->path != NULL ? x->req->path : "/";

	buf_printf(&url, "http://%s", host);
	escape_path(&url, path, strlen(path));
	page->url = buf_ok(&url)
		? arena_copy(&x->site->arena, url.data, url.len)
		: NULL;
	buf_release(&url);
	return page->url != NULL;
}

/* ------------------------------------------------------------- contents -- */

static enum ss_err
list_shown(struct exchange *x, const char *folder, struct listing *out,
	struct ss_error *err)
{
	struct ss_site *site = x->site;
	enum ss_err code =
		listing_folder(&site->catalog.source, folder, out, err);

	if (code == SS_OK)
		code = hidden_pages_drop(
			&site->hidden_pages, &site->documents, out, err);
	return code;
}

static enum ss_err
list_folder(struct exchange *x, const char *path, struct html_folder *out)
{
	struct listing l;
	enum ss_err code = list_shown(x, path, &l, &x->err);

	if (code == SS_OK)
		*out = (struct html_folder){ .path = path,
			.pages = l.paths,
			.count = l.count,
			.cut = l.cut };
	return code;
}

/*
 * The site's folder and each one on the way to the page's, at most FOLDERS_MAX.
 */
static enum ss_err
list_folders(struct exchange *x, struct html_page *page)
{
	struct html_folder *folders =
		arena_array(&x->site->arena, FOLDERS_MAX, sizeof(*folders));
	size_t dir = path_dir_len(page->path);
	enum ss_err code;

	if (folders == NULL)
		return error_memory(&x->err);
	code = list_folder(x, "", &folders[0]);
	page->folders = folders;
	page->folder_count = 1;
	for (size_t i = 1; code == SS_OK && i <= dir; i++) {
		const char *path;

		if (page->path[i] != '/' || page->folder_count == FOLDERS_MAX)
			continue;
		path = arena_copy(&x->site->arena, page->path, i);
		code = path != NULL
			? list_folder(x, path, &folders[page->folder_count++])
			: error_memory(&x->err);
	}
	if (folders[0].count == 0 && page->folder_count == 1)
		page->folder_count = 0;
	return code;
}

/* Reads as much of the document as is shown, with its components run. */
static enum ss_err
read_text(
	struct exchange *x, struct page *parsed, bool rendered, struct buf *out)
{
	struct component_job job = { .executor = &x->site->exec_state,
		.doc = &x->doc,
		.page = parsed,
		.request_id = x->id,
		.client_fd = x->req->client_fd };

	if (rendered)
		return component_render(&job, out, &x->err);
	if (x->doc.fd >= 0)
		return page_read(&x->doc, out, &x->err);
	buf_add(out, x->doc.data,
		x->doc.length < out->max ? x->doc.length : out->max);
	out->full = x->doc.length > out->max;
	return out->failed ? error_memory(&x->err) : SS_OK;
}

/* The text after the frontmatter, as much of it as is shown. */
static void
use_text(const struct buf *text, size_t body, struct html_page *page)
{
	page->text = buf_view(text);
	page->cut = text->full || text->len > MARKDOWN_BYTES_MAX;
	if (page->text.len > MARKDOWN_BYTES_MAX)
		page->text.len = MARKDOWN_BYTES_MAX;
	if (body > page->text.len)
		body = page->text.len;
	page->text.data += body;
	page->text.len -= body;
}

/* A page that grants nothing keeps its title and shows the reason. */
static void
use_front(struct exchange *x, const struct page *parsed,
	struct frontmatter *front, struct html_page *page)
{
	*front = parsed->front;
	page->front = front;
	page->error = &parsed->error;
	if (parsed->error.code == SS_OK &&
		documents_writable(&x->site->documents, &x->doc) &&
		front->spec_count > 0) {
		error_set(&x->err, SS_NOT_ALLOWED,
			"It lies where tools may write.");
		page->error = &x->err;
	}
	if (page->error->code != SS_OK)
		front->spec_count = 0;
}

/* The powers of all tools in one array. */
static bool
use_powers(
	struct exchange *x, const struct page *parsed, struct html_page *page)
{
	size_t count = page->front->spec_count;
	struct powers *powers =
		arena_array(&x->site->arena, count + 1, sizeof(*powers));

	for (size_t i = 0; powers != NULL && i < count; i++)
		powers[i] = parsed->rights.tools[i].powers;
	page->powers = powers;
	return powers != NULL;
}

/* ------------------------------------------------------------- the answer -- */

static void
add_policy(struct exchange *x)
{
	exchange_header(x, "Content-Security-Policy", HTML_POLICY);
	exchange_header(x, "Referrer-Policy", "same-origin");
}

static enum ss_err
write_page(struct exchange *x, struct html_page *page)
{
	struct buf html = BUF_INIT(HTML_BYTES_MAX / 2);
	enum ss_err code = list_folders(x, page);

	if (code != SS_OK)
		return code;
	page->title = title_find(
		&x->site->arena, page->front, page->path, page->text);
	if (page->title == NULL || !find_ways(x, page) || !find_url(x, page))
		return error_memory(&x->err);
	render_markdown(page->text, page->base, NULL, &html);
	page->html = buf_view(&html);
	x->body.max = HTML_BYTES_MAX;
	page->version = assets_version();
	page->server = x->site->config.env;
	page->server_count = x->site->config.env_count;
	page->timeout = x->site->config.limits.timeout;
	html_page(page, &x->body);
	if (!buf_ok(&html))
		x->body.failed = true;
	buf_release(&html);
	return buf_ok(&x->body) ? SS_OK : error_memory(&x->err);
}

/* The output of components depends on the time: no cache may keep it. */
static void
add_headers(struct exchange *x, bool rendered)
{
	exchange_guide(x);
	if (!rendered) {
		content_made(x, MEDIA_HTML, "no-cache");
	} else {
		exchange_header(x, "Cache-Control", "no-store");
		exchange_header(x, "Vary", "Accept");
		exchange_body(x, 200, MEDIA_HTML);
	}
	add_policy(x);
}

static enum ss_err
show_page(struct exchange *x, struct page *parsed, bool rendered)
{
	struct buf text = BUF_INIT(MARKDOWN_BYTES_MAX);
	struct html_page page = { .path = x->doc.path };
	struct frontmatter front;
	enum ss_err code = read_text(x, parsed, rendered, &text);

	if (code == SS_OK) {
		use_front(x, parsed, &front, &page);
		use_text(&text, parsed->front.body, &page);
		code = use_powers(x, parsed, &page) ? write_page(x, &page)
						    : error_memory(&x->err);
	}
	buf_release(&text);
	if (code == SS_OK)
		add_headers(x, rendered);
	return code;
}

enum ss_err
browser_answer(struct exchange *x)
{
	struct page *parsed = x->parsed;
	bool rendered =
		component_applies(&x->site->exec_state, &x->doc, parsed);

	if (!rendered || !exchange_is(x, "HEAD"))
		return show_page(x, parsed, rendered);
	add_headers(x, rendered);
	x->length = SS_LENGTH_UNKNOWN;
	return SS_OK;
}

enum ss_err
browser_show(struct exchange *x, const char *path, struct ss_text text)
{
	struct frontmatter front = { .format = FRONT_NONE };
	struct ss_error fine = { .code = SS_OK };
	struct html_page page = {
		.path = path, .text = text, .front = &front, .error = &fine
	};
	enum ss_err code = write_page(x, &page);

	if (code == SS_OK)
		add_headers(x, false);
	return code;
}

/* --------------------------------------------------------------- an error -- */

bool
browser_wants_error(const struct exchange *x)
{
	static const char *const offers[] = { "text/plain", "application/json",
		"text/html" };

	return x->site->config.http.html && !x->json_errors &&
		(exchange_is(x, "GET") || exchange_is(x, "HEAD")) &&
		media_prefer(x->req->accept, offers, ARRAY_LEN(offers)) == 2;
}

/*
 * The list of pages is shown only to clients that may read them: a request that
 * was refused before "resolve" may come from another origin, or a hook refused
 * it.
 */
static void
list_around(struct exchange *x, struct html_page *page, struct html_folder *out)
{
	struct listing l;

	if (strcmp(x->stage, "resolve") != 0 ||
		list_shown(x, "", &l, NULL) != SS_OK || l.count == 0)
		return;
	*out = (struct html_folder){
		.path = "", .pages = l.paths, .count = l.count, .cut = l.cut
	};
	page->folders = out;
	page->folder_count = 1;
}

/* Replaces the Content-Type of the text. */
static void
set_html_type(struct exchange *x)
{
	for (size_t i = 0; i < x->header_count; i++)
		if (strcmp(x->headers[i].name, "Content-Type") == 0)
			x->headers[i].value = MEDIA_HTML;
}

void
browser_error(struct exchange *x)
{
	struct html_page page = { .path = "", .error = &x->err };
	struct buf html = BUF_INIT(x->body.max);
	struct buf next = BUF_INIT(4096);
	struct html_folder around;

	refusal_print(&x->err, &x->result, &next);
	if (buf_ok(&next))
		page.next = next.data;
	list_around(x, &page, &around);
	page.version = assets_version();
	if (find_ways(x, &page) && find_url(x, &page))
		html_error(&page, x->status, &html);
	if (html.len > 0 && buf_ok(&html)) {
		buf_release(&x->body);
		x->body = html;
		html = BUF_INIT(0);
		x->length = x->body.len;
		set_html_type(x);
		add_policy(x);
	}
	buf_release(&next);
	buf_release(&html);
}
