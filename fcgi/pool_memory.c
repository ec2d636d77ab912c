/* SPDX-License-Identifier: MIT */
/* The shared memory, pipes and descriptors of a pool. */
#include "pool_state.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "notify.h"
#include "shared_memory.h"

static void *
shared_page(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED ? page : NULL;
}

/*
 * The pages of all workers.  A worker keeps its own page of the first mapping,
 * and all of the second one.
 */
static bool
share_scoreboard(struct pool *p)
{
	void *all, *seen;

	if (!shared_memory_map("scoreboard", (POOL_SLOTS + 1) * SCOREBOARD_PAGE,
		    &all, &seen))
		return false;
	p->scoreboard = all;
	p->seen = seen;
	return true;
}

bool
pool_memory_open(struct pool *p)
{
	p->alive[0] = p->alive[1] = -1;
	p->parked[0] = p->parked[1] = -1;
	p->silent = (struct silent){ { -1, -1 }, { -1, -1 } };
	p->waiting = (struct waiting){ { -1, -1 }, { -1, -1 }, NULL };
	p->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->refuse = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	p->wakeup = shared_page(sizeof(*p->wakeup));
	p->tools = shared_page(sizeof(*p->tools));
	p->figures = shared_page(sizeof(*p->figures));
	queue_open(&p->queue, p->listener->fd);
	p->watchdog_us = notify_watchdog_us();
	return p->wake >= 0 && p->refuse >= 0 && p->wakeup != NULL &&
		p->tools != NULL && parked_open(p->parked) &&
		silent_open(&p->silent) && waiting_open(&p->waiting) &&
		p->figures != NULL && share_scoreboard(p) &&
		relay_open(&p->relay, POOL_SLOTS) &&
		pipe2(p->alive, O_CLOEXEC) == 0;
}

void
pool_memory_keep(struct pool *p)
{
	size_t most = p->sizing.max * 2 + p->reserve;
	double bytes =
		ss_site_option_number(p->served->site, "pool.kept_bytes");

	if (!kept_open(&p->kept, most < POOL_SLOTS ? most : POOL_SLOTS,
		    (uint64_t)bytes))
		kept_close(&p->kept);
}

void
pool_memory_close(struct pool *p)
{
	if (p->scoreboard != NULL)
		munmap(p->scoreboard, (POOL_SLOTS + 1) * SCOREBOARD_PAGE);
	if (p->seen != NULL)
		munmap(p->seen, (POOL_SLOTS + 1) * SCOREBOARD_PAGE);
	if (p->figures != NULL)
		munmap(p->figures, sizeof(*p->figures));
	if (p->wakeup != NULL)
		munmap(p->wakeup, sizeof(*p->wakeup));
	fixed_release(&p->fixed);
	if (p->tools != NULL)
		munmap(p->tools, sizeof(*p->tools));
	parked_close(p->parked);
	silent_close(&p->silent);
	waiting_close(&p->waiting);
	queue_close(&p->queue);
	relay_close(&p->relay);
	kept_close(&p->kept);
	for (int i = 0; i < 2; i++)
		if (p->alive[i] >= 0)
			close(p->alive[i]);
	if (p->wake >= 0)
		close(p->wake);
	if (p->refuse >= 0)
		close(p->refuse);
	served_free(p->retired);
	served_free(p->served);
}
