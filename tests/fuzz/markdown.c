/* SPDX-License-Identifier: MIT */
/*
 * Any text as Markdown: every tag that comes out is one of ours, with
 * attributes of ours, and no address leads to script.
 */
#include <stdlib.h>
#include <strings.h>

#include "fuzz.h"
#include "page/markdown.h"

static bool
is_one_of(const char *p, size_t n, const char *const *list)
{
	for (; *list != NULL; list++)
		if (strlen(*list) == n && memcmp(*list, p, n) == 0)
			return true;
	return false;
}

static bool
is_safe_url(const char *p, size_t n)
{
	static const char *const schemes[] = { "http", "https", "mailto",
		NULL };
	size_t colon = strcspn(p, ":/?#\"");

	if (colon >= n || p[colon] != ':')
		return true;
	for (const char *const *s = schemes; *s != NULL; s++)
		if (strlen(*s) == colon && strncasecmp(p, *s, colon) == 0)
			return true;
	return false;
}

/* One tag at p, behind its '<'; NULL when it is not ours. */
static const char *
check_tag(const char *p)
{
	static const char *const tags[] = { "p", "h1", "h2", "h3", "h4", "h5",
		"h6", "em", "strong", "del", "code", "pre", "a", "img", "ul",
		"ol", "li", "blockquote", "hr", "br", "table", "thead", "tbody",
		"tr", "th", "td", "div", "span", NULL };
	static const char *const attributes[] = { "id", "class", "href", "src",
		"alt", "title", "tabindex", "role", "aria-label", "align",
		"start", NULL };
	size_t n;

	p += *p == '/';
	n = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789");
	if (!is_one_of(p, n, tags))
		return NULL;
	p += n;
	while (*p == ' ') {
		const char *name = ++p, *value;

		if (strncmp(p, "/>", 2) == 0)
			return p + 2;
		n = strspn(p, "abcdefghijklmnopqrstuvwxyz-");
		if (!is_one_of(p, n, attributes) || p[n] != '=' ||
			p[n + 1] != '"')
			return NULL;
		value = p + n + 2;
		p = value + strcspn(value, "\"<>");
		if (*p != '"')
			return NULL;
		if ((*name == 'h' || *name == 's') &&
			!is_safe_url(value, (size_t)(p - value)))
			return NULL;
		p++;
	}
	return *p == '>' ? p + 1 : NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT((size_t)64 << 20);
	const char *p;

	markdown_html((struct ss_text){ (const char *)data, size }, "b/", &out);
	promise(buf_ok(&out) && strlen(out.data) == out.len &&
		utf8_valid(out.data, out.len));
	for (p = out.data; (p = strchr(p, '<')) != NULL;)
		promise((p = check_tag(p + 1)) != NULL);
	buf_clear(&out);
	markdown_heading((struct ss_text){ (const char *)data, size }, &out);
	buf_release(&out);
	return 0;
}
