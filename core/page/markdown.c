/* SPDX-License-Identifier: MIT */
/*
 * libcmark-gfm calls abort(3) when memory runs out.  It is given an allocator
 * that calls longjmp(3) instead: all that it allocated is in one arena, and the
 * page is shown as plain text.
 */
#include "page/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>
#include <setjmp.h>
#include <stdio.h>
#include <strings.h>

#include "base/arena.h"
#include "page/heading.h"
#include "wire/escape.h"

#define IDS_MAX 500
#define ID_BYTES_MAX 64
#define HEADING_BYTES_MAX 1024
#define BLOCK_MAX 65536 /* more than a block of the arena */
#define OPTIONS (CMARK_OPT_DEFAULT | CMARK_OPT_VALIDATE_UTF8)

/* ----------------------------------------------------------------- memory -- */

/* The allocator gets no context from the library: one text at a time. */
static struct arena *memory;
static jmp_buf out_of_memory;
/* Memory ran out below the text's own limit: the text is not to blame. */
static bool starved;

struct header {
	size_t size;
	size_t unused; /* keeps what follows aligned */
};

static void *
arena_calloc(size_t count, size_t size)
{
	struct header *h = NULL;
	size_t need = MARKDOWN_MEMORY_MAX;

	if (size == 0 || count < (need - sizeof(*h)) / size) {
		need = sizeof(*h) + count * size;
		h = arena_alloc(memory, need);
	}
	if (h == NULL) {
		starved = need + BLOCK_MAX < memory->limit - memory->total;
		longjmp(out_of_memory, 1);
	}
	h->size = count * size;
	return h + 1;
}

static void *
arena_realloc(void *old, size_t size)
{
	void *new = arena_calloc(1, size);
	size_t kept = old != NULL ? ((struct header *)old - 1)->size : 0;

	if (old != NULL)
		memcpy(new, old, kept < size ? kept : size);
	return new;
}

static void
arena_no_free(void *old)
{
	(void)old;
}

static cmark_mem allocator = { arena_calloc, arena_realloc, arena_no_free };

/* ---------------------------------------------------------------- parsing -- */

struct work {
	const char *base;
	struct buf scratch; /* for one node's HTML */
	struct ss_text ids[IDS_MAX];
	size_t id_count;
	bool in_link;
};

/*
 * What the library needs quadratic time for, found in one pass.  Texts that
 * people write stay far below these limits; render.c's time budget bounds the
 * rest.
 */
#define MAILS_MAX 256
#define COLUMNS_MAX 64
#define PIPES_MAX 256
#define WORD_MAX 1024
#define OPEN_MAX 256
#define ABOVE_MAX ((uint64_t)16384 * 16384)

struct cost {
	size_t mails;      /* each '@' scans the rest of the text */
	bool long_address; /* an address is parsed again from each of its bytes */
	bool wide;         /* every row is filled up to the last column */
	uint64_t above;    /* all lines above a table are read with each "|-" */
	bool open;         /* each "<?" or "<!" scans for its end */
};

/* One paragraph, line by line, and one line, byte by byte. */
struct scan {
	struct ss_text text;
	size_t at;
	size_t paragraph, line, word; /* where they begin */
	size_t pipes, columns;
	bool divides;     /* only characters of a table's delimiter row */
	bool address;     /* the word may be one */
	unsigned open[3]; /* "<?", "<![CDATA[", "<!A" that did not end */
};

static bool
scan_sees(const struct scan *s, const char *what)
{
	size_t n = strlen(what);

	return s->text.len - s->at >= n &&
		memcmp(s->text.data + s->at, what, n) == 0;
}

static void
end_word(struct scan *s, struct cost *cost)
{
	cost->long_address |= s->address && s->at - s->word > WORD_MAX;
	s->word = s->at + 1;
	s->address = false;
}

static void
end_line(struct scan *s, struct cost *cost)
{
	uint64_t above = s->at - s->paragraph;
	bool blank = s->at == s->line;

	cost->wide |= s->pipes > PIPES_MAX ||
		(s->divides && s->columns > COLUMNS_MAX);
	if (s->divides && !blank && s->line > s->paragraph)
		cost->above += above * above;
	if (blank) {
		s->paragraph = s->at + 1;
		memset(s->open, 0, sizeof(s->open));
	}
	s->line = s->at + 1;
	s->pipes = s->columns = 0;
	s->divides = true;
}

