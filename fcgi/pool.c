/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "sizing.h"
#include "worker.h"

#define SECOND UINT64_C(1000000)
#define TICK_US SECOND
#define BUSY_TICK_US (SECOND / 10)
#define EARLY_DEATH_US SECOND /* younger: it died at birth */
#define BACKOFF_MIN_US (SECOND / 10)
#define BACKOFF_MAX_US (10 * SECOND)
#define RELOAD_PATIENCE_US (5 * SECOND)
#define GRACE_US (60 * SECOND) /* beyond the time a request may take */

struct slot {
	pid_t pid; /* 0: free */
	bool retiring;
	uint64_t born_us;
	uint64_t kill_at_us; /* 0: not yet condemned */
	struct served *served;
	struct board *board;
};

struct pool {
	struct served *served;  /* the newest: workers are born from it */
	struct served *retired; /* the one before, while its workers live */
	const struct options *options;
	const struct listener *listener;
	struct sizing sizing;
	uint64_t max_requests, request_us;
	int lifeline[2];
	int wake;
	struct bell *bell;
	sigset_t open; /* the mask while waiting */
	uint64_t backoff_us, not_before_us, retire_at_us;
	bool stopping;
	struct slot slots[SIZING_MAX * 2]; /* room for a reload */
};

#define SLOT_COUNT (SIZING_MAX * 2)

static volatile sig_atomic_t asked_stop, asked_quit, asked_reload, asked_logs;

static void
on_signal(int number)
{
	switch (number) {
	case SIGTERM:
	case SIGINT: asked_stop = 1; break;
	case SIGQUIT: asked_quit = 1; break;
	case SIGHUP: asked_reload = 1; break;
	case SIGUSR1: asked_logs = 1; break;
	}
}

/* All of them are blocked except while the master waits. */
static void
set_signals(struct pool *p)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP,
		SIGUSR1, SIGCHLD };
	struct sigaction act = { .sa_handler = on_signal };
	sigset_t block;

	sigemptyset(&block);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		sigaddset(&block, numbers[i]);
		sigaction(numbers[i], &act, NULL);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &block, &p->open);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigdelset(&p->open, numbers[i]);
}

static void *
shared_page(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED ? page : NULL;
}

static void
read_settings(struct pool *p)
{
	const struct ss_site *site = p->served->site;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double seconds = ss_site_option_number(site, "limits.timeout") +
		ss_site_option_number(site, "components.total");

	sizing_read(&p->sizing, site, cores > 0 ? (unsigned)cores : 1);
	p->max_requests =
		(uint64_t)ss_site_option_number(site, "pool.max_requests");
	p->request_us = (uint64_t)(seconds * 1e6) + GRACE_US;
	p->bell->spare_min = p->sizing.mode == SIZING_DYNAMIC
		? (int32_t)p->sizing.spare_min
		: 1;
}

/* -------------------------------------------------------- one worker -- */

struct birth {
	struct pool *pool;
	struct slot *slot;
};

/* In the worker: what belongs to the master alone goes first. */
static int
worker_main(void *ctx)
{
	const struct birth *b = ctx;
	struct pool *p = b->pool;
	struct worker w = { .served = p->served,
		.listener = p->listener->fd,
		.lifeline = p->lifeline[0],
		.wake = p->wake,
		.board = b->slot->board,
		.bell = p->bell,
		.max_requests = p->max_requests,
		.open = &p->open };

	close(p->lifeline[1]);
	for (size_t i = 0; i < SLOT_COUNT; i++)
		if (p->slots[i].board != NULL && &p->slots[i] != b->slot)
			munmap(p->slots[i].board, sizeof(struct board));
	return worker_run(&w);
}

static struct slot *
free_slot(struct pool *p)
{
	for (size_t i = 0; i < SLOT_COUNT; i++)
		if (p->slots[i].pid == 0)
			return &p->slots[i];
	return NULL;
}

static void
failed_birth(struct pool *p, uint64_t now)
{
	p->backoff_us = p->backoff_us == 0 ? BACKOFF_MIN_US : p->backoff_us * 2;
	if (p->backoff_us > BACKOFF_MAX_US)
		p->backoff_us = BACKOFF_MAX_US;
	p->not_before_us = now + p->backoff_us;
	say("a worker died at birth; the next one comes in %.1f s",
		(double)p->backoff_us / 1e6);
}

static bool
bear(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct slot *slot = free_slot(p);
	struct birth birth = { .pool = p, .slot = slot };

	if (slot == NULL)
		return false;
	if (slot->board == NULL)
		slot->board = shared_page(sizeof(struct board));
	if (slot->board == NULL)
		return false;
	*slot->board = (struct board){ .state = WORKER_BORN };
	if (ss_site_fork(p->served->site, worker_main, &birth, &slot->pid,
		    &err) != SS_OK) {
		slot->pid = 0;
		say_error("cannot start a worker", &err);
		failed_birth(p, now);
		return false;
	}
	slot->served = p->served;
	slot->retiring = false;
	slot->born_us = now;
	slot->kill_at_us = 0;
	return true;
}

