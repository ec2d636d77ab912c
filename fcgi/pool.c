/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixed.h"
#include "scoreboard.h"
#include "status_server.h"
#include "notify.h"
#include "parked.h"
#include "queue.h"
#include "relay.h"
#include "say.h"
#include "sizing.h"
#include "sweep.h"
#include "silent.h"
#include "slots.h"
#include "sys.h"
#include "time_limits.h"
#include "worker.h"

#define SECOND UINT64_C(1000000)
#define TICK_US (SECOND / 2)
#define LOOK_US (SECOND / 2) /* at the site's directory */
#define BUSY_TICK_US (SECOND / 10)
#define EARLY_DEATH_US SECOND /* younger: it died at birth */
#define BACKOFF_MIN_US (SECOND / 10)
#define BACKOFF_MAX_US (10 * SECOND)
#define RELOAD_PATIENCE_US (5 * SECOND)
#define GRACE_US (60 * SECOND)     /* until what was killed is killed again */
#define LONG_TOOL_US (SECOND / 10) /* running for so long: see needs_reserve */
#define SAMPLE_US (SECOND / 10)
#define SHRINK_US SECOND /* one worker fewer at a time, not in a hurry */

#define FILES_LEAST 64

#define SLOT_COUNT (SIZING_MAX * 2) /* room for a reload */

struct slot {
	pid_t pid; /* 0: free */
	bool retiring;
	uint64_t started_us;
	uint64_t kill_at_us; /* 0: not yet condemned */
	struct served *served;
	struct worker_page *page;
};

struct pool {
	struct served *served;  /* the newest: workers are born from it */
	struct served *retired; /* the one before, while its workers live */
	const struct options *options;
	const struct listener *listener, *status;
	struct sizing sizing;
	struct fixed fixed;
	uint64_t max_requests, request_us, stop_us;
	int lifeline[2];
	int wake;
	struct bell *bell;
	struct slots *tools; /* that run */
	int parked[2];
	struct silent silent;
	unsigned reserve;
	uint64_t reserve_until_us; /* while it is needed */
	sigset_t open;             /* the mask while waiting */
	uint64_t backoff_us, not_before_us, retire_at_us, shrink_at_us;
	bool stopping;
	bool reload_asked;
	uint64_t looked_at_us;
	bool grown;     /* to as many workers as there may be */
	bool rung;      /* by one of them, and nothing else since */
	bool saturated; /* all busy, and no more are allowed or can be born */
	unsigned backlog;
	uint64_t sampled_us, watchdog_us, watchdog_at_us;
	struct queue queue;
	struct relay relay; /* its memory is read and written by workers */
	int refuse;         /* eventfd of the status server */
	struct figures *figures;
	void *scoreboard; /* a page for each slot, then the status server's */
	void *seen;       /* the same, through a descriptor that cannot write */
	pid_t status_server;
	uint64_t status_server_not_before_us;
	struct sweep sweep;
	struct slot slots[SLOT_COUNT];
};

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

void
pool_signals(sigset_t *open)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGQUIT, SIGHUP,
		SIGUSR1, SIGCHLD };

	sys_block_signals(numbers, ARRAY_LEN(numbers), on_signal, open);
}

static void *
shared_page(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED ? page : NULL;
}

/*
 * The pages of all, mapped twice: workers keep their own page of the first
 * mapping and all of the second one, which no mprotect(2) makes writable.
 */
static bool
share_scoreboard(struct pool *p)
{
	size_t size = (SLOT_COUNT + 1) * SCOREBOARD_PAGE;
	int fd = memfd_create("scoreboard", MFD_CLOEXEC), reader = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && ftruncate(fd, (off_t)size) == 0)
		reader = open(path, O_RDONLY | O_CLOEXEC);
	if (reader >= 0) {
		p->scoreboard = mmap(
			NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		p->seen = mmap(NULL, size, PROT_READ, MAP_SHARED, reader, 0);
		close(reader);
	}
	if (fd >= 0)
		close(fd);
	p->scoreboard = p->scoreboard != MAP_FAILED ? p->scoreboard : NULL;
	p->seen = p->seen != MAP_FAILED ? p->seen : NULL;
	return p->scoreboard != NULL && p->seen != NULL;
}