static void
see_byte(struct scan *s, struct cost *cost)
{
	char c = s->text.data[s->at];
	static const char *const opened[] = { "<?", "<![CDATA[", "<!" },
				 *const closed[] = { "?>", "]]>", ">" };

	if (c == '\0' || strchr("|:-+*> \t\v\f", c) == NULL)
		s->divides = false;
	if (c == '|') {
		s->pipes++;
		s->columns += s->divides;
	}
	cost->mails += c == '@';
	s->address |= c == '@' || scan_sees(s, "www.") || scan_sees(s, "://");
	for (size_t i = 0; i < ARRAY_LEN(opened); i++) {
		if (scan_sees(s, closed[i]))
			s->open[i] = 0;
		else if (scan_sees(s, opened[i]) && ++s->open[i] > OPEN_MAX)
			cost->open = true;
	}
}

static struct cost
cost_of(struct ss_text text)
{
	struct cost cost = { .mails = 0 };
	struct scan s = { .text = text, .divides = true };

	for (; s.at < text.len; s.at++) {
		if (strchr(" \t\r\n", text.data[s.at]) != NULL)
			end_word(&s, &cost);
		if (text.data[s.at] == '\n' && s.at > 0 &&
			text.data[s.at - 1] == '\r')
			s.line++;
		else if (text.data[s.at] == '\n' || text.data[s.at] == '\r')
			end_line(&s, &cost);
		else
			see_byte(&s, &cost);
	}
	end_word(&s, &cost);
	end_line(&s, &cost);
	return cost;
}

static void
attach_extensions(cmark_parser *parser, const char *name)
{
	cmark_syntax_extension *e = cmark_find_syntax_extension(name);

	if (e != NULL)
		cmark_parser_attach_syntax_extension(parser, e);
}

static cmark_node *
parse_markdown(struct ss_text text, cmark_parser **parser)
{
	struct cost cost = cost_of(text);

	cmark_gfm_core_extensions_ensure_registered();
	*parser = cmark_parser_new_with_mem(OPTIONS, &allocator);
	if (!cost.wide && cost.above <= ABOVE_MAX)
		attach_extensions(*parser, "table");
	attach_extensions(*parser, "strikethrough");
	if (cost.mails <= MAILS_MAX && !cost.long_address)
		attach_extensions(*parser, "autolink");
	attach_extensions(*parser, "tasklist");
	attach_extensions(*parser, "tagfilter");
	cmark_parser_feed(*parser, text.data, text.len);
	return cmark_parser_finish(*parser);
}

/* ------------------------------------------------------------- our own HTML */

static const char *
literal_of(cmark_node *node)
{
	const char *text = cmark_node_get_literal(node);

	return text != NULL ? text : "";
}

/* The scratch buffer's text; it fails only when memory ran out. */
static const char *
scratch_text(struct work *w)
{
	if (!buf_ok(&w->scratch))
		longjmp(out_of_memory, 1);
	return w->scratch.data;
}

static cmark_node *
new_node(cmark_node_type type)
{
	return cmark_node_new_with_mem(type, &allocator);
}

static void
move_children(cmark_node *from, cmark_node *to)
{
	cmark_node *child;

	while ((child = cmark_node_first_child(from)) != NULL)
		cmark_node_append_child(to, child);
}

/* Replaces a node's own tags by ours; its children stay. */
static void
replace_tags(cmark_node *node, const char *enter, const char *leaves)
{
	cmark_node *custom = new_node(CMARK_NODE_CUSTOM_BLOCK);

	cmark_node_set_on_enter(custom, enter);
	cmark_node_set_on_exit(custom, leaves);
	move_children(node, custom);
	cmark_node_replace(node, custom);
}

/*
 * Replaces a node by its children.  A table cell takes no custom node, so
 * replace_tags cannot do this.
 */
static void
unwrap(cmark_node *node)
{
	cmark_node *child;

	while ((child = cmark_node_first_child(node)) != NULL)
		if (!cmark_node_insert_before(node, child))
			cmark_node_unlink(child);
	cmark_node_unlink(node);
}