static void
retire(struct slot *slot, int signal_number, uint64_t kill_at_us)
{
	if (slot->retiring && slot->kill_at_us <= kill_at_us)
		return;
	slot->retiring = true;
	slot->kill_at_us = kill_at_us;
	kill(slot->pid, signal_number);
}

static struct slot *
slot_of(struct pool *p, pid_t pid)
{
	for (size_t i = 0; i < SLOT_COUNT; i++)
		if (p->slots[i].pid == pid)
			return &p->slots[i];
	return NULL;
}

/* A worker has ended: was it meant to, and may the next one come at once? */
static void
buried(struct pool *p, struct slot *slot, int status, uint64_t now)
{
	bool early = now - slot->born_us < EARLY_DEATH_US &&
		atomic_load(&slot->board->served) == 0;

	if (WIFSIGNALED(status) && !(slot->retiring && p->stopping))
		say("worker %ld ended by signal %d", (long)slot->pid,
			WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		say("worker %ld ended with status %d", (long)slot->pid,
			WEXITSTATUS(status));
	slot->pid = 0;
	if (early && !slot->retiring)
		failed_birth(p, now);
	else
		p->backoff_us = 0;
}

static void
reap(struct pool *p, uint64_t now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct slot *slot = slot_of(p, pid);

		if (slot != NULL)
			buried(p, slot, status, now);
	}
}

/* --------------------------------------------------------- all of them -- */

static struct slot *
next_alive(struct pool *p, size_t *at)
{
	while (*at < SLOT_COUNT)
		if (p->slots[(*at)++].pid != 0)
			return &p->slots[*at - 1];
	return NULL;
}

/* The workers of the newest site; a newborn one counts as idle. */
static void
count(struct pool *p, uint64_t now, struct headcount *h, struct slot **longest)
{
	struct slot *slot;

	*h = (struct headcount){ 0 };
	*longest = NULL;
	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;) {
		uint64_t since = atomic_load(&slot->board->since_us);

		if (slot->retiring || slot->served != p->served)
			continue;
		h->total++;
		if (atomic_load(&slot->board->state) == WORKER_BUSY)
			continue;
		h->idle++;
		if (since != 0 && since < now && now - since > h->longest_us) {
			h->longest_us = now - since;
			*longest = slot;
		}
	}
}

static bool
queue_waits(const struct pool *p)
{
	struct pollfd queue = { .fd = p->listener->fd, .events = POLLIN };

	return poll(&queue, 1, 0) > 0;
}

/* Births and retirements that the figures ask for. */
static void
resize(struct pool *p, uint64_t now)
{
	struct headcount h;
	struct slot *longest;
	int change;

	count(p, now, &h, &longest);
	atomic_store(&p->bell->idle, (int32_t)h.idle);
	h.waiting = h.idle == 0 && queue_waits(p);
	change = sizing_change(&p->sizing, &h);
	if (change < 0 && longest != NULL)
		retire(longest, SIGQUIT, now + p->request_us);
	if (now < p->not_before_us)
		return;
	while (change-- > 0 && bear(p, now))
		;
}

/* The watchdog: what is busy for too long, or does not leave, is ended. */
static void
end_overdue(struct pool *p, uint64_t now)
{
	struct slot *slot;

	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;) {
		uint64_t since = atomic_load(&slot->board->since_us);
		bool busy = atomic_load(&slot->board->state) == WORKER_BUSY;

		if (slot->kill_at_us != 0 && now >= slot->kill_at_us) {
			say("worker %ld does not leave: killed",
				(long)slot->pid);
			kill(slot->pid, SIGKILL);
			slot->kill_at_us = now + GRACE_US;
		} else if (slot->kill_at_us == 0 && busy && since < now &&
			now - since > p->request_us) {
			say("worker %ld is stuck for %llu s: killed",
				(long)slot->pid,
				(unsigned long long)((now - since) / SECOND));
			kill(slot->pid, SIGKILL);
			slot->kill_at_us = now + GRACE_US;
		}
	}
}

static size_t
retire_all(struct pool *p, int signal_number, uint64_t kill_at_us)
{
	struct slot *slot;
	size_t n = 0;

	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL; n++)
		retire(slot, signal_number, kill_at_us);
	return n;
}

/* ---------------------------------------------------------------- life -- */

/* The site before the last reload, once none of its workers is left. */
static void
free_retired(struct pool *p)
{
	struct slot *slot;

	if (p->retired == NULL)
		return;
	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;)
		if (slot->served == p->retired)
			return;
	served_free(p->retired);
	p->retired = NULL;
}

/*
 * A new site from the configuration as it is now.  The old workers stay until
 * the new ones can take over; the listening socket never closes, so that no
 * request is lost.
 */
