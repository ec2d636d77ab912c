/* SPDX-License-Identifier: MIT */
#include "http/events.h"

#include "wire/media.h"

#define TYPE "text/event-stream"

bool
events_accepted(const struct exchange *x)
{
	return x->req->stream != NULL && x->req->accept != NULL &&
		strstr(x->req->accept, TYPE) != NULL;
}

bool
events_preferred(const struct exchange *x)
{
	static const char *const offers[] = { "application/json", TYPE };

	return events_accepted(x) &&
		media_prefer(x->req->accept, offers, ARRAY_LEN(offers)) == 1;
}

static void
begin(struct exchange *x)
{
	exchange_header(x, "Content-Type", TYPE);
	exchange_header(x, "Cache-Control", "no-store");
	/* nginx: send now, not when a buffer is full. */
	exchange_header(x, "X-Accel-Buffering", "no");
	exchange_common(x);
	x->status = 200;
	x->streamed = true;
}

static bool
send_piece(struct exchange *x, const struct buf *piece)
{
	struct ss_response head;

	if (!x->streamed)
		begin(x);
	head = SS_INIT(ss_response);
	head.status = x->status;
	head.headers = x->headers;
	head.header_count = x->header_count;
	head.fd = -1;
	head.length = SS_LENGTH_UNKNOWN;
	x->length += piece->len;
	return buf_ok(piece) &&
		x->req->stream(
			x->req->stream_ctx, &head, piece->data, piece->len);
}

bool
events_send(struct exchange *x, const char *name, const char *id,
	const char *data, size_t len)
{
	struct buf piece = BUF_INIT(len + 128);
	bool sent;

	buf_printf(&piece, "event: %s\n", name);
	if (id != NULL)
		buf_printf(&piece, "id: %s\n", id);
	buf_text(&piece, "data: ");
	buf_add(&piece, data, len);
	buf_text(&piece, "\n\n");
	sent = send_piece(x, &piece);
	buf_release(&piece);
	return sent;
}

bool
events_beat(struct exchange *x)
{
	struct buf piece = BUF_INIT(64);
	bool sent;

	buf_text(&piece, ": waiting\n\n");
	sent = send_piece(x, &piece);
	buf_release(&piece);
	return sent;
}
