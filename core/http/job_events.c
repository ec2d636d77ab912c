/* SPDX-License-Identifier: MIT */
#include "http/job_events.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "http/events.h"
#include "http/output_event.h"
#include "site/job_wait.h"

#define PIECE ((size_t)16384) /* of one stream, in one event */
#define TURN ((size_t)65536)  /* of both, until others have their turn */
#define SECOND_US UINT64_C(1000000)
#define BEAT_US (EVENTS_BEAT_MS * UINT64_C(1000))
/* Without a host that lets requests wait: then the client comes again. */
#define OWN_WAIT_S 25

/* One turn of a stream. */
struct turn {
	struct exchange *x;
	struct site_job *job;
	struct ss_wait wait;
	size_t sent;
	bool more; /* than this turn sends */
};

static enum ss_err
refuse_more(struct exchange *x)
{
	error_set(&x->err, SS_OVERLOADED, "too many clients wait for jobs");
	error_hint(&x->err, "ask again without \"wait\", or a little later");
	return SS_OVERLOADED;
}

/* Looks at the files first: what changes after that is seen by the next look. */
static enum ss_err
look_again(struct exchange *x, struct site_job *job, struct ss_wait *wait)
{
	wait->job_fd = job->fd;
	job_wait_look(wait);
	return site_job_look(job, &x->err);
}

static enum ss_err
come_later(struct exchange *x, const struct ss_wait *wait)
{
	if (!x->req->wait(x->req->wait_ctx, wait))
		return wait->streamed ? SS_GONE : refuse_more(x);
	x->waits = true;
	return SS_GONE;
}

/* ------------------------------------------------------------- one answer -- */

static bool
has_news(const struct site_job *job, const struct ss_wait *wait)
{
	return job_state_is_final(job->status.state) ||
		wait->seen[0] > wait->sent[0] || wait->seen[1] > wait->sent[1];
}

enum ss_err
http_job_wait(struct exchange *x, struct site_job *job, double seconds,
	const uint64_t after[static 2])
{
	struct ss_wait wait = { .size = sizeof(wait),
		.sent = { after[0], after[1] },
		.until_us = clock_us() + (uint64_t)(seconds * 1e6) };
	enum ss_err code;

	if (x->req->wait == NULL) {
		site_job_wait(x->site, job, seconds, after, x->req->client_fd);
		return SS_OK;
	}
	if (x->req->waited != NULL)
		wait.until_us = x->req->waited->until_us;
	/* A job whose process died is found by looking at it now and then. */
	wait.beat_at_us = clock_us() + BEAT_US;
	code = look_again(x, job, &wait);
	if (code != SS_OK || has_news(job, &wait) ||
		clock_us() >= wait.until_us)
		return code;
	return come_later(x, &wait);
}

/* ----------------------------------------------------------------- events -- */

/* A peer that has not read the last events is not waited for here. */
static bool
may_send(const struct turn *t)
{
	struct pollfd peer = { .fd = t->x->req->client_fd, .events = POLLOUT };

	return peer.fd < 0 || t->x->req->wait == NULL || poll(&peer, 1, 0) > 0;
}

/* False: the client left. */
static bool
send_piece(struct turn *t, size_t stream, const char *bytes, size_t len)
{
	char id[48];

	t->wait.sent[stream] += len;
	t->sent += len;
	snprintf(id, sizeof(id), "%" PRIu64 ",%" PRIu64, t->wait.sent[0],
		t->wait.sent[1]);
	return output_event(
		t->x, stream == 0 ? "stdout" : "stderr", id, bytes, len);
}

static enum ss_err
send_stream(struct turn *t, size_t stream)
{
	bool is_final = job_state_is_final(t->job->status.state);
	struct buf piece = BUF_INIT(PIECE);
	enum ss_err code = SS_OK;
	uint64_t size;
	size_t len;

	for (;;) {
		t->more |= t->sent >= TURN || !may_send(t);
		if (t->more)
			break;
		buf_clear(&piece);
		code = site_job_read(t->job, stream, t->wait.sent[stream],
			&piece, &size, &t->x->err);
		len = piece.len;
		if (code == SS_OK &&
			(!is_final || t->wait.sent[stream] + len < size))
			len -= utf8_unfinished(piece.data, len);
		if (code != SS_OK || len == 0)
			break;
		if (!send_piece(t, stream, piece.data, len)) {
			code = SS_GONE;
			break;
		}
	}
	buf_release(&piece);
	return code;
}