static void
replace_by_text(cmark_node *node, const char *text)
{
	cmark_node *new = new_node(CMARK_NODE_TEXT);

	cmark_node_set_literal(new, text);
	cmark_node_replace(node, new);
}

/* A code block that a keyboard can scroll. */
static void
show_code(struct work *w, cmark_node *node, const char *info, const char *text)
{
	size_t lang = strcspn(info, " \t");

	buf_clear(&w->scratch);
	buf_text(&w->scratch, "<pre tabindex=\"0\"><code");
	if (lang > 0) {
		buf_text(&w->scratch, " class=\"language-");
		escape_html(&w->scratch, info, lang);
		buf_char(&w->scratch, '"');
	}
	buf_char(&w->scratch, '>');
	escape_html(&w->scratch, text, strlen(text));
	buf_text(&w->scratch, "</code></pre>\n");
	replace_tags(node, scratch_text(w), "");
}

/* Is this HTML a single comment? */
static bool
is_comment(const char *html)
{
	const char *end;

	html += strspn(html, " \t\r\n");
	if (strncmp(html, "<!--", 4) != 0)
		return false;
	end = strstr(html + 4, "-->");
	return end != NULL && end[3 + strspn(end + 3, " \t\r\n")] == '\0';
}

static void
show_html_block(struct work *w, cmark_node *node)
{
	const char *html = literal_of(node);

	if (is_comment(html))
		replace_tags(node, "", "");
	else
		show_code(w, node, "", html);
}

/* ---------------------------------------------------------------- headings */

static void
add_slug(struct buf *out, const char *text)
{
	for (; *text != '\0' && out->len < ID_BYTES_MAX; text++) {
		unsigned char c = (unsigned char)*text;

		if (c >= 'A' && c <= 'Z')
			buf_char(out, (char)(c | 0x20));
		else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
			c >= 0x80 || c == '-' || (c == '_' && out->len > 0))
			buf_char(out, *text);
		else if (c == ' ' && out->len > 0)
			buf_char(out, '-');
	}
}

/* The text below a node, without its markup. */
static void
add_text(struct buf *out, cmark_node *node,
	void (*add)(struct buf *out, const char *text))
{
	cmark_iter *iter = cmark_iter_new(node);
	cmark_event_type event;

	while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
		cmark_node *n = cmark_iter_get_node(iter);
		cmark_node_type type = cmark_node_get_type(n);

		if (event != CMARK_EVENT_ENTER)
			continue;
		if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
			add(out, literal_of(n));
		else if (type == CMARK_NODE_SOFTBREAK ||
			type == CMARK_NODE_LINEBREAK)
			add(out, " ");
	}
	cmark_iter_free(iter);
}

static bool
is_taken(const struct work *w, struct ss_text id)
{
	for (size_t i = 0; i < w->id_count; i++)
		if (text_equal(w->ids[i], id))
			return true;
	return false;
}

/*
 * Gives a heading an id for links, unless an earlier one has it.  Ids of ours
 * begin with '_'; these never do.
 */
static void
show_heading(struct work *w, cmark_node *node)
{
	int level = cmark_node_get_heading_level(node);
	struct ss_text id;
	char leaves[16];
	char *kept;

	buf_clear(&w->scratch);
	add_text(&w->scratch, node, add_slug);
	id.data = scratch_text(w);
	id.len = utf8_cut(id.data, w->scratch.len, ID_BYTES_MAX);
	if (id.len == 0 || w->id_count == IDS_MAX || is_taken(w, id))
		return;
	kept = arena_calloc(1, id.len);
	memcpy(kept, id.data, id.len);
	w->ids[w->id_count++] = (struct ss_text){ kept, id.len };
	buf_clear(&w->scratch);
	buf_printf(&w->scratch, "<h%d id=\"", level);
	escape_html(&w->scratch, kept, id.len);
	buf_text(&w->scratch, "\">");
	snprintf(leaves, sizeof(leaves), "</h%d>\n", level);
	replace_tags(node, scratch_text(w), leaves);
}

/* ------------------------------------------------------------------- links */

enum link_kind { LINK_INSIDE, LINK_OUTSIDE, LINK_NOWHERE };

