/* SPDX-License-Identifier: MIT */
#include "http/content.h"

#include <inttypes.h>
#include <time.h>

#include "base/error.h"
#include "files/file_id.h"
#include "http/assets.h"
#include "http/preamble.h"
#include "site/component.h"
#include "site/page.h"
#include "wire/escape.h"
#include "wire/media.h"

/* The internal location in our nginx configurations. */
#define HANDOVER_AT "/__front/file/"
/* nginx has 4 KiB for all headers: a longer path is sent by us. */
#define HANDOVER_MAX 2048

struct range {
	uint64_t first, length;
};

enum range_result { RANGE_NONE, RANGE_PART, RANGE_UNSATISFIABLE };

static char *
put_hex(char *p, uint64_t n)
{
	int shift = 60;

	while (shift > 0 && n >> shift == 0)
		shift -= 4;
	for (; shift >= 0; shift -= 4)
		*p++ = "0123456789abcdef"[n >> shift & 15];
	return p;
}

/* Strong: any change of the file changes its inode, size or times. */
static char *
etag_of(struct exchange *x)
{
	const struct file_id id = file_id_of(&x->doc);
	const uint64_t parts[] = { id.inode, id.length, (uint64_t)id.mtime_ns,
		(uint64_t)id.ctime_ns };
	char text[ARRAY_LEN(parts) * 17 + 1], *p = text;

	if (!file_id_is_known(&id))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		*p++ = i == 0 ? '"' : '-';
		p = put_hex(p, parts[i]);
	}
	*p++ = '"';
	return arena_copy(&x->site->arena, text, (size_t)(p - text));
}

static void
put_number(char *at, size_t digits, int n)
{
	for (; digits-- > 0; n /= 10)
		at[digits] = (char)('0' + n % 10);
}

/* strftime(3) took a tenth of the time of a GET. */
static char *
date_of(struct exchange *x)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	char text[] = "Sun, 06 Nov 1994 08:49:37 GMT";
	time_t t = (time_t)(x->doc.mtime_ns / 1000000000);
	struct tm tm;

	if (x->doc.mtime_ns == 0 || gmtime_r(&t, &tm) == NULL)
		return NULL;
	memcpy(text, days + 3 * tm.tm_wday, 3);
	put_number(text + 5, 2, tm.tm_mday);
	memcpy(text + 8, months + 3 * tm.tm_mon, 3);
	put_number(text + 12, 4, tm.tm_year + 1900);
	put_number(text + 17, 2, tm.tm_hour);
	put_number(text + 20, 2, tm.tm_min);
	put_number(text + 23, 2, tm.tm_sec);
	return arena_copy(&x->site->arena, text, sizeof(text) - 1);
}

/*
 * The suffix that a compressing front server appends to a tag: Apache's
 * mod_deflate "-gzip", others ";gzip".
 */
static bool
is_coding_suffix(const char *text, size_t len)
{
	static const char *const codings[] = { "gzip", "br", "zstd",
		"deflate" };

	if (len == 0 || (*text != '-' && *text != ';'))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(codings); i++)
		if (strlen(codings[i]) == len - 1 &&
			memcmp(text + 1, codings[i], len - 1) == 0)
			return true;
	return false;
}

/* If-None-Match: "*" or a list; weak comparison (RFC 9110 13.1.2). */
static bool
lists_etag(const char *header, const char *etag)
{
	size_t n = strlen(etag) - 1; /* without the closing quote */
	const char *p = header;

	if (strcmp(header, "*") == 0)
		return true;
	while ((p = strchr(p, '"')) != NULL) {
		const char *end = strchr(p + 1, '"');

		if (end == NULL)
			return false;
		if ((size_t)(end - p) >= n && memcmp(p, etag, n) == 0 &&
			(p + n == end ||
				is_coding_suffix(p + n, (size_t)(end - p) - n)))
			return true;
		p = end + 1;
	}
	return false;
}

static bool
not_modified_since(const struct exchange *x, const char *header)
{
	struct tm tm = { 0 };
	const char *end = strptime(header, "%a, %d %b %Y %H:%M:%S GMT", &tm);

	if (end == NULL || *end != '\0')
		return false;
	return x->doc.mtime_ns / 1000000000 <= (int64_t)timegm(&tm);
}

static bool
is_unchanged(const struct exchange *x, const char *etag)
{
	const struct ss_request *req = x->req;

	if (etag == NULL)
		return false;
	if (req->if_none_match != NULL)
		return lists_etag(req->if_none_match, etag);
	return req->if_modified_since != NULL &&
		not_modified_since(x, req->if_modified_since);
}

