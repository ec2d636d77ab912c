/* SPDX-License-Identifier: MIT */
#include "reply.h"

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "sys.h"

/*
 * nginx reads the header block into one buffer, fastcgi_buffer_size, 4 KiB by
 * default, and answers 502 when it does not fit.
 */
#define HEAD_MAX 4096
#define CHUNK 65536

struct head {
	char text[HEAD_MAX];
	size_t len;
	bool full;
};

static void
head_add(struct head *h, const char *text, size_t len)
{
	if (len > sizeof(h->text) - h->len) {
		h->full = true;
		return;
	}
	memcpy(h->text + h->len, text, len);
	h->len += len;
}

static void
head_text(struct head *h, const char *text)
{
	head_add(h, text, strlen(text));
}

static void
head_number(struct head *h, uint64_t n)
{
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	head_add(h, digits + at, sizeof(digits) - at);
}

static void
head_header(struct head *h, const char *name, const char *value)
{
	size_t len = strlen(value);

	head_text(h, name);
	head_add(h, ": ", 2);
	head_add(h, value, len);
	head_add(h, "\r\n", 2);
	if (memchr(value, '\r', len) != NULL ||
		memchr(value, '\n', len) != NULL)
		h->full = true;
}

/*
 * nginx copies the status line; without a phrase it is not HTTP (RFC 9112 4).
 */
static const char *
phrase_of(int status)
{
	static const struct {
		int status;
		const char *phrase;
	} phrases[] = { { 200, "OK" }, { 202, "Accepted" },
		{ 204, "No Content" }, { 206, "Partial Content" },
		{ 304, "Not Modified" }, { 400, "Bad Request" },
		{ 401, "Unauthorized" }, { 403, "Forbidden" },
		{ 404, "Not Found" }, { 405, "Method Not Allowed" },
		{ 408, "Request Timeout" }, { 409, "Conflict" },
		{ 413, "Content Too Large" }, { 415, "Unsupported Media Type" },
		{ 416, "Range Not Satisfiable" },
		{ 421, "Misdirected Request" },
		{ 422, "Unprocessable Content" },
		{ 500, "Internal Server Error" }, { 502, "Bad Gateway" },
		{ 503, "Service Unavailable" } };

	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].phrase;
	return "Other";
}

/* RFC 9110 8.6: no Content-Length with these. */
static bool
has_body(int status)
{
	return status >= 200 && status != 204 && status != 304;
}

static bool
head_make(struct head *h, const struct ss_response *res)
{
	h->len = 0;
	h->full = false;
	head_text(h, "Status: ");
	head_number(h, (uint64_t)res->status);
	head_text(h, " ");
	head_text(h, phrase_of(res->status));
	head_text(h, "\r\n");
	for (size_t i = 0; i < res->header_count; i++) {
		const struct ss_header *header = &res->headers[i];

		if (strcasecmp(header->name, "Content-Length") != 0)
			head_header(h, header->name, header->value);
	}
	if (has_body(res->status) && res->length != SS_LENGTH_UNKNOWN) {
		head_text(h, "Content-Length: ");
		head_number(h, res->length);
		head_text(h, "\r\n");
	}
	head_text(h, "\r\n");
	return !h->full;
}

/* When the file shrank meanwhile the answer is shorter than its length. */
static bool
send_file(const struct ss_response *res, const struct reply_sink *sink)
{
	static char chunk[CHUNK];
	uint64_t offset = res->offset, left = res->length;

	while (left > 0) {
		size_t want = left < CHUNK ? (size_t)left : CHUNK;
		ssize_t n = pread(res->fd, chunk, want, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !sink->send(sink->ctx, chunk, (size_t)n))
			return false;
		offset += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return true;
}

bool
reply_send(const struct ss_response *res, const struct reply_sink *sink)
{
	static const char fallback[] =
		"Status: 500 Internal Server Error\r\nContent-Type: text/plain\r\n"
		"Content-Length: 18\r\n\r\nan internal error\n";
	struct head head;

	if (!head_make(&head, res))
		return sink->send(sink->ctx, fallback, sizeof(fallback) - 1);
	if (!sink->send(sink->ctx, head.text, head.len))
		return false;
	if (res->head_only || !has_body(res->status))
		return true;
	if (res->fd >= 0)
		return send_file(res, sink);
	return sink->send(sink->ctx, res->body, res->body_len);
}

bool
reply_begin(const struct ss_response *res, const struct reply_sink *sink)
{
	struct head head;

	return head_make(&head, res) &&
		sink->send(sink->ctx, head.text, head.len);
}