/*
 * A browser ignores blanks and control characters before and within a scheme,
 * so a URL with one before its first ':' is refused.
 */
static enum link_kind
kind_of(const char *url)
{
	static const char *const schemes[] = { "http:", "https:", "mailto:" };
	size_t n = strcspn(url, ":/?#");

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
			return LINK_NOWHERE;
	if (url[n] != ':')
		return strspn(url, "/\\") >= 2 ? LINK_OUTSIDE : LINK_INSIDE;
	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return LINK_OUTSIDE;
	return LINK_NOWHERE;
}

/*
 * Makes a link that is relative to the page relative to the requested address.
 */
static void
rebase(struct work *w, cmark_node *node, const char *url)
{
	if (w->base[0] == '\0' || strchr("/\\#?", url[0]) != NULL)
		return;
	buf_clear(&w->scratch);
	buf_printf(&w->scratch, "%s%s", w->base, url);
	cmark_node_set_url(node, scratch_text(w));
}

static void
show_link(struct work *w, cmark_node *node)
{
	const char *url = cmark_node_get_url(node);

	if (url == NULL)
		url = "";
	if (kind_of(url) == LINK_NOWHERE)
		unwrap(node);
	else if (kind_of(url) == LINK_INSIDE)
		rebase(w, node, url);
}

/*
 * An image of another site becomes a link: loading it would tell that site of
 * the page's readers.
 */
static void
show_image(struct work *w, cmark_node *node)
{
	const char *url = cmark_node_get_url(node);
	cmark_node *link;

	if (url == NULL)
		url = "";
	if (kind_of(url) == LINK_INSIDE) {
		rebase(w, node, url);
		return;
	}
	if (kind_of(url) == LINK_NOWHERE || w->in_link) {
		unwrap(node);
		return;
	}
	link = new_node(CMARK_NODE_LINK);
	cmark_node_set_url(link, url);
	if (cmark_node_first_child(node) == NULL) {
		cmark_node *text = new_node(CMARK_NODE_TEXT);

		cmark_node_set_literal(text, url);
		cmark_node_append_child(link, text);
	}
	move_children(node, link);
	cmark_node_replace(node, link);
}

/* -------------------------------------------------------------- the rest -- */

/* A checkbox would be a form field without a label. */
static void
show_task(cmark_node *node)
{
	bool done = cmark_gfm_extensions_get_tasklist_item_checked(node);
	cmark_node *box = new_node(CMARK_NODE_CUSTOM_INLINE);
	cmark_node *text = cmark_node_first_child(node);

	cmark_node_set_syntax_extension(node, NULL);
	cmark_node_set_on_enter(box,
		done ? "<span class=\"task\" role=\"img\" aria-label=\"done\">"
		       "&#x2611;</span> "
		     : "<span class=\"task\" role=\"img\" "
		       "aria-label=\"not done\">&#x2610;</span> ");
	if (text == NULL || !cmark_node_prepend_child(text, box))
		cmark_node_free(box);
}

static void
show_table(cmark_node *node)
{
	cmark_node *box = new_node(CMARK_NODE_CUSTOM_BLOCK);

	cmark_node_set_on_enter(box, "<div class=\"scroll\" tabindex=\"0\">\n");
	cmark_node_set_on_exit(box, "</div>\n");
	cmark_node_replace(node, box);
	cmark_node_append_child(box, node);
}

/* Node types of extensions are numbers that exist only at run time. */
static bool
is_kind(cmark_node *node, const char *kind)
{
	return strcmp(cmark_node_get_type_string(node), kind) == 0;
}

static void
show_node(struct work *w, cmark_node *node)
{
	switch (cmark_node_get_type(node)) {
	case CMARK_NODE_HTML_BLOCK: show_html_block(w, node); return;
	case CMARK_NODE_HTML_INLINE:
		replace_by_text(node,
			is_comment(literal_of(node)) ? "" : literal_of(node));
		return;
	case CMARK_NODE_CODE_BLOCK:
		show_code(w, node,
			cmark_node_get_fence_info(node)
				? cmark_node_get_fence_info(node)
				: "",
			literal_of(node));
		return;
	case CMARK_NODE_HEADING: show_heading(w, node); return;
	case CMARK_NODE_LINK: show_link(w, node); return;
	case CMARK_NODE_IMAGE: show_image(w, node); return;
	default: break;
	}
	if (is_kind(node, "tasklist"))
		show_task(node);
	else if (is_kind(node, "table"))
		show_table(node);
}

