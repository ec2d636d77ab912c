/* SPDX-License-Identifier: MIT */
#include "pool.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "notify.h"
#include "pool_state.h"
#include "say.h"
#include "status_server.h"
#include "sys.h"
#include "time_limits.h"

#define TICK_US (SECOND / 2)
#define MOVED_US (SECOND / 2) /* between looks at the site's directory */
#define MOVED_AGAIN_US (10 * SECOND)
#define BUSY_TICK_US (SECOND / 10)
#define RELOAD_PATIENCE_US (5 * SECOND)
#define FILES_LEAST 64

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

/* ---------------------------------------------------- settings -- */

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
	p->drain_us =
		(uint64_t)(ss_site_option_number(site, "pool.drain") * 1e6);
	p->reserve = (unsigned)ss_site_option_number(site, "pool.reserve");
	if (p->reserve > SIZING_MAX - p->sizing.max)
		p->reserve = SIZING_MAX - p->sizing.max;
	p->tools->most = p->reserve > 0 ? p->sizing.max : 0;
	p->wakeup->spare_min = p->sizing.mode == SIZING_DYNAMIC
		? (int32_t)p->sizing.spare_min
		: 1;
	p->figures->mode = p->sizing.mode;
	p->figures->max = p->sizing.max;
	p->figures->start = p->sizing.start;
	p->figures->spare_min = p->sizing.spare_min;
	p->figures->spare_max = p->sizing.spare_max;
	p->figures->reserve = p->reserve;
	p->readers = (uint32_t)ss_site_option_number(site, "pool.readers");
	if (p->waiter == 0)
		p->waiting.count->most = p->readers;
	p->figures->request_us = p->request_us;
}

/* An inherited socket has no path and no access that are ours to change. */
static void
note_fixed(struct pool *p)
{
	const struct ss_site *site = p->served->site;

	p->backlog = (unsigned)ss_site_option_number(site, "pool.backlog");
	if (p->listener->path[0] != '\0')
		fixed_note(&p->fixed, site);
}

/* Logs the sandbox level, and keeps it for the status. */
static void
log_sandbox(struct pool *p)
{
	struct ss_error err = { .code = SS_OK };
	struct ss_confined is = {
		.size = sizeof(is), .level = "unknown", .why = "", .remedy = ""
	};

	if (ss_site_confined(p->served->site, &is, &err) != SS_OK)
		say_error("the level of the sandbox is not known", &err);
	snprintf(p->figures->sandbox, sizeof(p->figures->sandbox), "%s",
		is.level);
	say("tools are confined: %s%s%s%s%s", is.level,
		*is.why != '\0' ? "; " : "", is.why,
		*is.remedy != '\0' ? "; remedy: " : "", is.remedy);
}

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

/* ------------------------------------------------ signals and reload -- */

static size_t
retire_all(struct pool *p, int signal_number, uint64_t kill_at_us)
{
	struct worker_slot *slot;
	size_t n = 0;

	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL; n++)
		pool_workers_retire(slot, signal_number, kill_at_us);
	return n;
}

/* Frees the site before the last reload when none of its workers is left. */
static void
free_retired(struct pool *p)
{
	struct worker_slot *slot;

	if (p->retired == NULL)
		return;
	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL;)
		if (slot->served == p->retired)
			return;
	served_free(p->retired);
	p->retired = NULL;
}

/*
 * Opens a site from the configuration as it is now.  Old workers stay until a
 * new one is ready; the listening socket never closes, so no request is lost.
 */
static void
reload(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct served *served;

	notify_systemd("RELOADING=1");
	served = served_new(p->options, p->served, &err);
	notify_systemd("READY=1");
	if (served == NULL) {
		say_error("not reloaded, the old configuration stays in force",
			&err);
		/* Of several sites one may keep the others from a reload. */
		p->looked_at_us = now + MOVED_AGAIN_US;
		return;
	}
	p->retired = p->served;
	p->served = served;
	if (p->waiter != 0 &&
		ss_site_option_number(served->site, "pool.readers") !=
			(double)p->readers)
		kill(p->waiter, SIGTERM); /* another one starts */
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

/* Old workers leave when a new one is ready, or after RELOAD_PATIENCE_US. */
static void
retire_old(struct pool *p, uint64_t now)
{
	bool ready = now >= p->retire_at_us;
	struct worker_slot *slot;

	if (p->retired == NULL)
		return;
	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL;)
		if (slot->served == p->served &&
			atomic_load(&slot->page->state) != WORKER_STARTING)
			ready = true;
	if (p->sizing.mode == SIZING_ONDEMAND)
		ready = true;
	for (size_t at = 0;
		ready && (slot = pool_workers_next(p, &at)) != NULL;)
		if (slot->served != p->served && !slot->retiring)
			pool_workers_retire(slot, SIGQUIT, now + p->request_us);
}