static void
reload(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct served *served;

	if (p->retired != NULL) {
		say("a reload is still under way");
		return;
	}
	served = served_new(p->options, &err);
	if (served == NULL) {
		say_error("not reloaded, everything stays as it was", &err);
		return;
	}
	p->retired = p->served;
	p->served = served;
	p->retire_at_us = now + RELOAD_PATIENCE_US;
	p->not_before_us = 0;
	read_settings(p);
	say("reloaded");
}

/* Old workers leave when a new one is ready, or after a while anyway. */
static void
retire_old(struct pool *p, uint64_t now)
{
	bool ready = now >= p->retire_at_us;
	struct slot *slot;

	if (p->retired == NULL)
		return;
	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;)
		if (slot->served == p->served &&
			atomic_load(&slot->board->state) != WORKER_BORN)
			ready = true;
	if (p->sizing.mode == SIZING_ONDEMAND)
		ready = true;
	for (size_t at = 0; ready && (slot = next_alive(p, &at)) != NULL;)
		if (slot->served != p->served && !slot->retiring)
			retire(slot, SIGQUIT, now + p->request_us);
}

static void
obey(struct pool *p, uint64_t now)
{
	if (asked_stop || asked_quit) {
		retire_all(p, asked_stop ? SIGTERM : SIGQUIT,
			now +
				(asked_stop ? POOL_STOP_S * SECOND
					    : p->request_us));
		p->stopping = true;
		asked_stop = asked_quit = 0;
	}
	if ((asked_reload || asked_logs) && !p->stopping)
		reload(p, now);
	asked_reload = asked_logs = 0;
}

static bool
anyone_busy(struct pool *p)
{
	struct slot *slot;

	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;)
		if (atomic_load(&slot->board->state) != WORKER_IDLE ||
			slot->retiring || slot->served != p->served)
			return true;
	return false;
}

/*
 * Until a signal, a worker's call, or the next look around.  With no worker
 * idle a waiting connection is a reason, too: on demand, the first one.
 */
static void
wait_for_something(struct pool *p, uint64_t now)
{
	bool empty = !p->stopping && atomic_load(&p->bell->idle) <= 0 &&
		p->sizing.mode == SIZING_ONDEMAND && now >= p->not_before_us;
	struct pollfd fds[2] = { { .fd = p->wake, .events = POLLIN },
		{ .fd = empty ? p->listener->fd : -1, .events = POLLIN } };
	uint64_t us = anyone_busy(p) || now < p->not_before_us ? BUSY_TICK_US
							       : TICK_US;
	struct timespec timeout = { .tv_sec = (time_t)(us / SECOND),
		.tv_nsec = (long)(us % SECOND) * 1000 };
	eventfd_t rung;

	atomic_store(&p->bell->armed, 1);
	if (ppoll(fds, 2, &timeout, &p->open) > 0 && fds[0].revents != 0)
		eventfd_read(p->wake, &rung);
}

static int
live(struct pool *p)
{
	size_t at = 0;

	for (;;) {
		uint64_t now = worker_clock_us();

		reap(p, now);
		obey(p, now);
		free_retired(p);
		at = 0;
		if (p->stopping && next_alive(p, &at) == NULL)
			return 0;
		if (!p->stopping)
			resize(p, now);
		retire_old(p, now);
		end_overdue(p, now);
		wait_for_something(p, now);
	}
}

static void
bear_first(struct pool *p)
{
	uint64_t now = worker_clock_us();
	unsigned n = 0;

	if (p->sizing.mode == SIZING_STATIC)
		n = p->sizing.max;
	else if (p->sizing.mode == SIZING_DYNAMIC)
		n = p->sizing.start;
	while (n-- > 0 && bear(p, now))
		;
}

static bool
open_pool(struct pool *p)
{
	p->lifeline[0] = p->lifeline[1] = -1;
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->bell = shared_page(sizeof(*p->bell));
	return p->wake >= 0 && p->bell != NULL &&
		pipe2(p->lifeline, O_CLOEXEC) == 0;
}

static void
close_pool(struct pool *p)
{
	for (size_t i = 0; i < SLOT_COUNT; i++)
		if (p->slots[i].board != NULL)
			munmap(p->slots[i].board, sizeof(struct board));
	if (p->bell != NULL)
		munmap(p->bell, sizeof(*p->bell));
	for (int i = 0; i < 2; i++)
		if (p->lifeline[i] >= 0)
			close(p->lifeline[i]);
	if (p->wake >= 0)
		close(p->wake);
	served_free(p->retired);
	served_free(p->served);
}

int
pool_run(struct served *served, const struct options *options,
	const struct listener *listener)
{
	static struct pool pool;
	struct pool *p = &pool;
	int status = 1;

	*p = (struct pool){
		.served = served, .options = options, .listener = listener
	};
	if (open_pool(p)) {
		read_settings(p);
		set_signals(p);
		bear_first(p);
		status = live(p);
	} else {
		say("cannot start the pool: %s", strerror(errno));
	}
	close_pool(p);
	return status;
}