/*
 * A node is replaced at its exit event, when the iterator is done with its
 * children; leaves have no exit event.
 */
static void
show_all(struct work *w, cmark_node *document)
{
	cmark_iter *iter = cmark_iter_new(document);
	cmark_event_type event;

	while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
		cmark_node *node = cmark_iter_get_node(iter);

		if (cmark_node_get_type(node) == CMARK_NODE_LINK)
			w->in_link = event == CMARK_EVENT_ENTER;
		switch (cmark_node_get_type(node)) {
		case CMARK_NODE_HTML_BLOCK:
		case CMARK_NODE_HTML_INLINE:
		case CMARK_NODE_CODE_BLOCK: show_node(w, node); break;
		default:
			if (event == CMARK_EVENT_EXIT)
				show_node(w, node);
		}
	}
	cmark_iter_free(iter);
}

void
markdown_plain(struct ss_text text, struct buf *out)
{
	buf_text(out,
		"<p class=\"note\">The text takes too long to render: this "
		"is its source.</p>\n"
		"<pre class=\"plain\" tabindex=\"0\">");
	escape_html(out, text.data, text.len);
	buf_text(out, "</pre>\n");
}

/* A function of its own, so that no local variable changes after setjmp(3). */
static bool
render_document(struct ss_text text, struct work *w, struct buf *out)
{
	cmark_parser *parser;
	cmark_node *document;

	if (setjmp(out_of_memory) != 0)
		return false;
	document = parse_markdown(text, &parser);
	show_all(w, document);
	buf_text(out,
		cmark_render_html_with_mem(document, OPTIONS,
			cmark_parser_get_syntax_extensions(parser),
			&allocator));
	return true;
}

void
markdown_html(struct ss_text text, const char *base, struct buf *out)
{
	struct work w = { .base = base,
		.scratch = BUF_INIT(8 * MARKDOWN_BYTES_MAX) };
	struct arena arena;

	arena_init(&arena, MARKDOWN_MEMORY_MAX);
	memory = &arena;
	starved = false;
	if (text.len > MARKDOWN_BYTES_MAX || cost_of(text).open ||
		!render_document(text, &w, out))
		markdown_plain(text, out);
	out->failed |= starved || w.scratch.failed;
	buf_release(&w.scratch);
	arena_release(&arena);
	memory = NULL;
}

static void
add_plain(struct buf *out, const char *text)
{
	buf_text(out, text);
}

/* Parses source as a heading; appends its text as one line. */
static bool
parse_heading(struct ss_text source, struct buf *out)
{
	cmark_parser *parser;
	cmark_node *document;
	size_t len = 2;
	char *line;

	if (setjmp(out_of_memory) != 0)
		return false;
	line = arena_calloc(1, source.len + 2);
	memcpy(line, "# ", 2);
	for (size_t i = 0; i < source.len; i++) {
		bool blank = strchr(" \t\r\n", source.data[i]) != NULL;

		if (!blank || line[len - 1] != ' ')
			line[len++] = source.data[i];
		if (blank)
			line[len - 1] = ' ';
	}
	parser = cmark_parser_new_with_mem(OPTIONS, &allocator);
	attach_extensions(parser, "strikethrough");
	cmark_parser_feed(parser, line, len);
	document = cmark_parser_finish(parser);
	add_text(out, document, add_plain);
	return true;
}

bool
markdown_heading(struct ss_text text, struct buf *out)
{
	struct ss_text source;
	struct arena arena;
	bool found;

	if (!heading_find(text, &source))
		return false;
	source.len = utf8_cut(source.data, source.len, HEADING_BYTES_MAX);
	cmark_gfm_core_extensions_ensure_registered();
	arena_init(&arena, MARKDOWN_MEMORY_MAX);
	memory = &arena;
	starved = false;
	found = parse_heading(source, out);
	out->failed |= starved;
	arena_release(&arena);
	memory = NULL;
	return found;
}
