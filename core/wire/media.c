/* SPDX-License-Identifier: MIT */
/*
 * Media types by extension, and content negotiation (RFC 9110 section 12.5.1).
 * Nothing here is a type in which a browser runs script with the rights of
 * the site: HTML, XML, SVG and JavaScript are shown as text.  PDF stays PDF:
 * what a viewer runs in it has no access to the origin, and data files carry
 * "Content-Security-Policy: sandbox" as well.
 */
#include "wire/media.h"

#include <strings.h>

#define UTF8 "; charset=utf-8"

/* Extensions in lower case, a space on both sides of each. */
static const struct {
	const char *type;
	const char *extensions;
} types[] = {
	{ MEDIA_MARKDOWN, " md markdown " },
	{ "text/plain" UTF8,
		" txt text log htm html xht xhtml shtml xml xsl xslt xsd dtd"
		" rss atom rdf mml svg js mjs cjs ts tsx jsx vue"
		" ini cfg conf env properties diff patch rst adoc org tex bib"
		" c h cc cpp hpp m s go rs zig java kt scala swift cs py rb pl"
		" pm lua r jl hs ml clj ex exs erl php sh bash zsh fish awk"
		" sed sql graphql proto mk cmake make nix tf srt " },
	{ "text/css" UTF8, " css " },
	{ "text/csv" UTF8, " csv " },
	{ "text/tab-separated-values" UTF8, " tsv tab " },
	{ "text/calendar" UTF8, " ics " },
	{ "text/vcard" UTF8, " vcf " },
	{ "text/vtt" UTF8, " vtt " },
	{ "application/json", " json map webmanifest ipynb " },
	{ "application/ld+json", " jsonld " },
	{ "application/geo+json", " geojson " },
	{ "application/x-ndjson", " jsonl ndjson " },
	{ "application/yaml", " yaml yml " },
	{ "application/toml", " toml " },
	{ "image/png", " png apng " },
	{ "image/jpeg", " jpg jpeg jpe " },
	{ "image/gif", " gif " },
	{ "image/webp", " webp " },
	{ "image/avif", " avif " },
	{ "image/bmp", " bmp " },
	{ "image/tiff", " tif tiff " },
	{ "image/vnd.microsoft.icon", " ico " },
	{ "audio/mpeg", " mp3 " },
	{ "audio/mp4", " m4a " },
	{ "audio/ogg", " ogg oga opus " },
	{ "audio/flac", " flac " },
	{ "audio/wav", " wav " },
	{ "video/mp4", " mp4 m4v " },
	{ "video/webm", " webm " },
	{ "video/ogg", " ogv " },
	{ "video/quicktime", " mov " },
	{ "font/woff", " woff " },
	{ "font/woff2", " woff2 " },
	{ "font/ttf", " ttf " },
	{ "font/otf", " otf " },
	{ "application/pdf", " pdf " },
	{ "application/epub+zip", " epub " },
	{ "application/zip", " zip " },
	{ "application/gzip", " gz tgz " },
	{ "application/zstd", " zst " },
	{ "application/x-xz", " xz " },
	{ "application/x-bzip2", " bz2 " },
	{ "application/x-7z-compressed", " 7z " },
	{ "application/x-tar", " tar " },
	{ "application/vnd.sqlite3", " sqlite sqlite3 db " },
	{ "application/vnd.apache.parquet", " parquet " },
	{ "application/vnd.apache.arrow.file", " arrow feather " },
	{ "application/vnd.openxmlformats-officedocument."
	  "wordprocessingml.document",
		" docx " },
	{ "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		" xlsx " },
	{ "application/vnd.openxmlformats-officedocument."
	  "presentationml.presentation",
		" pptx " },
	{ "application/vnd.oasis.opendocument.text", " odt " },
	{ "application/vnd.oasis.opendocument.spreadsheet", " ods " },
};

const char *
media_type(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash != NULL ? slash : path, '.');
	char key[16];
	size_t n;

	if (dot == NULL || (n = strlen(++dot)) == 0 || n > sizeof(key) - 3)
		return "application/octet-stream";
	key[0] = ' ';
	for (size_t i = 0; i < n; i++) {
		if (dot[i] == ' ')
			return "application/octet-stream";
		key[i + 1] = dot[i];
		if (dot[i] >= 'A' && dot[i] <= 'Z')
			key[i + 1] |= 0x20;
	}
	memcpy(key + n + 1, " ", 2);
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strstr(types[i].extensions, key) != NULL)
			return types[i].type;
	return "application/octet-stream";
}

