/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "parked.h"
#include "sys.h"
#include "tool_limit.h"
#include "say.h"

/* After accept(2) without descriptors or memory. */
static const struct timespec accept_pause = { .tv_nsec = 100000000 };
/* Between two attempts to take a tool slot. */
static const struct timespec slot_pause = { .tv_nsec = 10000000 };
#define PARKED_LOOK_MS 100

static volatile sig_atomic_t leaving;

static void
on_leave(int signal_number)
{
	(void)signal_number;
	leaving = 1;
}

bool
worker_is_leaving(void)
{
	return leaving != 0;
}

void
worker_signals(void)
{
	struct sigaction leave = { .sa_handler = on_leave };
	struct sigaction plain = { .sa_handler = SIG_DFL };

	leaving = 0;
	sigaction(SIGTERM, &leave, NULL);
	sigaction(SIGINT, &leave, NULL);
	sigaction(SIGQUIT, &leave, NULL);
	sigaction(SIGHUP, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
	sigaction(SIGCHLD, &plain, NULL);
}

static void
enter_state(const struct worker *w, enum worker_state state)
{
	int32_t idle;

	atomic_store(&w->page->since_us, sys_clock_us());
	atomic_store(&w->page->state, (uint32_t)state);
	if (state == WORKER_IDLE) {
		atomic_fetch_add(&w->wakeup->idle, 1);
		return;
	}
	idle = atomic_fetch_sub(&w->wakeup->idle, 1) - 1;
	if (idle < w->wakeup->spare_min &&
		atomic_exchange(&w->wakeup->armed, 0))
		eventfd_write(w->wake, 1);
}

/*
 * EPOLLEXCLUSIVE: one connection wakes one worker, however many wait (plain
 * poll costs a third with 8 workers and nine tenths with 128).
 */
static int
open_wait(const struct worker *w)
{
	struct epoll_event listener = { .events = EPOLLIN | EPOLLEXCLUSIVE,
		.data.fd = w->listener };
	struct epoll_event ready = { .events = EPOLLIN | EPOLLEXCLUSIVE,
		.data.fd = w->silent->ready[1] };
	struct epoll_event waited = { .events = EPOLLIN | EPOLLEXCLUSIVE,
		.data.fd = w->waiting->ready[1] };
	struct epoll_event alive = { .events = EPOLLIN, .data.fd = w->alive };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -1;
	if (epoll_ctl(fd, EPOLL_CTL_ADD, w->listener, &listener) < 0 ||
		epoll_ctl(fd, EPOLL_CTL_ADD, ready.data.fd, &ready) < 0 ||
		epoll_ctl(fd, EPOLL_CTL_ADD, waited.data.fd, &waited) < 0 ||
		epoll_ctl(fd, EPOLL_CTL_ADD, w->alive, &alive) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---------------------------------------- when no tool may start now -- */

/* A worker and the request that it serves. */
struct serving {
	const struct worker *w;
	struct connection *connection;
	struct tool_slot use;
	const struct ss_wait *waited; /* of the request, when it has waited */
	bool turn;                    /* the last one had waited */
};

static bool
park_request(struct serving *s, const struct request *r)
{
	struct parked_request p = { .begun_us = r->ss.received_us,
		.body = r->ss.body,
		.body_len = r->ss.body_len };
	struct tool_slots *slots = s->use.slots;

	connection_park(s->connection, &p);
	atomic_fetch_add(&slots->parked, 1);
	if (parked_put(s->w->parked, &p, r->ss.client_fd))
		return true;
	atomic_fetch_sub(&slots->parked, 1);
	return false;
}

/* For a request that cannot be parked; refused after WORKER_QUEUE_US. */
static void
wait_for_slot(struct serving *s, struct request *r)
{
	uint64_t until = r->ss.received_us + WORKER_QUEUE_US;

	s->use.resumed = true;
	while (!tool_slots_take(&s->use) && !leaving && sys_clock_us() < until)
		ppoll(NULL, 0, &slot_pause, s->w->open);
	if (!s->use.held)
		request_refuse(r, SS_OVERLOADED,
			"all workers are busy; the tool did not run");
}

/* This worker is free for a page, but may a tool start, and will it stay? */
static void
replace_ready(const struct serving *s, const struct request *r,
	struct ss_response *res)
{
	static const char saturated[] = "{\"status\": \"saturated\"}\n";
	static const char draining[] = "{\"status\": \"draining\"}\n";

	bool drains = atomic_load(&s->w->slots->draining) != 0;
	const char *body = drains ? draining : saturated;

	if (strcmp(r->ss.path, "/readyz") != 0 || res->status != 200 ||
		(!drains && !tool_slots_full(s->w->slots)))
		return;
	res->status = 503;
	res->length = strlen(body);
	if (res->body_len > 0) {
		res->body = body;
		res->body_len = res->length;
	}
}

/* Hands a request that waits for a job to the waiter. */
static bool
give_waiting(void *ctx, const struct ss_wait *wait)
{
	struct serving *s = ctx;
	const struct request *r = &s->w->served->request;
	struct parked_request p = { .begun_us = r->ss.received_us };

	connection_park(s->connection, &p);
	if (atomic_exchange(&s->w->waiting->count->wanted, 1) == 0)
		eventfd_write(s->w->wake, 1);
	s->use.put_off = waiting_give(s->w->waiting, &p, r->ss.client_fd, wait);
	return s->use.put_off;
}

/*
 * When no tool may start now, the answer is discarded and the request parked;
 * its connection lives on in the queue.
 */
static enum ss_err
answer_or_park(void *ctx, struct ss_site *site, struct request *r,
	struct ss_response *res)
{
	struct serving *s = ctx;
	enum ss_err code;

	s->use.put_off = false;
	r->ss.wait = atomic_load(&s->w->waiting->count->most) > 0 ? give_waiting
								  : NULL;
	r->ss.wait_ctx = s;
	r->ss.waited = s->waited;
	code = ss_site_handle(site, &r->ss, res);
	if (!s->use.put_off) {
		replace_ready(s, r, res);
		return code;
	}
	if (code == SS_GONE) /* it waits for a job */
		return code;
	if (park_request(s, r))
		return SS_GONE;
	ss_response_release(res);
	wait_for_slot(s, r);
	s->use.put_off = false;
	return ss_site_handle(site, &r->ss, res);
}

/* There is no request yet: put_off, so that no outcome is counted. */
static void
give_silent(void *ctx, struct silent_peer peer)
{
	struct serving *s = ctx;

	s->use.put_off = true;
	silent_give(s->w->silent, peer);
}

/* From the accept to the end of the answer. */
static void
count_time(const struct serving *s, enum ss_err outcome)
{
	uint64_t from = s->w->served->request.ss.received_us;
	uint64_t now = sys_clock_us();
	uint64_t took = from < now ? now - from : 0;
	size_t i = 0;

	if (outcome == SS_GONE)
		return;
	while (i < SCOREBOARD_TIMES - 1 && took > scoreboard_bounds[i])
		i++;
	atomic_fetch_add(&s->w->page->times[outcome][i], 1);
	atomic_fetch_add(&s->w->page->times_us[outcome], took);
}

static bool
count_outcome(const struct serving *s, bool fit, enum ss_err outcome)
{
	if (!s->use.put_off) {
		atomic_fetch_add(&s->w->page->outcomes[outcome], 1);
		count_time(s, outcome);
		site_counts_answer(
			s->w->served->counts, s->w->served->site, outcome);
	}
	return fit && !ss_site_must_exit(s->w->served->site);
}

/* Serves parked requests while tools may start. */
static bool
serve_parked(struct serving *s, uint64_t *served)
{
	const struct worker *w = s->w;
	struct parked_request r;
	enum ss_err outcome;
	bool fit = true;
	int fd;

	while (fit && !leaving && s->use.slots->parked > 0 &&
		tool_slots_take(&s->use)) {
		fd = parked_take(w->parked, &r);
		if (fd < 0) {
			tool_slots_give(&s->use);
			break;
		}
		atomic_fetch_sub(&s->use.slots->parked, 1);
		s->use.resumed = true;
		s->use.put_off = false;
		fit = connection_resume(s->connection, &r, fd, &outcome);
		tool_slots_give(&s->use);
		fit = count_outcome(s, fit, outcome);
		atomic_store(&w->page->served, ++*served);
		atomic_store(&w->page->since_us, sys_clock_us());
	}
	s->use.resumed = false;
	return fit;
}

/* Serves one request that has waited for a job. */
static bool
serve_waited(struct serving *s, uint64_t *served)
{
	const struct worker *w = s->w;
	struct parked_request r;
	struct ss_wait wait;
	enum ss_err outcome;
	bool fit;
	int fd = waiting_take(w->waiting->ready, &r, &wait);

	if (fd < 0)
		return true;
	if (wait.job_fd >= 0) /* not of ours */
		close(wait.job_fd);
	wait.job_fd = -1;
	r.streamed = wait.streamed;
	s->waited = &wait;
	s->use.put_off = false;
	fit = connection_resume(s->connection, &r, fd, &outcome);
	s->waited = NULL;
	tool_slots_give(&s->use);
	fit = count_outcome(s, fit, outcome);
	atomic_store(&w->page->served, ++*served);
	return fit;
}

static int
accept_counted(const struct worker *w)
{
	int fd = connection_accept(
		w->listener, &w->served->peers, CONNECTION_SILENCE_S);

	if (fd >= 0)
		atomic_fetch_add(&w->page->accepted, 1);
	return fd;
}

/* They and new connections take turns. */
static bool
is_turn_of_waited(
	struct serving *s, const struct epoll_event *events, int count)
{
	bool waited = false, others = false;

	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == s->w->waiting->ready[1])
			waited = true;
		else
			others = true;
	}
	s->turn = waited && !(others && s->turn);
	return s->turn;
}

/*
 * The next connection, in *peer; -1: leave; -2: look at parked requests; -3: at
 * those that have waited for a job.  A worker that is told to leave accepts once
 * more: EPOLLEXCLUSIVE may have woken it alone for a connection.
 */
static int
next_connection(struct serving *s, int wait_fd, struct silent_peer *peer)
{
	const struct worker *w = s->w;
	sigset_t open = *w->open;

	/* Each tool that ended left a SIGCHLD pending. */
	sigaddset(&open, SIGCHLD);
	for (;;) {
		struct epoll_event events[4];
		int wait_ms = w->slots->parked > 0 ? PARKED_LOOK_MS : -1;
		int n = epoll_pwait(wait_fd, events, 4, wait_ms, &open);

		*peer = (struct silent_peer){ .fd = -1, .saved = -1 };
		for (int i = 0; i < n; i++)
			if (events[i].data.fd == w->alive)
				return -1;
		if (n < 0 && errno != EINTR)
			return -1;
		if (is_turn_of_waited(s, events, n))
			return -3;
		for (int i = 0; i < n; i++)
			if (events[i].data.fd == w->silent->ready[1])
				silent_take_ready(w->silent, peer);
		if (peer->fd < 0)
			peer->fd = accept_counted(w);
		if (peer->fd >= 0 || leaving)
			return peer->fd;
		if (n == 0)
			return -2;
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			ppoll(NULL, 0, &accept_pause, &open);
	}
}

static void
serve_until_told(struct serving *s, int wait_fd)
{
	const struct worker *w = s->w;
	uint64_t served = 0;
	bool fit = serve_parked(s, &served);

	while (fit && !leaving &&
		(w->max_requests == 0 || served < w->max_requests)) {
		struct silent_peer peer;
		enum ss_err outcome;
		int fd;

		enter_state(w, WORKER_IDLE);
		fd = next_connection(s, wait_fd, &peer);
		enter_state(w, WORKER_BUSY);
		if (fd == -1)
			return;
		if (fd >= 0) {
			s->use.put_off = false;
			fit = connection_continue(
				s->connection, peer, &outcome);
			tool_slots_give(&s->use);
			fit = count_outcome(s, fit, outcome);
			atomic_store(&w->page->served, ++served);
		}
		if (fd == -3)
			fit = serve_waited(s, &served);
		fit = fit && serve_parked(s, &served);
	}
}

int
worker_run(const struct worker *w)
{
	struct ss_error err = { .code = SS_OK };
	struct serving serving = { .w = w,
		.use = { .slots = w->slots, .number = w->number } };
	struct connection *connection;
	int wait_fd;

	struct tool_limit limit = { .scoreboard = w->scoreboard,
		.count = w->slot_count,
		.own = w->page,
		.use = &serving.use,
		.sites = w->served->counts,
		.site = w->served->site };

	worker_signals();
	tool_limit_attach(&limit, w->served->site);
	w->relay->waiting = &limit;
	w->relay->page = w->page;
	relay_attach(w->relay, w->served->site);
	kept_attach(w->kept, w->served->site);
	prctl(PR_SET_NAME, "ss-worker");
	connection =
		connection_open(w->served->site, &w->served->request, &err);
	wait_fd = open_wait(w);
	if (connection == NULL || wait_fd < 0) {
		say("a worker cannot start: %s",
			connection == NULL ? err.message : "epoll");
		return 1;
	}
	serving.connection = connection;
	connection_set_answer(connection, answer_or_park, &serving);
	connection_set_most(connection, w->most);
	connection_set_listener(connection, w->listener);
	connection_set_silent(connection, give_silent, &serving);
	serve_until_told(&serving, wait_fd);
	close(wait_fd);
	connection_close(connection);
	return 0;
}
