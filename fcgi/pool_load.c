/* SPDX-License-Identifier: MIT */
/* How many workers a pool has now, and which clients have waited too long. */
#include "pool_state.h"

#include <poll.h>
#include <sys/eventfd.h>

#include "status_server.h"
#include "sys.h"
#include "worker.h"

#define LONG_TOOL_US (SECOND / 10) /* running for so long: see needs_reserve */
#define SAMPLE_US (SECOND / 10)
#define SHRINK_US SECOND /* one worker fewer at a time, not in a hurry */

/* The workers of the newest site; one that is starting counts as idle. */
static void
count(struct pool *p, uint64_t now, struct headcount *h,
	struct worker_slot **longest)
{
	struct worker_slot *slot;

	*h = (struct headcount){ 0 };
	*longest = NULL;
	for (size_t at = 0; (slot = pool_workers_next(p, &at)) != NULL;) {
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
	struct pollfd queues[] = { { p->listener->fd, POLLIN, 0 },
		{ p->silent.ready[1], POLLIN, 0 },
		{ p->waiting.ready[1], POLLIN, 0 } };

	return poll(queues, ARRAY_LEN(queues), 0) > 0;
}

/*
 * pool.reserve: more workers than pool.workers, for pages, while three in four
 * of those are in tools that take long, and idle_timeout after that.
 */
static bool
needs_reserve(struct pool *p, uint64_t now)
{
	unsigned longer = 0;
	struct worker_slot *slot;

	p->figures->tools = tool_slots_count(p->tools);
	for (size_t at = 0; p->figures->tools > 0 &&
		(slot = pool_workers_next(p, &at)) != NULL;) {
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

void
pool_load_resize(struct pool *p, uint64_t now)
{
	struct headcount h;
	struct worker_slot *longest;
	bool full;
	int change;

	count(p, now, &h, &longest);
	h.reserve = needs_reserve(p, now) ? p->reserve : 0;
	atomic_store(&p->wakeup->idle, (int32_t)h.idle);
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
		pool_workers_retire(longest, SIGQUIT, now + p->request_us);
	}
	if (now < p->not_before_us)
		return;
	while (change-- > 0 && pool_workers_start(p, now))
		;
}

static uint64_t
accepted_by_all(const struct pool *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i <= POOL_SLOTS; i++)
		sum += scoreboard_at(p->scoreboard, i)->accepted;
	return sum;
}

/*
 * How many requests are parked.  Workers count them up and down; a worker that
 * dies in between leaves the count wrong until the queue is empty.  Wakes the
 * status server when the oldest has waited too long.
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
 * Busy workers cannot refuse connections that the kernel queues for accept(2).
 * The status server refuses those that waited too long, and those beyond seven
 * eighths of the backlog.
 */
void
pool_load_relieve(struct pool *p, uint64_t now)
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