/* What GET answers beside the output. */
static enum ss_err
send_end(struct turn *t)
{
	struct exchange *x = t->x;
	struct buf data = BUF_INIT((size_t)1 << 20);
	struct buf end = BUF_INIT((size_t)1 << 20);
	enum ss_err code = site_job_result(
		x->site, t->job, t->wait.sent, &x->result, &x->err);
	char id[48];
	bool sent;

	snprintf(id, sizeof(id), "%" PRIu64 ",%" PRIu64, t->wait.sent[0],
		t->wait.sent[1]);
	buf_printf(&data, "{\"job\": \"%s\", \"state\": \"%s\", ", t->job->id,
		job_state_name(t->job->status.state));
	proto_end(&end, &x->result, code == SS_OK ? NULL : &x->err);
	buf_add(&data, end.data + 1, end.len - 1);
	sent = buf_ok(&end) && buf_ok(&data) &&
		events_send(x, "end", id, data.data, data.len);
	buf_release(&end);
	buf_release(&data);
	error_clear(&x->err);
	return sent ? SS_OK : SS_GONE;
}

/* Before the first byte is sent: do both offsets lie within the output? */
static enum ss_err
check_offsets(struct turn *t)
{
	struct buf none = BUF_INIT(0);
	enum ss_err code = SS_OK;
	uint64_t size;

	for (size_t stream = 0; stream < 2 && code == SS_OK; stream++)
		code = site_job_read(t->job, stream, t->wait.sent[stream],
			&none, &size, &t->x->err);
	buf_release(&none);
	return code;
}

static enum ss_err
send_turn(struct turn *t, bool *is_over)
{
	enum ss_err code = look_again(t->x, t->job, &t->wait);

	if (code == SS_OK && !t->x->streamed)
		code = check_offsets(t);

	t->sent = 0;
	t->more = false;
	for (size_t stream = 0; stream < 2 && code == SS_OK; stream++)
		code = send_stream(t, stream);
	*is_over = code == SS_OK && !t->more &&
		job_state_is_final(t->job->status.state);
	if (*is_over)
		return send_end(t);
	if (code != SS_OK)
		return code;
	if (t->sent == 0 && clock_us() >= t->wait.beat_at_us && may_send(t)) {
		if (!events_beat(t->x))
			return SS_GONE;
		t->sent = 1;
	}
	if (t->sent > 0)
		t->wait.beat_at_us = clock_us() + BEAT_US;
	/* What was left is news: the next look finds more than this. */
	if (t->more) {
		t->wait.seen[0] = t->wait.sent[0];
		t->wait.seen[1] = t->wait.sent[1];
	}
	return SS_OK;
}

/* The whole stream, or a part of it, in this process. */
static enum ss_err
send_here(struct turn *t)
{
	uint64_t end_us = clock_us() + OWN_WAIT_S * SECOND_US, now;
	bool is_over = false;
	enum ss_err code = send_turn(t, &is_over);

	while (code == SS_OK && !is_over && (now = clock_us()) < end_us) {
		double left = (double)(end_us - now) / 1e6;

		if (!t->more)
			site_job_wait(t->x->site, t->job,
				left < EVENTS_BEAT_MS / 1000.0
					? left
					: EVENTS_BEAT_MS / 1000.0,
				t->wait.seen, t->x->req->client_fd);
		code = send_turn(t, &is_over);
	}
	return code;
}

enum ss_err
http_job_events(struct exchange *x, struct site_job *job,
	const uint64_t after[static 2])
{
	struct turn t = { .x = x,
		.job = job,
		.wait = { .size = sizeof(t.wait),
			.sent = { after[0], after[1] },
			.until_us = UINT64_MAX } };
	bool is_over = false;
	enum ss_err code;

	if (x->req->waited != NULL)
		t.wait = *x->req->waited;
	t.wait.size = sizeof(t.wait);
	x->streamed = t.wait.streamed;
	x->status = 200; /* for the log: the head has left before */
	if (x->req->wait == NULL)
		return send_here(&t);
	code = send_turn(&t, &is_over);
	if (code != SS_OK || is_over)
		return code != SS_OK && x->streamed ? SS_GONE : code;
	t.wait.streamed = x->streamed;
	return come_later(x, &t.wait);
}
