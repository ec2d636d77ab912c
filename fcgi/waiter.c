/* SPDX-License-Identifier: MIT */
#include "waiter.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "record.h"
#include "say.h"
#include "sys.h"
#include "worker.h"

#define MS UINT64_C(1000)
#define LOOK_MIN_US (10 * MS)
#define LOOK_MAX_US (200 * MS)
#define STALL_US (20 * 1000 * MS) /* a client that does not read */
#define AGAIN_US (20 * MS)        /* the workers' queue was full */
#define STEP_MS 10                /* between two rounds of looking, at least */
#define BYTES_MAX (32u << 20)     /* of all parameters */
#define OTHER_FILES 32            /* descriptors for all else */
#define EVENTS 64
/* Of epoll, beside the indices of those that are held. */
#define EVENT_ALIVE UINT32_MAX
#define EVENT_GIVEN (UINT32_MAX - 1)

struct held {
	int fd; /* -1: free */
	struct parked_request request;
	char *params;
	struct ss_wait wait;
	uint64_t look_at_us, look_us;
};

struct waiter_state {
	const struct waiter *w;
	int epoll;
	struct held *held;
	uint32_t most, used; /* entries from used on are free */
	uint32_t count;
	size_t bytes;
};

static void
let_go(struct waiter_state *s, struct held *h)
{
	/* epoll(7): a description that lives on elsewhere stays in the set. */
	epoll_ctl(s->epoll, EPOLL_CTL_DEL, h->fd, NULL);
	close(h->fd);
	close(h->wait.job_fd);
	s->bytes -= h->request.params_len;
	free(h->params);
	h->fd = -1;
	s->count--;
	while (s->used > 0 && s->held[s->used - 1].fd < 0)
		s->used--;
	atomic_store(&s->w->waiting->count->held, s->count);
}

static void
hold(struct waiter_state *s, const struct parked_request *r, int fd,
	const struct ss_wait *wait)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP };
	char *params = malloc(r->params_len + 1);
	uint32_t i = 0;

	while (i < s->used && s->held[i].fd >= 0)
		i++;
	event.data.u32 = i;
	if (params == NULL || i >= s->most || wait->job_fd < 0 ||
		s->bytes + r->params_len > BYTES_MAX ||
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		free(params);
		close(fd);
		if (wait->job_fd >= 0)
			close(wait->job_fd);
		return;
	}
	memcpy(params, r->params, r->params_len);
	s->held[i] = (struct held){ .fd = fd,
		.request = *r,
		.params = params,
		.wait = *wait,
		.look_us = LOOK_MIN_US,
		.look_at_us = sys_clock_us() + LOOK_MIN_US };
	s->held[i].request.params = params;
	s->used = i >= s->used ? i + 1 : s->used;
	s->bytes += r->params_len;
	s->count++;
	atomic_store(&s->w->waiting->count->held, s->count);
}

static void
take_given(struct waiter_state *s)
{
	struct parked_request r;
	struct ss_wait wait;
	int fd;

	while ((fd = waiting_take(s->w->waiting->given, &r, &wait)) >= 0)
		hold(s, &r, fd, &wait);
}

/* A worker goes on with it; when all are busy and their queue is full, later. */
static void
hand_back(struct waiter_state *s, struct held *h)
{
	if (waiting_pass_on(s->w->waiting, &h->request, h->fd, &h->wait))
		let_go(s, h);
	else
		h->look_at_us = sys_clock_us() + AGAIN_US;
}

