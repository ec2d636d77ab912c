/* SPDX-License-Identifier: MIT */
/* Starting, ending and reaping the processes of a pool. */
#include "pool_state.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "status_server.h"
#include "waiter.h"
#include "worker.h"

#define EARLY_END_US SECOND /* younger: its start failed */
#define BACKOFF_MIN_US (SECOND / 10)
#define BACKOFF_MAX_US (10 * SECOND)
#define GRACE_US (60 * SECOND) /* until what was killed is killed again */

struct start {
	struct pool *pool;
	struct worker_slot *slot;
};

/* In the worker: unmaps what only the supervisor and other workers write. */
static int
worker_main(void *ctx)
{
	const struct start *start = ctx;
	struct pool *p = start->pool;
	struct worker w = { .served = p->served,
		.listener = p->listener->fd,
		.alive = p->alive[0],
		.wake = p->wake,
		.page = start->slot->page,
		.scoreboard = p->seen,
		.slot_count = POOL_SLOTS,
		.wakeup = p->wakeup,
		.relay = &p->relay,
		.kept = &p->kept,
		.slots = p->tools,
		.number = (uint32_t)(start->slot - p->slots) + 1,
		.parked = p->parked,
		.silent = &p->silent,
		.waiting = &p->waiting,
		.max_requests = p->max_requests,
		.most = p->sizing.max,
		.open = &p->open };

	size_t own = (size_t)(start->slot - p->slots);

	say_count_lost(&start->slot->page->log_lost);
	job_post_attach(&p->jobs, p->served->site);
	close(p->alive[1]);
	munmap(p->figures, sizeof(*p->figures));
	if (own > 0)
		munmap(p->scoreboard, own * SCOREBOARD_PAGE);
	munmap(scoreboard_at(p->scoreboard, own + 1),
		(POOL_SLOTS - own) * SCOREBOARD_PAGE);
	relay_keep(&p->relay, own);
	kept_own(&p->kept, own);
	p->relay.waiting_max = p->sizing.max > 1 ? (p->sizing.max + 3) / 4 : 0;
	return worker_run(&w);
}

/* In the status server, which reads all pages and writes its own. */
static int
status_server_main(void *ctx)
{
	struct pool *p = ctx;
	const struct status_server c = { .served = p->served,
		.listener = p->listener->fd,
		.status = p->status->fd,
		.alive = p->alive[0],
		.refuse = p->refuse,
		.parked = p->parked,
		.silent = &p->silent,
		.slots = p->tools,
		.figures = p->figures,
		.scoreboard = p->seen,
		.slot_count = POOL_SLOTS,
		.page = scoreboard_at(p->scoreboard, POOL_SLOTS),
		.open = &p->open };

	say_count_lost(&c.page->log_lost);
	close(p->alive[1]);
	munmap(p->scoreboard, POOL_SLOTS * SCOREBOARD_PAGE);
	relay_close(&p->relay);
	kept_close(&p->kept);
	if (mprotect(p->figures, sizeof(*p->figures), PROT_READ) < 0)
		return 1;
	return status_server_run(&c);
}

/* At most one start a second. */
void
pool_workers_start_status(struct pool *p, uint64_t now)
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

/* In the waiter, which shares nothing else with anybody. */
static int
waiter_main(void *ctx)
{
	struct pool *p = ctx;
	const struct waiter w = { .waiting = &p->waiting,
		.alive = p->alive[0],
		.most = p->readers,
		.open = &p->open };

	close(p->alive[1]);
	munmap(p->scoreboard, (POOL_SLOTS + 1) * SCOREBOARD_PAGE);
	munmap(p->figures, sizeof(*p->figures));
	relay_close(&p->relay);
	kept_close(&p->kept);
	return waiter_run(&w);
}

/* At most one start a second. */
void
pool_workers_start_waiter(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;

	if (p->waiter != 0 || p->readers == 0 ||
		atomic_load(&p->waiting.count->wanted) == 0 ||
		now < p->waiter_not_before_us)
		return;
	p->waiter_not_before_us = now + SECOND;
	if (ss_site_fork(p->served->site, 0, waiter_main, p, &child, &err) ==
		SS_OK)
		p->waiter = child.pid;
	else
		say_error("cannot start the waiter", &err);
}

static struct worker_slot *
free_slot(struct pool *p)
{
	for (size_t i = 0; i < POOL_SLOTS; i++)
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
	say("a worker ended while it started; the next one starts in %.1f s",
		(double)p->backoff_us / 1e6);
}

bool
pool_workers_start(struct pool *p, uint64_t now)
{
	struct ss_error err = { .code = SS_OK };
	struct worker_slot *slot = free_slot(p);
	struct start start = { .pool = p, .slot = slot };
	struct ss_child child;

	if (slot == NULL)
		return false;
	slot->page = scoreboard_at(p->scoreboard, (size_t)(slot - p->slots));
	slot->page->served = 0;
	slot->page->since_us = now;
	slot->page->state = WORKER_STARTING;
	if (ss_site_fork(p->served->site, SS_FORK_LAUNCHER | SS_FORK_MEMORY,
		    worker_main, &start, &child, &err) != SS_OK) {
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
	p->figures->started++;
	return true;
}

void
pool_workers_retire(
	struct worker_slot *slot, int signal_number, uint64_t kill_at_us)
{
	if (slot->retiring && slot->kill_at_us <= kill_at_us)
		return;
	slot->retiring = true;
	slot->kill_at_us = kill_at_us;
	kill(slot->pid, signal_number);
}

static struct worker_slot *
slot_of(struct pool *p, pid_t pid)
{
	for (size_t i = 0; i < POOL_SLOTS; i++)
		if (p->slots[i].pid == pid)
			return &p->slots[i];
	return NULL;
}

static void
note_exit(struct pool *p, struct worker_slot *slot, int status, uint64_t now)
{
	bool early = now - slot->started_us < EARLY_END_US &&
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
	tool_slots_clear(p->tools, (uint32_t)(slot - p->slots) + 1);
	if (!slot->retiring && (WIFSIGNALED(status) || WEXITSTATUS(status)))
		p->figures->died++;
	if (early && !slot->retiring)
		back_off(p, now);
	else
		p->backoff_us = 0;
}

/* Logs a helper that was not asked to end.  Returns 0 for its pid. */
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

/* Those that it held see a closed connection, and come again. */
static void
waiter_ended(struct pool *p, pid_t pid, int status)
{
	p->waiter = helper_ended(p, "the waiter", pid, status);
	p->waiting.count->held = 0;
	p->waiting.count->most = p->readers;
}

void
pool_workers_reap(struct pool *p, uint64_t now)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct worker_slot *slot = slot_of(p, pid);

		if (sweep_reaped(&p->sweep, pid, status))
			continue;
		if (slot != NULL)
			note_exit(p, slot, status, now);
		else if (pid == ss_site_receipts_pid(p->served->site))
			helper_ended(p, "the writer of receipts", pid, status);
		else if (pid == p->status_server)
			p->status_server = helper_ended(
				p, "the status server", pid, status);
		else if (pid == p->waiter)
			waiter_ended(p, pid, status);
		else
			helper_ended(
				p, "the launcher of a worker,", pid, status);
	}
}

struct worker_slot *
pool_workers_next(struct pool *p, size_t *at)
{
	while (*at < POOL_SLOTS)
		if (p->slots[(*at)++].pid != 0)
			return &p->slots[*at - 1];
	return NULL;
}

void
pool_workers_end_overdue(struct pool *p, uint64_t now)
{
	struct worker_slot *slot;

	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL;) {
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