/*
 * From now on /readyz is 503.  sd_notify(3): EXTEND_TIMEOUT_USEC asks for more
 * time than TimeoutStopSec.
 */
static void
announce_stop(struct pool *p, uint64_t us)
{
	char extend[64];

	snprintf(extend, sizeof(extend), "EXTEND_TIMEOUT_USEC=%" PRIu64,
		us + 2 * SECOND);
	notify_systemd("STOPPING=1");
	notify_systemd(extend);
	p->tools->draining = 1;
}

/*
 * From now on the status server refuses new connections; those of an inherited
 * socket are left to the next pool.
 */
static void
begin_stop(struct pool *p, uint64_t us)
{
	announce_stop(p, us);
	p->stopping = true;
	p->figures->stopping = p->listener->path[0] != '\0' ? FIGURES_REFUSING
							    : FIGURES_STOPPING;
	eventfd_write(p->refuse, STATUS_SERVER_PARKED);
}

/* The status server ends last: it refuses parked requests. */
static bool
has_stopped(struct pool *p)
{
	size_t at = 0;

	if (p->status_server != 0 &&
		(parked_oldest(p->parked) != 0 ||
			parked_oldest(p->silent.ready) != 0))
		eventfd_write(p->refuse, STATUS_SERVER_PARKED);
	else if (p->status_server != 0 && pool_workers_next(p, &at) == NULL)
		kill(p->status_server, SIGTERM);
	if (p->waiter != 0)
		kill(p->waiter, SIGTERM);
	at = 0;
	return pool_workers_next(p, &at) == NULL && p->status_server == 0 &&
		p->waiter == 0;
}

/* True: it goes on for [pool] drain.  A second QUIT ends that. */
static bool
drains_first(struct pool *p, uint64_t now)
{
	if (asked_stop || p->stopping || p->drain_us == 0)
		return false;
	if (p->drained_at_us == 0 && asked_quit) {
		p->drained_at_us = now + p->drain_us;
		announce_stop(p, p->drain_us + p->request_us);
		say("draining for %.1f s: /readyz says so",
			(double)p->drain_us / 1e6);
		asked_quit = 0;
	}
	if (p->drained_at_us != 0 && now >= p->drained_at_us)
		asked_quit = 1;
	return p->drained_at_us != 0 && !asked_quit;
}