static bool
read_number(const char **p, uint64_t *out)
{
	const char *start = *p;

	*out = 0;
	while (**p >= '0' && **p <= '9') {
		if (*out > (UINT64_MAX - 9) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(**p - '0');
		(*p)++;
	}
	return *p != start;
}

/*
 * One range; several, another unit or bad syntax mean the whole file, as
 * RFC 9110 section 14.2 allows.
 */
static enum range_result
parse_range(const char *header, uint64_t size, struct range *out)
{
	const char *p = header;
	uint64_t first = 0, last = 0;
	bool has_first, has_last;

	if (strncmp(p, "bytes=", 6) != 0)
		return RANGE_NONE;
	p += 6;
	has_first = read_number(&p, &first);
	if (*p++ != '-')
		return RANGE_NONE;
	has_last = read_number(&p, &last);
	if (*p != '\0' || (!has_first && !has_last))
		return RANGE_NONE;
	if (!has_first) {
		if (last == 0 || size == 0)
			return RANGE_UNSATISFIABLE;
		out->length = last < size ? last : size;
		out->first = size - out->length;
		return RANGE_PART;
	}
	if (has_last && last < first)
		return RANGE_NONE;
	if (first >= size)
		return RANGE_UNSATISFIABLE;
	if (!has_last || last >= size)
		last = size - 1;
	out->first = first;
	out->length = last - first + 1;
	return RANGE_PART;
}

/*
 * Only GET has ranges (RFC 9110, 14.2).  If-Range asks for the part only when
 * the validator is the same.
 */
static bool
range_applies(const struct exchange *x, const char *etag, const char *date)
{
	const char *v = x->req->if_range;

	if (x->req->range == NULL || !exchange_is(x, "GET"))
		return false;
	if (v == NULL)
		return true;
	return (etag != NULL && strcmp(v, etag) == 0) ||
		(date != NULL && strcmp(v, date) == 0);
}

static enum ss_err
body_whole(struct exchange *x)
{
	x->length = x->doc.length;
	if (x->doc.fd >= 0) {
		x->fd = x->doc.fd;
		return SS_OK;
	}
	if (exchange_is(x, "HEAD") ||
		buf_add(&x->body, x->doc.data, x->doc.length))
		return SS_OK;
	return error_memory(&x->err);
}

static enum ss_err
body_part(struct exchange *x, const struct range *r)
{
	exchange_header(x, "Content-Range",
		arena_printf(&x->site->arena,
			"bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, r->first,
			r->first + r->length - 1, x->doc.length));
	x->status = 206;
	x->length = r->length;
	x->offset = r->first;
	if (x->doc.fd >= 0) {
		x->fd = x->doc.fd;
		return SS_OK;
	}
	if (exchange_is(x, "HEAD") ||
		buf_add(&x->body, x->doc.data + r->first, r->length))
		return SS_OK;
	return error_memory(&x->err);
}

static enum ss_err
answer_range(struct exchange *x)
{
	struct range r = { 0 };

	switch (parse_range(x->req->range, x->doc.length, &r)) {
	case RANGE_NONE: return body_whole(x);
	case RANGE_PART: return body_part(x, &r);
	case RANGE_UNSATISFIABLE:
		exchange_header(x, "Content-Range",
			arena_printf(&x->site->arena, "bytes */%" PRIu64,
				x->doc.length));
		x->status = 416;
		return SS_OK;
	}
	return body_whole(x);
}

/* Four bytes a token, as others count them who send this header. */
static void
add_tokens(struct exchange *x, uint64_t bytes)
{
	x->tokens[text_number(x->tokens, (int64_t)(bytes / 4))] = '\0';
	exchange_header(x, "X-Markdown-Tokens", x->tokens);
}

/* The page behind x->body, which has the preamble. */
static enum ss_err
body_behind(struct exchange *x)
{
	size_t len = x->body.len;
	enum ss_err code = SS_OK;

	x->length = len + x->doc.length;
	add_tokens(x, x->length);
	if (exchange_is(x, "HEAD")) {
		buf_clear(&x->body);
		return SS_OK;
	}
	x->body.max = len + PAGE_BYTES_MAX;
	if (x->doc.fd >= 0)
		code = page_read(&x->doc, &x->body, &x->err);
	else
		buf_add(&x->body, x->doc.data, x->doc.length);
	x->length = x->body.len;
	return code;
}

static enum ss_err
answer_file(struct exchange *x, bool page)
{
	bool behind = page && preamble_wanted(x);
	const char *etag = etag_of(x), *date = date_of(x);

	if (behind && etag != NULL)
		etag = arena_printf(&x->site->arena, "%.*s-p\"",
			(int)strlen(etag) - 1, etag);

	x->status = 200;
	exchange_header(x, "ETag", etag);
	exchange_header(x, "Last-Modified", date);
	exchange_header(x, "Cache-Control", "no-cache");
	exchange_header(x, "Vary", "Accept");
	if (is_unchanged(x, etag)) {
		x->status = 304;
		return SS_OK;
	}
	exchange_header(x, "Content-Type",
		page ? MEDIA_MARKDOWN : media_type(x->doc.path));
	if (page) {
		exchange_guide(x);
		if (behind) {
			preamble_write(x, &x->body);
			return body_behind(x);
		}
		add_tokens(x, x->doc.length);
		return body_whole(x);
	}
	exchange_header(x, "Content-Security-Policy", "sandbox");
	exchange_header(x, "Accept-Ranges", "bytes");
	if (range_applies(x, etag, date))
		return answer_range(x);
	return body_whole(x);
}

void
content_made(struct exchange *x, const char *type, const char *cache)
{
	char tag[17];
	const char *etag;

	assets_tag(buf_view(&x->body), tag);
	etag = arena_printf(&x->site->arena, "\"%s\"", tag);
	exchange_header(x, "ETag", etag);
	exchange_header(x, "Cache-Control", cache);
	exchange_header(x, "Vary", "Accept");
	exchange_body(x, 200, type);
	if (etag == NULL || x->req->if_none_match == NULL ||
		!lists_etag(x->req->if_none_match, etag))
		return;
	buf_clear(&x->body);
	x->length = 0;
	x->status = 304;
}

/*
 * With "auto" the front names itself and the root that it serves: one with
 * another root would send other files.
 */
static bool
hands_over_to(const struct exchange *x, const char *front)
{
	const struct config *c = &x->site->config;
	const char *offer = x->req->handover;
	size_t n = strlen(front);

	if (strcmp(c->http.handover, "auto") != 0)
		return strcmp(c->http.handover, front) == 0;
	return offer != NULL && strncmp(offer, front, n) == 0 &&
		offer[n] == ' ' && strcmp(offer + n + 1, c->root) == 0;
}

static bool
hands_over(const struct exchange *x)
{
	return hands_over_to(x, "nginx") || hands_over_to(x, "lighttpd") ||
		hands_over_to(x, "apache");
}

/*
 * Apache's mod_xsendfile compares no tag of ours and tags a file without one
 * "0": conditions and ranges are answered here, and so are names that need an
 * escape, which 0.12 takes as they are and 1.0 decodes.
 */
static bool
is_answered_here(struct exchange *x)
{
	return hands_over_to(x, "apache") &&
		(x->req->range != NULL || is_unchanged(x, etag_of(x)));
}

/*
 * May the front server open the file by its name?  Not one behind a link (it
 * would follow the link again) or one that a tool could replace by a link.
 */
static bool
may_hand_over(const struct exchange *x)
{
	const struct ss_site *site = x->site;

	return hands_over(x) && x->req->host != NULL && x->doc.fd >= 0 &&
		!x->doc.linked && documents_are_files(&site->documents) &&
		!documents_writable(&site->documents, &x->doc);
}

/* The front server answers validators, conditions and ranges, except Apache. */
static enum ss_err
answer_handed_over(struct exchange *x)
{
	const struct config *c = &x->site->config;
	bool nginx = hands_over_to(x, "nginx");
	struct buf name = BUF_INIT(HANDOVER_MAX);
	const char *value = NULL;

	if (nginx) {
		buf_text(&name, HANDOVER_AT);
	} else {
		escape_path(&name, c->root, strlen(c->root));
		buf_char(&name, '/');
	}
	escape_path(&name, x->doc.path, strlen(x->doc.path));
	if (name.full ||
		(hands_over_to(x, "apache") &&
			memchr(name.data, '%', name.len) != NULL)) {
		buf_release(&name);
		return answer_file(x, false);
	}
	if (buf_ok(&name))
		value = arena_copy(&x->site->arena, name.data, name.len);
	buf_release(&name);
	if (value == NULL)
		return error_memory(&x->err);
	x->status = 200;
	x->length = SS_LENGTH_UNKNOWN;
	exchange_header(x, nginx ? "X-Accel-Redirect" : "X-Sendfile", value);
	if (hands_over_to(x, "apache")) {
		exchange_header(x, "ETag", etag_of(x));
		exchange_header(x, "Last-Modified", date_of(x));
	}
	exchange_header(x, "Cache-Control", "no-cache");
	exchange_header(x, "Content-Type", media_type(x->doc.path));
	exchange_header(x, "Content-Security-Policy", "sandbox");
	return SS_OK;
}

/* The output of components depends on the time: no cache may keep it. */
static enum ss_err
answer_rendered(struct exchange *x, struct page *page)
{
	struct component_job job = { .executor = &x->site->exec_state,
		.doc = &x->doc,
		.page = page,
		.request_id = x->id,
		.client_fd = x->req->client_fd };
	enum ss_err code = SS_OK;

	x->status = 200;
	x->length = SS_LENGTH_UNKNOWN;
	exchange_header(x, "Cache-Control", "no-store");
	exchange_header(x, "Vary", "Accept");
	exchange_guide(x);
	exchange_header(x, "Content-Type", MEDIA_MARKDOWN);
	if (exchange_is(x, "HEAD"))
		return SS_OK;
	if (preamble_wanted(x))
		preamble_write(x, &x->body);
	code = component_render(&job, &x->body, &x->err);
	x->length = x->body.len;
	add_tokens(x, x->length);
	return code;
}

static enum ss_err
answer_page(struct exchange *x)
{
	return component_applies(&x->site->exec_state, &x->doc, x->parsed)
		? answer_rendered(x, x->parsed)
		: answer_file(x, true);
}

enum ss_err
content_answer(struct exchange *x)
{
	if (path_is_page(x->doc.path))
		return answer_page(x);
	if (may_hand_over(x) && !is_answered_here(x))
		return answer_handed_over(x);
	return answer_file(x, false);
}
