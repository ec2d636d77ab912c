/* SPDX-License-Identifier: MIT */
#include "worker.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "connection.h"
#include "tool_limit.h"
#include "say.h"

/* Out of descriptors or memory: others may give some back. */
static const struct timespec accept_pause = { .tv_nsec = 100000000 };

static volatile sig_atomic_t leaving;

uint64_t
worker_clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

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

	atomic_store(&w->page->since_us, worker_clock_us());
	atomic_store(&w->page->state, (uint32_t)state);
	if (state == WORKER_IDLE) {
		atomic_fetch_add(&w->bell->idle, 1);
		return;
	}
	idle = atomic_fetch_sub(&w->bell->idle, 1) - 1;
	if (idle < w->bell->spare_min && atomic_exchange(&w->bell->armed, 0))
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
	struct epoll_event lifeline = { .events = EPOLLIN,
		.data.fd = w->lifeline };
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (fd < 0)
		return -1;
	if (epoll_ctl(fd, EPOLL_CTL_ADD, w->listener, &listener) < 0 ||
		epoll_ctl(fd, EPOLL_CTL_ADD, w->lifeline, &lifeline) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/*
 * The next connection; -1: leave.  One look at the listener also on the way
 * out: a wake-up that was meant for us would otherwise be lost.
 */
static int
next_connection(const struct worker *w, int wait_fd)
{
	sigset_t open = *w->open;

	/* Every tool leaves one behind, which would only cost another round. */
	sigaddset(&open, SIGCHLD);
	for (;;) {
		struct epoll_event events[2];
		int n = epoll_pwait(wait_fd, events, 2, -1, &open);
		int fd;

		for (int i = 0; i < n; i++)
			if (events[i].data.fd == w->lifeline)
				return -1;
		if (n < 0 && errno != EINTR)
			return -1;
		fd = connection_accept(w->listener, GATE_SILENCE_S);
		if (fd >= 0 || leaving)
			return fd;
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			ppoll(NULL, 0, &accept_pause, &open);
	}
}

static void
serve_until_told(const struct worker *w, struct connection *gate, int wait_fd)
{
	uint64_t served = 0;
	bool fit = true;

	while (fit && !leaving &&
		(w->max_requests == 0 || served < w->max_requests)) {
		enum ss_err outcome;
		int fd;

		enter_state(w, WORKER_IDLE);
		fd = next_connection(w, wait_fd);
		enter_state(w, WORKER_BUSY);
		if (fd < 0)
			return;
		atomic_fetch_add(&w->page->accepted, 1);
		fit = connection_serve(gate, fd, &outcome) &&
			!ss_site_must_exit(w->served->site);
		atomic_fetch_add(&w->page->outcomes[outcome], 1);
		atomic_store(&w->page->served, ++served);
	}
}

int
worker_run(const struct worker *w)
{
	struct ss_error err = { .code = SS_OK };
	struct connection *gate;
	int wait_fd;

	struct tool_limit gauge = { .scoreboard = w->scoreboard,
		.count = w->slot_count,
		.own = w->page };

	worker_signals();
	tool_limit_attach(&gauge, w->served->site);
	relay_attach(w->relay, w->served->site);
	prctl(PR_SET_NAME, "ss-worker");
	gate = connection_open(w->served->site, &w->served->request, &err);
	wait_fd = open_wait(w);
	if (gate == NULL || wait_fd < 0) {
		say("a worker cannot start: %s",
			gate == NULL ? err.message : "epoll");
		return 1;
	}
	connection_set_most(gate, w->most);
	serve_until_told(w, gate, wait_fd);
	close(wait_fd);
	connection_close(gate);
	return 0;
}
