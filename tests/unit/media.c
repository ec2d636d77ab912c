/* SPDX-License-Identifier: MIT */
/* Types of files, JSON or not, and what a client prefers. */
#include "wire/media.h"
#include "tap.h"

static void
test_types(void)
{
	static const char *const scripts[] = { "a.svg", "a.SVG", "a.xml",
		"a.html", "a.htm", "a.xhtml", "a.xht", "a.js", "a.mjs", "a.xsl",
		"a.rss", "a.atom", "d.x/a.Html" };
	static const char *const unknown[] = { "a", "a.", "a.svgz", "a.swf",
		"a.wasm", "a.hta", "d.md/a", "a.html ", "a.txt log", "",
		"a.averyveryverylongextension", "LICENSE" };

	for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
		is_str("text/plain; charset=utf-8", media_type(scripts[i]),
			"%s is shown as text", scripts[i]);
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		is_str("application/octet-stream", media_type(unknown[i]),
			"\"%s\" is bytes", unknown[i]);
	is_str(MEDIA_MARKDOWN, media_type("a.md"), "a page is Markdown");
	is_str(MEDIA_MARKDOWN, media_type("a.markdown"), "so is .markdown");
	is_str("text/csv; charset=utf-8", media_type("d/a.csv"), "CSV");
	is_str("application/json", media_type("a.JSON"), "case does not count");
	is_str("application/gzip", media_type("a.tar.gz"), "the last part");
	is_str("image/png", media_type("a.png"), "a picture");
	is_str("application/pdf", media_type("a.pdf"), "a PDF");
	is_str("application/vnd.apache.parquet", media_type("a.parquet"),
		"columns of data");
}

static void
test_json(void)
{
	static const char *const yes[] = { "application/json",
		"Application/JSON", "application/json; charset=utf-8",
		" application/json ;x", "application/ld+json",
		"application/vnd.x+JSON" };
	static const char *const no[] = { "", "json", "text/plain",
		"application/x-www-form-urlencoded", "application/jsonx",
		"application/json, text/plain",
		"text/plain; a=application/json", "application/+json", "/json",
		"application/json x", "multipart/form-data; boundary=+json" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		ok(media_is_json(yes[i]), "\"%s\" is JSON", yes[i]);
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		ok(!media_is_json(no[i]), "\"%s\" is not", no[i]);
	ok(!media_is_json(NULL), "no header is not");
}

static void
test_declared(void)
{
	static const char *const texts[] = { "text/plain", "TEXT/x-anything",
		"text/csv; charset=utf-8", "text/html", "application/json",
		"application/ld+json; a=b", "image/svg+xml", "application/xml",
		"application/yaml", "application/openapi+yaml",
		"application/toml", "application/javascript",
		"application/x-ndjson", "application/vnd.mcp.content+json" };
	static const char *const bytes[] = { "image/png", "application/pdf",
		"application/octet-stream", "application/jsonx", "image/json",
		"image/javascript", "application/xmlx", "multipart/mixed",
		"application/zip", "text", "text/", "", "x" };
	static const char *const harmful[] = { "text/html", "TEXT/HTML; a=b",
		"application/xhtml+xml", "image/svg+xml", "text/xml",
		"application/xml", "text/xsl", "text/javascript",
		"text/javascript1.5", "application/ecmascript",
		"application/x-javascript", "application/rdf+xml" };
	static const char *const fine[] = { "image/png", "text/plain",
		"text/csv; charset=utf-8", "application/pdf",
		"application/json", "text/css", "application/octet-stream" };

	ok(media_is_text(NULL), "what nobody declares is text");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		ok(media_is_text(texts[i]), "\"%s\" is text", texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(bytes); i++)
		ok(!media_is_text(bytes[i]), "\"%s\" is not", bytes[i]);
	for (size_t i = 0; i < ARRAY_LEN(harmful); i++)
		is_str("text/plain; charset=utf-8", media_harmless(harmful[i]),
			"%s is sent as text", harmful[i]);
	for (size_t i = 0; i < ARRAY_LEN(fine); i++)
		is_str(fine[i], media_harmless(fine[i]), "%s as it is",
			fine[i]);
	is_str("application/octet-stream",
		media_harmless("multipart/x-mixed-replace; boundary=x"),
		"several parts as bytes");
	is_int(9, media_plain_len("image/png"), "a type without parameters");
	is_int(9, media_plain_len("image/png; a=b"), "and with one");
	is_int(9, media_plain_len("image/png ;a=b"), "behind a blank");
}

#define CHROME                                                                 \
	"text/html,application/xhtml+xml,application/xml;q=0.9,"               \
	"image/avif,image/webp,*/*;q=0.8"

static void
test_prefer(void)
{
	static const char *const pages[] = { "text/markdown", "text/html" };
	static const struct {
		const char *accept;
		int wanted;
	} cases[] = {
		{ NULL, 0 },
		{ "", 0 },
		{ "*/*", 0 },
		{ "*", 0 },
		{ "text/*", 0 },
		{ "text/markdown", 0 },
		{ "text/html", 1 },
		{ "TEXT/HTML", 1 },
		{ CHROME, 1 },
		{ "text/html, text/markdown", 0 },
		{ "text/html, text/markdown;q=0.9", 1 },
		{ "text/html;q=0.5, text/markdown;q=0.7", 0 },
		{ "text/html;q=0.001, text/markdown;q=0", 1 },
		{ "text/html;q=0, */*", 0 },
		{ "text/markdown;q=0, */*;q=0.1", 1 },
		{ "*/*;q=1, text/*;q=0.5, text/html;q=0.8", 1 },
		{ "text/html ; q = 0.2 , text/markdown ; q = 0.1", 1 },
		{ "text/html;level=1", 1 },
		{ "text/html;level=1;q=0.3, text/html;q=0.7, */*;q=0.5", 1 },
		{ "text/html;level=1;q=1, text/html;q=0.1, */*;q=0.5", 0 },
		{ "text/html;x=\"a,b;q=0\", text/markdown;q=0.5", 1 },
		{ "text/html;q=.9, *; q=.2", 1 },
		{ "text/html;q=abc, */*;q=0.5", 1 },
		{ "text/html;q=1.5, */*;q=0.5", 1 },
		{ "image/png", -1 },
		{ "*/*;q=0", -1 },
		{ "text/html;q=0, text/markdown;q=0.0", -1 },
		{ ",,,", 0 },
		{ "garbage", 0 },
		{ "garbage, text/html", 1 },
		{ "text/html garbage, */*", 0 },
		{ "text/, text/html", 1 },
		{ "text/html;x=\"", 1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		is_int(cases[i].wanted, media_prefer(cases[i].accept, pages, 2),
			"Accept: %s",
			cases[i].accept ? cases[i].accept : "(none)");
}

int
main(void)
{
	test_types();
	test_json();
	test_declared();
	test_prefer();
	return done();
}
