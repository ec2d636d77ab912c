/* SPDX-License-Identifier: MIT */
/*
 * A page for people with a browser: its text, a card for each of its tools,
 * links to the pages around it.  All text is escaped for its place; the HTML
 * has no script or style in it, so that the Content-Security-Policy can forbid
 * both (statespace-protocol(7), READING).
 */
#ifndef SS_HTTP_HTML_H
#define SS_HTTP_HTML_H

#include "base/buf.h"
#include "page/frontmatter.h"
#include "sandbox/powers.h"

/* Bytes of the longest document: text, 500 tools, links. */
#define HTML_BYTES_MAX ((size_t)32 << 20)

/* The Content-Security-Policy of every page; blob: what tools draw. */
#define HTML_POLICY                                                            \
	"default-src 'none'; script-src 'self'; style-src 'self'; "            \
	"connect-src 'self'; img-src 'self' blob:; frame-ancestors 'none'; "   \
	"base-uri 'none'; form-action 'none'"

/* The pages of one folder: its own, and the README.md of folders in it. */
struct html_folder {
	const char *path; /* "", "docs", "docs/more" */
	const char *const *pages;
	size_t count;
	bool cut; /* there are more */
};

struct html_page {
	const char *path;    /* resolved: "zones/README.md" */
	const char *root;    /* the site's root, relative: "./", "../" */
	const char *base;    /* before the text's relative links; "": none */
	const char *url;     /* as it was requested, for command lines */
	const char *version; /* of our style and script, for caches */
	const char *title;   /* title_find */
	struct ss_text text; /* without frontmatter */
	struct ss_text html; /* the text as an HTML fragment */
	bool cut;            /* the page is longer than text */
	const struct frontmatter *front; /* titles and tools */
	const struct powers *powers;     /* of each tool */
	const struct ss_error *error;    /* why it has no tools, or SS_OK */
	const char *next; /* after an error, the step that works; NULL */
	const struct html_folder *folders; /* from the root to the page's */
	size_t folder_count;
	const struct ss_pair *server; /* variables; values are never shown */
	size_t server_count;
	double timeout; /* seconds, of a tool that names none */
};

/* Appends the whole document; failures stick in out. */
void html_page(const struct html_page *page, struct buf *out);
/*
 * The same around page->error: what happened, the requested address
 * (page->url), what to do, a link back.  Does not use path, title, text, html,
 * front and base of page.
 */
void html_error(const struct html_page *page, int status, struct buf *out);

#endif
