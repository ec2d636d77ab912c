/* SPDX-License-Identifier: MIT */
#include "virtual.h"

#include "assets.h"
#include "browser.h"
#include "content.h"
#include "error.h"
#include "escape.h"
#include "listing.h"
#include "markdown.h"
#include "media.h"
#include "page.h"
#include "json.h"
#include "proto.h"

#define TEXT_BYTES_MAX ((size_t)512 << 10) /* of a list */
#define HEADING_BYTES_MAX 16384            /* of a page, to find its heading */

/* ------------------------------------------------------------- one page -- */

/* A page while something is said about it. */
struct item {
	const char *path;
	const struct page *page;
	struct buf title;
};

/* Author's text as one line. */
static void
add_line(struct buf *out, const char *text, size_t len)
{
	bool blank = false;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f) {
			blank = true;
			continue;
		}
		if (blank && i > 0)
			buf_char(out, ' ');
		blank = false;
		buf_char(out, text[i]);
	}
}

/* In backticks, more of them than stand in it. */
static void
add_code(struct buf *out, const char *text, size_t len)
{
	size_t longest = 0, run = 0;
	bool pad;

	for (size_t i = 0; i < len; i++) {
		run = text[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	pad = len > 0 && (text[0] == '`' || text[len - 1] == '`');
	for (size_t i = 0; i <= longest; i++)
		buf_char(out, '`');
	buf_text(out, pad ? " " : "");
	add_line(out, text, len);
	buf_text(out, pad ? " " : "");
	for (size_t i = 0; i <= longest; i++)
		buf_char(out, '`');
}

static void
find_heading(const struct ss_document *doc, size_t body, struct buf *out)
{
	struct buf text = BUF_INIT(HEADING_BYTES_MAX);

	if (page_read(doc, &text, NULL) == SS_OK && body < text.len)
		markdown_heading(
			(struct ss_text){ text.data + body, text.len - body },
			out);
	buf_release(&text);
}

/* Frontmatter's title, else the first heading, else the path; one line. */
static void
find_title(const struct ss_document *doc, struct item *item)
{
	const struct frontmatter *front = &item->page->front;
	struct buf heading = BUF_INIT(HEADING_BYTES_MAX);
	const char *title = front->title;

	if (title == NULL) {
		find_heading(doc, front->body, &heading);
		title = heading.len > 0 ? heading.data : item->path;
	}
	add_line(&item->title, title, strlen(title));
	buf_release(&heading);
}

typedef void (*say_fn)(
	struct exchange *x, const struct item *item, struct buf *out);

/* Has one page described; one that is gone meanwhile is left out. */
static enum ss_err
describe(struct exchange *x, const char *path, say_fn say, struct buf *out)
{
	const struct ss_resolver *resolver = &x->site->resolver;
	struct item item = { .path = path, .title = BUF_INIT(4096) };
	struct page *page;
	enum ss_err code;

	if (resolver->open(resolver->ctx, path, &x->doc, NULL) != SS_OK)
		return SS_OK;
	code = page_get(x->site, &x->doc, &page, &x->err);
	if (code == SS_OK) {
		item.page = page;
		find_title(&x->doc, &item);
		say(x, &item, out);
	}
	buf_release(&item.title);
	resolver->close(resolver->ctx, &x->doc);
	return code;
}

/* A page that does not fit any more is taken out again, whole. */
static enum ss_err
each_page(struct exchange *x, say_fn say, struct buf *out)
{
	struct listing l;
	enum ss_err code = listing_site(x->site, &l, &x->err);
	size_t room = out->max;

	out->max = out->len + TEXT_BYTES_MAX;
	for (size_t i = 0; code == SS_OK && i < l.count && !out->full; i++) {
		size_t before = out->len;

		code = describe(x, l.paths[i], say, out);
		if (out->full)
			out->len = before;
	}
	l.cut |= out->full;
	out->full = false;
	out->max = room;
	if (code == SS_OK && l.cut)
		buf_text(
			out, "\nThe list is cut here: there are more pages.\n");
	return code;
}

/* ------------------------------------------------------------- AGENTS.md -- */

static const char how_to[] =
	"# How to use this site\n"
	"\n"
	"Every page is Markdown. Read it with GET; run one of the commands "
	"that it lists with POST to the same address. Paths below are relative "
	"to the address that this file came from.\n"
	"\n"
	"## Read\n"
	"\n"
	"    curl -sS http://HOST/PAGE\n"
	"\n"
	"A folder answers with its `README.md`, and `.md` may be left out. The "
	"block between `---` (or `+++`) at the top is the page's frontmatter: "
	"`tools` are the commands that it allows, everything else is refused. "
	"Data files beside the pages can be read the same way.\n"
	"\n"
	"## Run\n"
	"\n"
	"    curl -sS --json '{\"command\": [\"WORD\", \"WORD\"]}' "
	"http://HOST/PAGE\n"
	"\n"
	"- `command` is a list of words, not a line for a shell: no quoting, "
	"no pipes, no wildcards, no `&&`. One word of the list is one argument.\n"
	"- The answer is `{\"stdout\": \"...\", \"stderr\": \"...\", "
	"\"returncode\": 0}`, with status 200 whenever the command ran, "
	"whatever its exit code.\n"
	"- A refusal has `error`: `{\"code\", \"message\", \"hint\"}`. Read the "
	"hint; for `not_allowed` it lists what the page allows.\n"
	"- After status 408 the command ran and was stopped: it took too long.\n"
	"\n"
	"How the words of a tool are matched:\n"
	"\n"
	"- A plain word must stand exactly as it is written.\n"
	"- `{name}` or `{}` is one word of your choice, in its place. You may "
	"send the template as it is, with the words beside it: `{\"command\": "
	"[\"grep\", \"{word}\"], \"args\": {\"word\": \"peace\"}}`.\n"
	"- `{ regex: ... }` is one word that the expression must match.\n"
	"- Without a last `;` more words may follow; with it, none.\n"
	"- Words of your choice are relative paths at most: no leading `/`, no "
	"`..`, unless a regex of the page allows the `/`.\n"
	"- `$NAME` in a tool is sent as it stands: the server fills it in. A "
	"name in the page's `env` that the server has not set can be sent: "
	"`\"env\": {\"NAME\": \"value\"}`.\n"
	"- `\"stdin\": \"text\"` is read only by tools that declare `stdin: "
	"true`.\n"
	"\n"
	"Commands run in the page's folder, see the site's files, and keep "
	"nothing: what they write to `/tmp` is gone when they end.\n"
	"\n"
	"## Pages\n";

static void
add_template(struct buf *out, const struct spec *spec)
{
	buf_char(out, '[');
	for (size_t i = 0; i < spec->part_count; i++) {
		const struct part *p = &spec->parts[i];

		buf_text(out, i > 0 ? ", " : "");
		if (p->kind == PART_TEXT)
			json_string(out, p->text.data, p->text.len);
		else
			buf_printf(out, "\"{%s}\"", p->name ? p->name : "");
	}
	buf_char(out, ']');
}

static void
say_part(const struct part *p, struct buf *out)
{
	if (p->kind == PART_TEXT ||
		(p->description == NULL && p->kind != PART_REGEX))
		return;
	buf_text(out, "  - ");
	if (p->name != NULL)
		buf_printf(out, "`{%s}`", p->name);
	else
		buf_text(out, "`{}`");
	if (p->description != NULL) {
		buf_text(out, ": ");
		add_line(out, p->description, strlen(p->description));
	}
	if (p->kind == PART_REGEX) {
		buf_text(out,
			p->description != NULL ? "; matches " : ": matches ");
		add_code(out, p->text.data, p->text.len);
	}
	buf_char(out, '\n');
}

static void
say_tool(const struct frontmatter *front, const struct spec *spec,
	struct buf *out)
{
	const struct name_list *env = spec->env.set ? &spec->env : &front->env;
	struct buf line = BUF_INIT(out->max);

	buf_text(out, "- ");
	add_template(&line, spec);
	add_code(out, buf_view(&line).data, line.len);
	if (!spec->locked)
		buf_text(out, ", more words may follow");
	if (spec->takes_stdin)
		buf_text(out, ", reads `stdin`");
	for (size_t i = 0; i < env->count; i++)
		buf_printf(out, "%s`%s`",
			i > 0 ? ", " : ", `env`: ", env->names[i]);
	if (spec->description != NULL) {
		buf_text(out, ": ");
		add_line(out, spec->description, strlen(spec->description));
	}
	buf_char(out, '\n');
	for (size_t i = 0; i < spec->part_count; i++)
		say_part(&spec->parts[i], out);
	if (!buf_ok(&line))
		out->failed = true;
	buf_release(&line);
}

static bool
grants(const struct exchange *x, const struct item *item)
{
	return item->page->error.code == SS_OK &&
		!site_is_writable(x->site, &x->doc);
}

static void
say_page(struct exchange *x, const struct item *item, struct buf *out)
{
	const struct frontmatter *front = &item->page->front;

	buf_printf(out, "\n### %s", buf_view(&item->title).data);
	buf_text(out, "\n\n");
	add_code(out, item->path, strlen(item->path));
	if (front->description != NULL) {
		buf_text(out, ": ");
		add_line(out, front->description, strlen(front->description));
	}
	buf_char(out, '\n');
	if (!grants(x, item) || front->spec_count == 0)
		return;
	buf_char(out, '\n');
	for (size_t i = 0; i < front->spec_count; i++)
		say_tool(front, &front->specs[i], out);
}

static enum ss_err
answer_agents(struct exchange *x)
{
	struct buf text = BUF_INIT(2 * TEXT_BYTES_MAX);
	enum ss_err code;

	buf_text(&text, how_to);
	code = each_page(x, say_page, &text);
	if (code == SS_OK && text.failed)
		code = error_memory(&x->err);
	if (code == SS_OK && browser_wanted(x, x->path)) {
		code = browser_show(x, x->path, buf_view(&text));
	} else if (code == SS_OK) {
		buf_add(&x->body, text.data, text.len);
		content_made(x, MEDIA_MARKDOWN, "no-cache");
	}
	buf_release(&text);
	return code;
}

/* -------------------------------------------------------------- llms.txt -- */

static void
say_link(struct exchange *x, const struct item *item, struct buf *out)
{
	const char *description = item->page->front.description;

	(void)x;
	buf_text(out, "- [");
	for (const char *p = buf_view(&item->title).data; *p != '\0'; p++) {
		buf_text(out, *p == '[' || *p == ']' || *p == '\\' ? "\\" : "");
		buf_char(out, *p);
	}
	buf_text(out, "](");
	escape_path(out, item->path, strlen(item->path));
	buf_char(out, ')');
	if (description != NULL) {
		buf_text(out, ": ");
		add_line(out, description, strlen(description));
	}
	buf_char(out, '\n');
}

/* As llmstxt.org has it: a heading, a summary, lists of links. */
static enum ss_err
answer_llms(struct exchange *x)
{
	enum ss_err code;

	buf_text(&x->body,
		"# Pages of this site\n\n"
		"> Markdown pages; some list commands that can be run with a "
		"POST to the page.\n> [AGENTS.md](AGENTS.md) says how.\n\n"
		"## Pages\n\n");
	code = each_page(x, say_link, &x->body);
	if (code == SS_OK)
		content_made(x, "text/plain; charset=utf-8", "no-cache");
	return code;
}

/* ----------------------------------------------------------------- files -- */

/* An address with the version in it means these bytes for ever. */
static bool
names_version(const char *uri)
{
	const char *query = uri != NULL ? strchr(uri, '?') : NULL;

	return query != NULL && strncmp(query, "?v=", 3) == 0 &&
		strcmp(query + 3, assets_version()) == 0;
}

static enum ss_err
answer_asset(struct exchange *x, const char *name)
{
	struct asset a;

	if (!assets_find(name, &a))
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	buf_add(&x->body, a.bytes.data, a.bytes.len);
	content_made(x, a.type,
		names_version(x->req->request_uri)
			? "public, max-age=31536000, immutable"
			: "no-cache");
	exchange_header(x, "Content-Security-Policy", "sandbox");
	return SS_OK;
}

enum ss_err
virtual_meta(struct exchange *x)
{
	static const char prefix[] = "__meta/view.";

	if (strncmp(x->path, prefix, sizeof(prefix) - 1) != 0)
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	return answer_asset(x, x->path + strlen("__meta/"));
}

bool
virtual_is(const char *path)
{
	return strcmp(path, "AGENTS.md") == 0 ||
		strcmp(path, "llms.txt") == 0 ||
		strcmp(path, "favicon.svg") == 0 ||
		strcmp(path, "favicon.ico") == 0;
}

enum ss_err
virtual_answer(struct exchange *x)
{
	error_clear(&x->err);
	if (exchange_is(x, "POST"))
		return error_set(
			&x->err, SS_METHOD, "/%s takes no POST", x->path);
	if (strcmp(x->path, "AGENTS.md") == 0)
		return answer_agents(x);
	if (strcmp(x->path, "llms.txt") == 0)
		return answer_llms(x);
	return answer_asset(x, x->path);
}