/* Bytes, such as an ABORT_REQUEST, are for a worker to read. */
static void
peer_spoke(struct waiter_state *s, struct held *h)
{
	char byte;
	ssize_t n = recv(h->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		waiting_pass_on(s->w->waiting, &h->request, h->fd, &h->wait);
	let_go(s, h);
}

/* One that does not read its events is looked at again, and then given up. */
static bool
reads_events(struct waiter_state *s, struct held *h, uint64_t now)
{
	struct pollfd peer = { .fd = h->fd, .events = POLLOUT };

	if (!h->wait.streamed || poll(&peer, 1, 0) > 0)
		return true;
	if (now > h->wait.beat_at_us + STALL_US)
		let_go(s, h);
	return false;
}

/* Looks at those whose time has come; returns the time of the next one. */
static uint64_t
look_at_jobs(struct waiter_state *s)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t i = 0; i < s->used; i++) {
		struct held *h = &s->held[i];
		uint64_t now = sys_clock_us();

		if (h->fd < 0)
			continue;
		if (now >= h->look_at_us) {
			h->look_us = h->look_us * 2 < LOOK_MAX_US
				? h->look_us * 2
				: LOOK_MAX_US;
			h->look_at_us = now + h->look_us;
			if ((now >= h->wait.until_us ||
				    now >= h->wait.beat_at_us ||
				    ss_wait_is_over(&h->wait)) &&
				reads_events(s, h, now))
				hand_back(s, h);
		}
		if (i < s->used && h->fd >= 0 && h->look_at_us < next)
			next = h->look_at_us;
	}
	return next;
}

static int
pause_ms(uint64_t next)
{
	uint64_t now = sys_clock_us();

	if (next == UINT64_MAX)
		return -1;
	if (next <= now + STEP_MS * MS)
		return STEP_MS;
	return (int)((next - now) / MS) + 1;
}

/*
 * The pool ends: a client of events comes again with Last-Event-ID; any other
 * is told to.
 */
static void
dismiss(struct waiter_state *s, struct held *h)
{
	static const char answer[] =
		"Status: 503 Service Unavailable\r\n"
		"Content-Type: application/json\r\n"
		"Cache-Control: no-store\r\nRetry-After: 1\r\n\r\n"
		"{\"stdout\": \"\", \"stderr\": \"the server is stopping\", "
		"\"returncode\": 1, \"error\": {\"code\": \"overloaded\", "
		"\"message\": \"the server is stopping\", \"hint\": \"ask "
		"again: the job goes on\"}}";
	unsigned char records[2 * RECORD_REPLY_MAX + sizeof(answer)];
	size_t len = 0;

	if (!h->wait.streamed)
		len = record_stdout(
			h->request.id, answer, sizeof(answer) - 1, records);
	len += record_end_of(h->request.id, records + len);
	send(h->fd, records, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	let_go(s, h);
}

static bool
open_state(struct waiter_state *s)
{
	struct rlimit files = { .rlim_cur = 0 };
	struct epoll_event alive = { .events = EPOLLIN,
		.data.u32 = EVENT_ALIVE };
	struct epoll_event given = { .events = EPOLLIN,
		.data.u32 = EVENT_GIVEN };

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_NOFILE, &files);
	s->most = s->w->most;
	if (files.rlim_cur < 2 * (rlim_t)s->most + OTHER_FILES)
		s->most = files.rlim_cur > OTHER_FILES + 1
			? (uint32_t)(files.rlim_cur - OTHER_FILES) / 2
			: 1;
	atomic_store(&s->w->waiting->count->most, s->most);
	atomic_store(&s->w->waiting->count->held, 0);
	s->held = calloc(s->most, sizeof(*s->held));
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	return s->held != NULL && s->epoll >= 0 &&
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->w->alive, &alive) == 0 &&
		epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->w->waiting->given[1],
			&given) == 0;
}

static void
wait_until_told(struct waiter_state *s)
{
	struct epoll_event events[EVENTS];
	uint64_t next = UINT64_MAX;

	while (!worker_is_leaving()) {
		int n = epoll_pwait(
			s->epoll, events, EVENTS, pause_ms(next), s->w->open);

		for (int i = 0; i < n; i++) {
			uint32_t at = events[i].data.u32;

			if (at == EVENT_ALIVE)
				return;
			if (at != EVENT_GIVEN && at < s->used &&
				s->held[at].fd >= 0)
				peer_spoke(s, &s->held[at]);
		}
		take_given(s);
		next = look_at_jobs(s);
	}
}

int
waiter_run(const struct waiter *w)
{
	static struct waiter_state s;

	worker_signals();
	prctl(PR_SET_NAME, "ss-waiter");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	s.w = w;
	if (!open_state(&s)) {
		say("the waiter cannot start: %s", strerror(errno));
		return 1;
	}
	wait_until_told(&s);
	take_given(&s);
	while (s.used > 0)
		dismiss(&s, &s.held[s.used - 1]);
	return 0;
}