/* ---------------------------------------------------------------- words -- */

static bool
is_token_char(char c)
{
	if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		(c >= 'A' && c <= 'Z'))
		return true;
	return c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL;
}

/* Reads the token at *p, which may be empty, and moves *p after it. */
static struct ss_text
take_token(const char **p)
{
	struct ss_text t = { *p, 0 };

	while (is_token_char(t.data[t.len]))
		t.len++;
	*p += t.len;
	return t;
}

static void
skip_blanks(const char **p)
{
	*p += strspn(*p, " \t");
}

static bool
is_word(struct ss_text t, const char *word, size_t len)
{
	return t.len == len && strncasecmp(t.data, word, len) == 0;
}

/* Reads "type/sub", with or without parameters; false: it is neither. */
static bool
take_type(const char *p, struct ss_text *type, struct ss_text *sub)
{
	if (p == NULL)
		return false;
	skip_blanks(&p);
	*type = take_token(&p);
	if (type->len == 0 || *p++ != '/')
		return false;
	*sub = take_token(&p);
	skip_blanks(&p);
	return sub->len > 0 && (*p == '\0' || *p == ';');
}

/* Does the subtype end in "+json" (RFC 6839) or the like? */
static bool
has_suffix(struct ss_text sub, const char *suffix)
{
	size_t n = strlen(suffix);

	return sub.len > n &&
		strncasecmp(sub.data + sub.len - n, suffix, n) == 0;
}

static bool
is_one_of(struct ss_text sub, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_word(sub, words[i], strlen(words[i])))
			return true;
	return false;
}

bool
media_is_json(const char *content_type)
{
	struct ss_text type, sub;

	if (!take_type(content_type, &type, &sub))
		return false;
	if (is_word(type, "application", 11) && is_word(sub, "json", 4))
		return true;
	return has_suffix(sub, "+json");
}

/* -------------------------------------------------------- declared types -- */

size_t
media_plain_len(const char *content_type)
{
	return strcspn(content_type, "; ");
}

static bool
is_script(struct ss_text sub)
{
	/* WHATWG MIME Sniffing, "JavaScript MIME type". */
	static const char *const words[] = { "javascript", "ecmascript",
		"x-javascript", "x-ecmascript", "jscript", "livescript" };

	return is_one_of(sub, words, ARRAY_LEN(words)) ||
		(sub.len > 10 && strncasecmp(sub.data, "javascript", 10) == 0);
}

static bool
is_xml(struct ss_text sub)
{
	return is_word(sub, "xml", 3) || has_suffix(sub, "+xml");
}

bool
media_is_text(const char *content_type)
{
	static const char *const words[] = { "json", "yaml", "x-yaml", "toml",
		"x-toml", "x-ndjson", "ndjson", "jsonl", "x-jsonlines", "sql",
		"graphql", "x-sh", "x-www-form-urlencoded" };
	struct ss_text type, sub;

	if (!take_type(content_type, &type, &sub))
		return content_type == NULL;
	if (is_word(type, "text", 4) || is_xml(sub) ||
		has_suffix(sub, "+json") || has_suffix(sub, "+yaml"))
		return true;
	return is_word(type, "application", 11) &&
		(is_script(sub) || is_one_of(sub, words, ARRAY_LEN(words)));
}

const char *
media_harmless(const char *content_type)
{
	struct ss_text type, sub;

	if (!take_type(content_type, &type, &sub) ||
		is_word(type, "multipart", 9))
		return "application/octet-stream";
	if (is_xml(sub) || is_script(sub) || is_word(sub, "html", 4) ||
		is_word(sub, "xsl", 3))
		return "text/plain" UTF8;
	return content_type;
}