static void
read_settings(struct pool *p)
{
	const struct ss_site *site = p->served->site;
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double seconds = time_limits_request(site) +
		ss_site_option_number(site, "pool.watchdog");

	sizing_read(&p->sizing, site, cores > 0 ? (unsigned)cores : 1);
	p->max_requests =
		(uint64_t)ss_site_option_number(site, "pool.max_requests");
	p->request_us = (uint64_t)(seconds * 1e6);
	p->stop_us = (uint64_t)(time_limits_stop(site) * 1e6);
	p->reserve = (unsigned)ss_site_option_number(site, "pool.reserve");
	if (p->reserve > SIZING_MAX - p->sizing.max)
		p->reserve = SIZING_MAX - p->sizing.max;
	p->tools->most = p->reserve > 0 ? p->sizing.max : 0;
	p->bell->spare_min = p->sizing.mode == SIZING_DYNAMIC
		? (int32_t)p->sizing.spare_min
		: 1;
	p->figures->mode = p->sizing.mode;
	p->figures->max = p->sizing.max;
	p->figures->start = p->sizing.start;
	p->figures->spare_min = p->sizing.spare_min;
	p->figures->spare_max = p->sizing.spare_max;
	p->figures->reserve = p->reserve;
	p->figures->request_us = p->request_us;
}

/* Of an inherited socket neither path nor access is ours to change. */
static void
note_fixed(struct pool *p)
{
	const struct ss_site *site = p->served->site;

	p->backlog = (unsigned)ss_site_option_number(site, "pool.backlog");
	if (p->listener->path[0] != '\0')
		fixed_note(&p->fixed, site);
}

/* One line that says which protection the kernel gives; for status, too. */
static void
tell_sandbox(struct pool *p)
{
	struct ss_error err = { .code = SS_OK };
	const char *level = "unknown", *why = "";

	if (ss_site_probe(p->served->site, NULL, NULL, &level, &why, &err) !=
		SS_OK)
		say_error("how tools are confined is not known", &err);
	snprintf(p->figures->sandbox, sizeof(p->figures->sandbox), "%s", level);
	say("tools are confined: %s%s%s", level, *why != '\0' ? "; " : "", why);
}

/* The first line of a pool: what it was started as. */
static void
log_start(const struct pool *p)
{
	static const char *const modes[] = { [SIZING_STATIC] = "static",
		[SIZING_DYNAMIC] = "dynamic",
		[SIZING_ONDEMAND] = "ondemand" };
	const char *path = p->listener->path;
	struct ss_account account = ss_site_account(p->served->site);
	const struct ss_field fields[] = {
		{ .name = "version", .text = ss_version() },
		{ .name = "socket",
			.text = *path != '\0' ? path : "inherited" },
		{ .name = "account",
			.text = account.name[0] != '\0' ? account.name : NULL,
			.number = (int64_t)account.uid },
		{ .name = "mode", .text = modes[p->sizing.mode] },
		{ .name = "workers", .number = p->sizing.max },
		{ .name = "sandbox", .text = p->figures->sandbox },
	};

	ss_site_log(p->served->site, "start", fields, ARRAY_LEN(fields));
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
		.page = b->slot->page,
		.scoreboard = p->seen,
		.slot_count = SLOT_COUNT,
		.bell = p->bell,
		.relay = &p->relay,
		.slots = p->tools,
		.number = (uint32_t)(b->slot - p->slots) + 1,
		.parked = p->parked,
		.silent = &p->silent,
		.max_requests = p->max_requests,
		.most = p->sizing.max,
		.open = &p->open };

	size_t own = (size_t)(b->slot - p->slots);

	say_count_lost(&b->slot->page->log_lost);
	close(p->lifeline[1]);
	munmap(p->figures, sizeof(*p->figures));
	if (own > 0)
		munmap(p->scoreboard, own * SCOREBOARD_PAGE);
	munmap(scoreboard_at(p->scoreboard, own + 1),
		(SLOT_COUNT - own) * SCOREBOARD_PAGE);
	relay_keep(&p->relay, own);
	p->relay.waiting_max = p->sizing.max > 1 ? (p->sizing.max + 3) / 4 : 0;
	return worker_run(&w);
}

/* In the status server: it reads everything and writes its own page only. */
static int
status_server_main(void *ctx)
{
	struct pool *p = ctx;
	const struct status_server c = { .served = p->served,
		.listener = p->listener->fd,
		.status = p->status->fd,
		.lifeline = p->lifeline[0],
		.refuse = p->refuse,
		.parked = p->parked,
		.silent = &p->silent,
		.slots = p->tools,
		.figures = p->figures,
		.scoreboard = p->seen,
		.slot_count = SLOT_COUNT,
		.page = scoreboard_at(p->scoreboard, SLOT_COUNT),
		.open = &p->open };

	say_count_lost(&c.page->log_lost);
	close(p->lifeline[1]);
	munmap(p->scoreboard, SLOT_COUNT * SCOREBOARD_PAGE);
	relay_close(&p->relay);
	if (mprotect(p->figures, sizeof(*p->figures), PROT_READ) < 0)
		return 1;
	return status_server_run(&c);
}

