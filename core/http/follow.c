/* SPDX-License-Identifier: MIT */
#include "http/follow.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "http/events.h"
#include "http/output_event.h"

#define TICK_MS 1000
#define EVENT_BYTES ((size_t)65536)
#define TAIL_MAX 3 /* bytes of a character whose rest has not come */

struct follow {
	struct exchange *x;
	char tail[2][TAIL_MAX]; /* by stream */
	size_t tail_len[2];
	uint64_t sent; /* bytes of both streams */
	uint64_t beat_at_ms;
	bool left; /* the client, or memory */
};

static void
send_bytes(struct follow *f, int stream, const char *bytes, size_t len)
{
	char id[24];

	if (len == 0 || f->left)
		return;
	f->sent += len;
	snprintf(id, sizeof(id), "%" PRIu64, f->sent);
	f->left = !output_event(
		f->x, stream == 1 ? "stdout" : "stderr", id, bytes, len);
	f->beat_at_ms = clock_ms() + EVENTS_BEAT_MS;
}

/* len is at most EVENT_BYTES; a character that is not complete is kept. */
static void
take_piece(struct follow *f, int stream, const char *bytes, size_t len)
{
	char *tail = f->tail[stream - 1];
	size_t *tail_len = &f->tail_len[stream - 1];
	struct buf whole = BUF_INIT(EVENT_BYTES + TAIL_MAX);
	size_t open;

	buf_add(&whole, tail, *tail_len);
	if (!buf_add(&whole, bytes, len))
		f->left = true;
	open = utf8_unfinished(whole.data, whole.len);
	send_bytes(f, stream, whole.data, whole.len - open);
	memcpy(tail, whole.data + whole.len - open, open);
	*tail_len = open;
	buf_release(&whole);
}

static void
beat(struct follow *f)
{
	if (f->left || clock_ms() < f->beat_at_ms)
		return;
	f->left = !events_beat(f->x);
	f->beat_at_ms = clock_ms() + EVENTS_BEAT_MS;
}

static void
on_output(void *ctx, int stream, const char *bytes, size_t len)
{
	struct follow *f = ctx;

	if (stream == 0)
		beat(f);
	for (size_t n; len > 0 && stream > 0; bytes += n, len -= n) {
		n = len < EVENT_BYTES ? len : EVENT_BYTES;
		take_piece(f, stream, bytes, n);
	}
}

/* What the answer of a POST has beside the output. */
static void
send_end(struct follow *f, enum ss_err code)
{
	struct exchange *x = f->x;
	struct buf data = BUF_INIT((size_t)1 << 20);
	char id[24];

	for (int stream = 1; stream <= 2; stream++)
		send_bytes(f, stream, f->tail[stream - 1],
			f->tail_len[stream - 1]);
	snprintf(id, sizeof(id), "%" PRIu64, f->sent);
	proto_end(&data, &x->result, code == SS_OK ? NULL : &x->err);
	if (!f->left)
		f->left = !buf_ok(&data) ||
			!events_send(x, "end", id, data.data, data.len);
	buf_release(&data);
}

static bool
may_follow(struct exchange *x)
{
	if (!x->request.parse)
		return true;
	error_set(&x->err, SS_BAD_REQUEST,
		"events have the output as it is written: there is no "
		"\"parse\"");
	error_hint(&x->err,
		"leave \"parse\" out, or send Accept: application/json");
	return false;
}

enum ss_err
follow_run(struct exchange *x, const struct call *plain)
{
	struct follow f = { .x = x };
	struct call call = *plain;
	enum ss_err code;

	if (!may_follow(x))
		return SS_BAD_REQUEST;
	call.output = on_output;
	call.output_ctx = &f;
	call.tick_ms = TICK_MS;
	code = call_run(&x->site->calls, &call, &x->stage, &x->result, &x->err);
	if (code == SS_OK && call.job != NULL && call.job->id[0] != '\0')
		return code; /* it is a job, and has not run here */
	if (code == SS_GONE ||
		(code != SS_OK && !call_was_ended(code) && !x->streamed))
		return code;
	x->err.code = code;
	send_end(&f, code);
	return f.left ? error_set(&x->err, SS_GONE, "the client left") : SS_OK;
}