/* ---------------------------------------------------------------- Accept -- */

struct range {
	struct ss_text type, sub;
	bool has_params;
	int q; /* thousandths */
};

/*
 * RFC 9110 section 12.4.2, and what clients send: ".5", more than three digits.
 * A weight that cannot be read counts as 1.
 */
static int
read_weight(struct ss_text t)
{
	int q = 0, unit = 1000;
	size_t i = 0;

	if (t.len == 0 || strspn(t.data, "0123456789.") < t.len)
		return 1000;
	if (t.data[0] != '.' && t.data[i++] != '0')
		return 1000;
	if (i < t.len && t.data[i++] != '.')
		return 1000;
	for (; i < t.len && unit > 1 && t.data[i] != '.'; i++) {
		unit /= 10;
		q += (t.data[i] - '0') * unit;
	}
	return q;
}

/* Reads a parameter's value: a token.  A quoted string is skipped. */
static struct ss_text
take_value(const char **p)
{
	if (**p != '"')
		return take_token(p);
	for (++*p; **p != '\0' && **p != '"'; ++*p)
		if (**p == '\\' && (*p)[1] != '\0')
			++*p;
	if (**p == '"')
		++*p;
	return (struct ss_text){ "", 0 };
}

static void
take_params(const char **p, struct range *r)
{
	for (skip_blanks(p); **p == ';'; skip_blanks(p)) {
		struct ss_text name, value = { "", 0 };

		++*p;
		skip_blanks(p);
		name = take_token(p);
		skip_blanks(p);
		if (**p == '=') {
			++*p;
			skip_blanks(p);
			value = take_value(p);
		}
		if (is_word(name, "q", 1))
			r->q = read_weight(value);
		else if (name.len > 0)
			r->has_params = true;
	}
}

/*
 * Reads one element of the list and moves *p after its comma.  False: it is
 * malformed and is skipped.  A lone "*", which old clients send, is every type.
 */
static bool
take_range(const char **p, struct range *r)
{
	bool fits;

	*r = (struct range){ .q = 1000 };
	skip_blanks(p);
	r->type = take_token(p);
	if (**p == '/') {
		++*p;
		r->sub = take_token(p);
	} else if (is_word(r->type, "*", 1)) {
		r->sub = r->type;
	}
	take_params(p, r);
	fits = r->type.len > 0 && r->sub.len > 0 && (**p == ',' || **p == '\0');
	*p += strcspn(*p, ",");
	if (**p == ',')
		++*p;
	return fits;
}

/*
 * How closely the range matches the offer; 0: not at all.  Offers have no
 * parameters; a range with some matches its type if no other range does.
 */
static int
closeness(const struct range *r, const char *offer)
{
	size_t type = strcspn(offer, "/");
	const char *sub = offer[type] == '/' ? offer + type + 1 : "";

	if (is_word(r->type, "*", 1))
		return is_word(r->sub, "*", 1) ? 1 : 0;
	if (!is_word(r->type, offer, type))
		return 0;
	if (is_word(r->sub, "*", 1))
		return 2;
	if (!is_word(r->sub, sub, strlen(sub)))
		return 0;
	return r->has_params ? 3 : 4;
}

/* The weight of the closest range; -1 when the header holds no range. */
static int
weigh(const char *accept, const char *offer)
{
	int best = 0, q = 0;
	bool any = false;
	struct range r;

	while (*accept != '\0') {
		int close;

		if (!take_range(&accept, &r))
			continue;
		any = true;
		close = closeness(&r, offer);
		if (close > best || (close > 0 && close == best && r.q > q)) {
			best = close;
			q = r.q;
		}
	}
	return any ? q : -1;
}

int
media_prefer(const char *accept, const char *const *offers, size_t count)
{
	int best = -1, best_q = 0;

	if (accept == NULL)
		accept = "";
	for (size_t i = 0; i < count; i++) {
		int q = weigh(accept, offers[i]);

		if (q < 0)
			return 0;
		if (q > best_q) {
			best_q = q;
			best = (int)i;
		}
	}
	return best;
}