/*
 * The status server is born again whenever it is missing, but not in a hurry.
 */
static void
start_status_server(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;

	if (p->status_server != 0 || now < p->status_server_not_before_us)
		return;
	p->status_server_not_before_us = now + SECOND;
	if (ss_site_fork(p->served->site, 0, status_server_main, p, &child,
		    &err) == SS_OK)
		p->status_server = child.pid;
	else
		say_error("cannot start the status server", &err);
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
back_off(struct pool *p, uint64_t now)
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
	struct ss_child child;

	if (slot == NULL)
		return false;
	slot->page = scoreboard_at(p->scoreboard, (size_t)(slot - p->slots));
	slot->page->served = 0;
	slot->page->since_us = now;
	slot->page->state = WORKER_STARTING;
	if (ss_site_fork(p->served->site, SS_FORK_LAUNCHER | SS_FORK_MEMORY,
		    worker_main, &birth, &child, &err) != SS_OK) {
		slot->page->state = WORKER_NONE;
		say_error("cannot start a worker", &err);
		back_off(p, now);
		return false;
	}
	slot->pid = child.pid;
	slot->served = p->served;
	slot->retiring = false;
	slot->started_us = now;
	slot->kill_at_us = 0;
	p->figures->births++;
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
note_exit(struct pool *p, struct slot *slot, int status, uint64_t now)
{
	bool early = now - slot->started_us < EARLY_DEATH_US &&
		atomic_load(&slot->page->served) == 0;

	if (WIFSIGNALED(status) && !(slot->retiring && p->stopping))
		say("worker %ld ended by signal %d", (long)slot->pid,
			WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		say("worker %ld ended with status %d", (long)slot->pid,
			WEXITSTATUS(status));
	slot->pid = 0;
	slot->page->state = WORKER_NONE;
	slot->page->tool = 0;
	slots_clear(p->tools, (uint32_t)(slot - p->slots) + 1);
	if (!slot->retiring && (WIFSIGNALED(status) || WEXITSTATUS(status)))
		p->figures->deaths++;
	if (early && !slot->retiring)
		back_off(p, now);
	else
		p->backoff_us = 0;
}

/* Names a helper that was not asked to end; the caller forgets its pid. */
static pid_t
helper_ended(const struct pool *p, const char *who, pid_t pid, int status)
{
	if (WIFSIGNALED(status) && !p->stopping)
		say("%s %ld ended by signal %d", who, (long)pid,
			WTERMSIG(status));
	else if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
		say("%s %ld ended with status %d", who, (long)pid,
			WEXITSTATUS(status));
	return 0;
}

static void
reap(struct pool *p, uint64_t now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct slot *slot = slot_of(p, pid);

		if (sweep_reaped(&p->sweep, pid, status))
			continue;
		if (slot != NULL)
			note_exit(p, slot, status, now);
		else if (pid == p->status_server)
			p->status_server = helper_ended(
				p, "the status server", pid, status);
		else
			helper_ended(
				p, "the launcher of a worker,", pid, status);
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
		uint64_t since = atomic_load(&slot->page->since_us);

		if (slot->retiring || slot->served != p->served)
			continue;
		h->total++;
		if (atomic_load(&slot->page->state) == WORKER_BUSY)
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

/*
 * More workers than `workers`, for pages, while nearly all of those are in
 * tools that take long.  They stay a while after that.
 */
static bool
needs_reserve(struct pool *p, uint64_t now)
{
	unsigned longer = 0;
	struct slot *slot;

	p->figures->tools = slots_count(p->tools);
	for (size_t at = 0;
		p->figures->tools > 0 && (slot = next_alive(p, &at)) != NULL;) {
		uint64_t since = atomic_load(&slot->page->since_us);

		if (atomic_load(&slot->page->state) == WORKER_BUSY &&
			since < now && now - since > LONG_TOOL_US)
			longer++;
	}
	if (p->figures->tools > 0 &&
		longer >= p->sizing.max - p->sizing.max / 4)
		p->reserve_until_us = now + p->sizing.idle_us;
	return now < p->reserve_until_us;
}

/* Births and retirements that the figures ask for. */
static void
resize(struct pool *p, uint64_t now)
{
	struct headcount h;
	struct slot *longest;
	bool full;
	int change;

	count(p, now, &h, &longest);
	h.reserve = needs_reserve(p, now) ? p->reserve : 0;
	atomic_store(&p->bell->idle, (int32_t)h.idle);
	h.waiting = h.idle == 0 && queue_waits(p);
	p->grown = h.total >= p->sizing.max + h.reserve;
	full = h.idle == 0 && p->grown;
	if (full && !p->saturated)
		p->figures->max_reached++;
	p->saturated = full || (h.idle == 0 && now < p->not_before_us);
	if (h.total - h.idle > p->figures->most_busy)
		p->figures->most_busy = h.total - h.idle;
	change = sizing_change(&p->sizing, &h);
	if (change < 0 && longest != NULL && now >= p->shrink_at_us) {
		p->shrink_at_us = now + SHRINK_US;
		retire(longest, SIGQUIT, now + p->request_us);
	}
	if (now < p->not_before_us)
		return;
	while (change-- > 0 && bear(p, now))
		;
}

static uint64_t
accepted_by_all(const struct pool *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= SLOT_COUNT; i++)
		sum += scoreboard_at(p->scoreboard, i)->accepted;
	return sum;
}

/*
 * Requests that wait for a tool to end, in the figures of who put them there
 * and who took them out: wrong by those that died in between, until the queue
 * is empty.  The status server refuses the oldest when they have waited too
 * long.
 */
static unsigned
parked_now(struct pool *p, uint64_t now)
{
	uint64_t oldest = parked_oldest(p->parked);
	uint64_t ready = parked_oldest(p->silent.ready);
	int32_t parked;

	if (ready != 0 && ready + WORKER_QUEUE_US <= now)
		eventfd_write(p->refuse, STATUS_SERVER_PARKED);
	if (oldest == 0) {
		atomic_store(&p->tools->parked, 0);
		return 0;
	}
	if (oldest + WORKER_QUEUE_US <= now)
		eventfd_write(p->refuse, STATUS_SERVER_PARKED);
	parked = atomic_load(&p->tools->parked);
	return parked > 0 ? (unsigned)parked : 1;
}

/*
 * Busy workers cannot refuse what the kernel queues.  Clients that waited too
 * long, or that fill the queue to the brim, are the status server's to turn
 * away.
 */
static void
relieve(struct pool *p, uint64_t now)
{
	unsigned overdue, most = p->backlog - p->backlog / 8;
	unsigned parked = parked_now(p, now);
	int length;

	if ((!p->saturated && parked == 0) || now < p->sampled_us + SAMPLE_US) {
		if (!p->saturated && parked == 0)
			p->figures->queue = 0;
		return;
	}
	p->sampled_us = now;
	length = p->saturated ? queue_length(&p->queue) : 0;
	if (length < 0)
		return;
	p->figures->queue = (unsigned)length + parked;
	if (p->figures->queue > p->figures->queue_most)
		p->figures->queue_most = p->figures->queue;
	if (!p->saturated)
		return;
	overdue = queue_overdue(&p->queue, now, (unsigned)length,
		accepted_by_all(p), WORKER_QUEUE_US);
	if ((unsigned)length > most && (unsigned)length - most > overdue)
		overdue = (unsigned)length - most;
	if (overdue > 0)
		eventfd_write(p->refuse, overdue);
}

/* The watchdog: what is busy for too long, or does not leave, is ended. */
static void
end_overdue(struct pool *p, uint64_t now)
{
	struct slot *slot;

	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;) {
		uint64_t since = atomic_load(&slot->page->since_us);
		bool busy = atomic_load(&slot->page->state) == WORKER_BUSY;

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
			p->figures->stuck++;
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

	notify_systemd("RELOADING=1");
	served = served_new(p->options, &err);
	notify_systemd("READY=1");
	if (served == NULL) {
		say_error("not reloaded, everything stays as it was", &err);
		return;
	}
	p->retired = p->served;
	p->served = served;
	p->retire_at_us = now + RELOAD_PATIENCE_US;
	p->not_before_us = 0;
	read_settings(p);
	p->figures->reloads++;
	if (p->status_server != 0)
		kill(p->status_server, SIGTERM);
	p->status_server_not_before_us = 0;
	say_to(p->served->site);
	say("reloaded");
	fixed_tell(&p->fixed, p->served->site);
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
			atomic_load(&slot->page->state) != WORKER_STARTING)
			ready = true;
	if (p->sizing.mode == SIZING_ONDEMAND)
		ready = true;
	for (size_t at = 0; ready && (slot = next_alive(p, &at)) != NULL;)
		if (slot->served != p->served && !slot->retiring)
			retire(slot, SIGQUIT, now + p->request_us);
}

/*
 * What comes from now on is refused by the status server, or left to the next
 * pool where the socket is not ours.  sd_notify(3): EXTEND_TIMEOUT_USEC asks
 * for more time than TimeoutStopSec.
 */
static void
begin_stop(struct pool *p, uint64_t us)
{
	char extend[64];

	snprintf(extend, sizeof(extend), "EXTEND_TIMEOUT_USEC=%llu",
		(unsigned long long)(us + 2 * SECOND));
	notify_systemd("STOPPING=1");
	notify_systemd(extend);
	p->stopping = true;
	p->figures->stopping = p->listener->path[0] != '\0' ? FIGURES_REFUSING
							    : FIGURES_STOPPING;
	eventfd_write(p->refuse, STATUS_SERVER_PARKED);
}

/* The status server ends last: it refuses what was parked. */
static bool
has_stopped(struct pool *p)
{
	size_t at = 0;

	if (p->status_server != 0 &&
		(parked_oldest(p->parked) != 0 ||
			parked_oldest(p->silent.ready) != 0))
		eventfd_write(p->refuse, STATUS_SERVER_PARKED);
	else if (p->status_server != 0 && next_alive(p, &at) == NULL)
		kill(p->status_server, SIGTERM);
	at = 0;
	return next_alive(p, &at) == NULL && p->status_server == 0;
}

static void
obey(struct pool *p, uint64_t now)
{
	if (asked_stop || asked_quit) {
		uint64_t us = asked_stop ? p->stop_us : p->request_us;

		retire_all(p, asked_stop ? SIGTERM : SIGQUIT, now + us);
		if (!p->stopping)
			begin_stop(p, us);
		asked_stop = asked_quit = 0;
	}
	if (!p->stopping && now >= p->looked_at_us + LOOK_US) {
		p->looked_at_us = now;
		if (p->retired == NULL && served_moved(p->served)) {
			say("another directory stands at the site's place");
			asked_reload = 1;
		}
	}
	if (asked_reload || asked_logs) {
		if (p->retired != NULL && !p->reload_asked)
			say("a reload is still under way; this one follows");
		p->reload_asked = true;
	}
	asked_reload = asked_logs = 0;
	if (p->reload_asked && p->retired == NULL && !p->stopping) {
		p->reload_asked = false;
		reload(p, now);
	}
}

static bool
anyone_busy(struct pool *p)
{
	struct slot *slot;

	for (size_t at = 0; (slot = next_alive(p, &at)) != NULL;)
		if (atomic_load(&slot->page->state) != WORKER_IDLE ||
			slot->retiring || slot->served != p->served)
			return true;
	return false;
}

/*
 * Until a signal, a worker's call, or the next look around.  With no worker
 * idle a waiting connection is a reason, too: on demand, the first one.  A
 * pool that cannot grow has no use for a call at each request: after one it
 * looks at the clock.
 */
static void
wait_for_something(struct pool *p, uint64_t now)
{
	bool empty = !p->stopping && atomic_load(&p->bell->idle) <= 0 &&
		p->sizing.mode == SIZING_ONDEMAND && now >= p->not_before_us;
	struct pollfd fds[2] = { { .fd = p->wake, .events = POLLIN },
		{ .fd = empty ? p->listener->fd : -1, .events = POLLIN } };
	bool deaf = p->grown && p->rung;
	bool soon = deaf || anyone_busy(p) || now < p->not_before_us;
	uint64_t us = soon ? BUSY_TICK_US : TICK_US;
	struct timespec timeout = { .tv_sec = (time_t)(us / SECOND),
		.tv_nsec = (long)(us % SECOND) * 1000 };
	eventfd_t rung;

	atomic_store(&p->bell->armed, !deaf);
	p->rung = ppoll(fds, 2, &timeout, &p->open) > 0 && fds[0].revents != 0;
	if (p->rung)
		eventfd_read(p->wake, &rung);
}

/* systemd's watchdog: this loop still goes round. */
static void
keep_awake(struct pool *p, uint64_t now)
{
	if (p->watchdog_us == 0 || now < p->watchdog_at_us)
		return;
	notify_systemd("WATCHDOG=1");
	p->watchdog_at_us = now + p->watchdog_us / 2;
}

static int
live(struct pool *p)
{
	for (;;) {
		uint64_t now = sys_clock_us();

		reap(p, now);
		obey(p, now);
		free_retired(p);
		if (p->stopping && has_stopped(p))
			return 0;
		if (!p->stopping) {
			resize(p, now);
			start_status_server(p, now);
			relieve(p, now);
			sweep_tend(&p->sweep, p->served->site, &p->open, now);
		}
		keep_awake(p, now);
		retire_old(p, now);
		end_overdue(p, now);
		wait_for_something(p, now);
	}
}

static void
bear_first(struct pool *p)
{
	uint64_t now = sys_clock_us();
	unsigned n = 0;

	if (p->sizing.mode == SIZING_STATIC)
		n = p->sizing.max;
	else if (p->sizing.mode == SIZING_DYNAMIC)
		n = p->sizing.start;
	while (n-- > 0 && bear(p, now))
		;
}

/* With fewer descriptors workers would listen and never be able to accept. */
static bool
enough_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return false;
	if (files.rlim_cur < FILES_LEAST && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max < FILES_LEAST ? files.rlim_max
							      : FILES_LEAST;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= FILES_LEAST)
		return true;
	say("only %lu open files are allowed, and %d are needed (ulimit -n)",
		(unsigned long)files.rlim_cur, FILES_LEAST);
	return false;
}