static void
handle_signals(struct pool *p, uint64_t now)
{
	if (!drains_first(p, now) && (asked_stop || asked_quit)) {
		uint64_t us = asked_stop ? p->stop_us : p->request_us;

		retire_all(p, asked_stop ? SIGTERM : SIGQUIT, now + us);
		if (!p->stopping)
			begin_stop(p, us);
		asked_stop = asked_quit = 0;
	}
	if (!p->stopping && now >= p->looked_at_us + MOVED_US) {
		p->looked_at_us = now;
		if (p->retired == NULL && ss_site_moved(p->served->site)) {
			say("the site's path leads to another directory now");
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

/* ---------------------------------------------------- the loop -- */

static bool
is_any_busy(struct pool *p)
{
	struct worker_slot *slot;

	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL;)
		if (atomic_load(&slot->page->state) != WORKER_IDLE ||
			slot->retiring || slot->served != p->served)
			return true;
	return false;
}

/*
 * Waits for a signal, a worker's wake-up or a short time; with no worker at
 * all, in mode ondemand, also for the first connection.  In a pool that cannot
 * grow, each request would wake the supervisor for nothing: after one wake-up
 * it ignores them until its time has passed.
 */
static void
wait_for_something(struct pool *p, uint64_t now)
{
	bool empty = !p->stopping && atomic_load(&p->wakeup->idle) <= 0 &&
		p->sizing.mode == SIZING_ONDEMAND && now >= p->not_before_us;
	struct pollfd fds[] = { { .fd = p->wake, .events = POLLIN },
		{ .fd = empty ? p->listener->fd : -1, .events = POLLIN },
		{ .fd = empty ? p->silent.ready[1] : -1, .events = POLLIN },
		{ .fd = empty ? p->waiting.ready[1] : -1, .events = POLLIN },
		{ .fd = job_post_fd(&p->jobs), .events = POLLIN } };
	bool ignored = p->grown && p->woken;
	bool soon = ignored || is_any_busy(p) || now < p->not_before_us;
	uint64_t us = soon ? BUSY_TICK_US : TICK_US;
	struct timespec timeout = { .tv_sec = (time_t)(us / SECOND),
		.tv_nsec = (long)(us % SECOND) * 1000 };
	eventfd_t count;

	atomic_store(&p->wakeup->armed, !ignored);
	p->woken = ppoll(fds, ARRAY_LEN(fds), &timeout, &p->open) > 0 &&
		fds[0].revents != 0;
	if (p->woken)
		eventfd_read(p->wake, &count);
}

/* sd_watchdog_enabled(3): this loop still runs. */
static void
tell_watchdog(struct pool *p, uint64_t now)
{
	if (p->watchdog_us == 0 || now < p->watchdog_at_us)
		return;
	notify_systemd("WATCHDOG=1");
	p->watchdog_at_us = now + p->watchdog_us / 2;
}

/* Jobs go on when the pool stops: those that are asked for are started. */
static void
start_jobs(struct pool *p)
{
	const struct job_starter starter = { .options = p->options,
		.site = p->served->site };

	job_post_serve(&p->jobs, &starter);
}

/* What another pool left: ended long ago, lost, or not started. */
static void
tend_jobs(struct pool *p)
{
	const struct job_starter starter = { .options = p->options,
		.site = p->served->site };

	if (ss_site_has_jobs(p->served->site))
		job_start(&starter, NULL);
}

static int
run_until_stopped(struct pool *p)
{
	for (;;) {
		uint64_t now = sys_clock_us();

		pool_workers_reap(p, now);
		start_jobs(p);
		handle_signals(p, now);
		free_retired(p);
		if (p->stopping && has_stopped(p))
			return 0;
		if (!p->stopping) {
			pool_load_resize(p, now);
			pool_workers_start_status(p, now);
			pool_workers_start_waiter(p, now);
			pool_load_relieve(p, now);
			ss_site_open_receipts(p->served->site, NULL);
			sweep_tend(&p->sweep, p->served->site, &p->open, now);
		}
		tell_watchdog(p, now);
		retire_old(p, now);
		pool_workers_end_overdue(p, now);
		wait_for_something(p, now);
	}
}

static void
start_first(struct pool *p)
{
	uint64_t now = sys_clock_us();
	unsigned n = 0;

	if (p->sizing.mode == SIZING_STATIC)
		n = p->sizing.max;
	else if (p->sizing.mode == SIZING_DYNAMIC)
		n = p->sizing.start;
	while (n-- > 0 && pool_workers_start(p, now))
		;
}

/* With fewer descriptors a worker could never accept(2). */
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
		.status = status,
		.jobs = JOB_POST_INIT };
	pool_signals(&p->open);
	if (!enough_files()) {
		result = 1;
	} else if (pool_memory_open(p)) {
		read_settings(p);
		pool_memory_keep(p);
		note_fixed(p);
		p->figures->started_us = sys_clock_us();
		ss_memory_delegate();
		say_count_lost(&p->figures->log_lost);
		say_to(p->served->site);
		log_sandbox(p);
		p->sweep.due =
			true; /* the pool before this one left something */
		log_start(p);
		job_post_open(&p->jobs);
		tend_jobs(p);
		start_first(p);
		notify_systemd("READY=1");
		result = run_until_stopped(p);
		sweep_last(&p->sweep, p->served->site, &p->open);
	} else {
		say("cannot start the pool: %s", strerror(errno));
	}
	say_to(NULL);
	say_count_lost(NULL);
	job_post_close(&p->jobs);
	pool_memory_close(p);
	ss_memory_return();
	return result;
}