static bool
open_pool(struct pool *p)
{
	p->lifeline[0] = p->lifeline[1] = -1;
	p->parked[0] = p->parked[1] = -1;
	p->silent = (struct silent){ { -1, -1 }, { -1, -1 } };
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->refuse = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->bell = shared_page(sizeof(*p->bell));
	p->tools = shared_page(sizeof(*p->tools));
	p->figures = shared_page(sizeof(*p->figures));
	queue_open(&p->queue, p->listener->fd);
	p->watchdog_us = notify_watchdog_us();
	return p->wake >= 0 && p->refuse >= 0 && p->bell != NULL &&
		p->tools != NULL && parked_open(p->parked) &&
		silent_open(&p->silent) && p->figures != NULL &&
		share_scoreboard(p) && relay_open(&p->relay, SLOT_COUNT) &&
		pipe2(p->lifeline, O_CLOEXEC) == 0;
}

static void
close_pool(struct pool *p)
{
	if (p->scoreboard != NULL)
		munmap(p->scoreboard, (SLOT_COUNT + 1) * SCOREBOARD_PAGE);
	if (p->seen != NULL)
		munmap(p->seen, (SLOT_COUNT + 1) * SCOREBOARD_PAGE);
	if (p->figures != NULL)
		munmap(p->figures, sizeof(*p->figures));
	if (p->bell != NULL)
		munmap(p->bell, sizeof(*p->bell));
	fixed_release(&p->fixed);
	if (p->tools != NULL)
		munmap(p->tools, sizeof(*p->tools));
	parked_close(p->parked);
	silent_close(&p->silent);
	queue_close(&p->queue);
	relay_close(&p->relay);
	for (int i = 0; i < 2; i++)
		if (p->lifeline[i] >= 0)
			close(p->lifeline[i]);
	if (p->wake >= 0)
		close(p->wake);
	if (p->refuse >= 0)
		close(p->refuse);
	served_free(p->retired);
	served_free(p->served);
}

int
pool_run(struct served *served, const struct options *options,
	const struct listener *listener, const struct listener *status)
{
	static struct pool pool;
	struct pool *p = &pool;
	int result = 1;

	*p = (struct pool){ .served = served,
		.options = options,
		.listener = listener,
		.status = status };
	pool_signals(&p->open);
	if (!enough_files()) {
		result = 1;
	} else if (open_pool(p)) {
		read_settings(p);
		note_fixed(p);
		p->figures->started_us = sys_clock_us();
		ss_memory_delegate();
		say_count_lost(&p->figures->log_lost);
		say_to(p->served->site);
		tell_sandbox(p);
		p->sweep.due = true; /* of the pool before */
		log_start(p);
		bear_first(p);
		notify_systemd("READY=1");
		result = live(p);
		sweep_last(&p->sweep, p->served->site, &p->open);
	} else {
		say("cannot start the pool: %s", strerror(errno));
	}
	say_to(NULL);
	say_count_lost(NULL);
	close_pool(p);
	ss_memory_return();
	return result;
}
