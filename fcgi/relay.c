/* SPDX-License-Identifier: MIT */
#include "relay.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared_memory.h"
#include "sys.h"
#include "worker.h"

#define WAITING UINT64_MAX /* in place of a tool's number */

_Static_assert(sizeof(struct relay_slot) % 4096 == 0, "slots are whole pages");

static bool
map_slots(struct relay *r)
{
	void *slots, *seen;

	if (!shared_memory_map(
		    "relay", r->count * sizeof(*r->slots), &slots, &seen))
		return false;
	r->slots = slots;
	r->seen = seen;
	return true;
}

bool
relay_open(struct relay *r, size_t count)
{
	void *used = mmap(NULL, sizeof(*r->used), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*r = (struct relay){ .count = count,
		.used = used != MAP_FAILED ? used : NULL,
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
	return r->used != NULL && r->fd >= 0 && map_slots(r);
}

void
relay_close(struct relay *r)
{
	size_t size = r->count * sizeof(*r->slots);

	if (r->slots != NULL)
		munmap(r->slots, size);
	if (r->seen != NULL)
		munmap((void *)(uintptr_t)r->seen, size);
	if (r->used != NULL)
		munmap(r->used, sizeof(*r->used));
	if (r->count > 0 && r->fd >= 0)
		close(r->fd);
	*r = (struct relay){ .fd = -1 };
}

void
relay_keep(struct relay *r, size_t own)
{
	if (own > 0)
		munmap(r->slots, own * sizeof(*r->slots));
	if (own + 1 < r->count)
		munmap(&r->slots[own + 1],
			(r->count - own - 1) * sizeof(*r->slots));
	r->own = own;
	r->next = 0;
}

/*
 * The number of this worker may have had another process before, which ended
 * while it wrote: turn may be odd.
 */
bool
relay_post(struct relay *r, const unsigned char key[SS_RELAY_KEY],
	const char *data, size_t len)
{
	struct relay_post *p = &r->slots[r->own].posts[r->next % RELAY_POSTS];
	uint32_t turn = atomic_load(&p->turn) | 1, used = atomic_load(r->used);

	if (len > sizeof(p->data))
		return false;
	r->next++;
	atomic_store(&p->turn, turn);
	atomic_thread_fence(memory_order_seq_cst);
	p->at_us = sys_clock_us();
	p->len = (uint32_t)len;
	memcpy(p->key, key, sizeof(p->key));
	if (len > 0)
		memcpy(p->data, data, len);
	atomic_store(&p->turn, turn + 1);
	while (used <= r->own &&
		!atomic_compare_exchange_weak(
			r->used, &used, (uint32_t)r->own + 1))
		;
	return eventfd_write(r->fd, 1) == 0;
}

/* -1: another key, too old, or being overwritten. */
static ssize_t
copy_post(const struct relay_post *p, const unsigned char *key, char *data,
	size_t cap)
{
	uint32_t turn = atomic_load(&p->turn);
	size_t len = p->len;

	if (turn == 0 || turn % 2 != 0 || len > sizeof(p->data) || len > cap ||
		memcmp(p->key, key, sizeof(p->key)) != 0 ||
		p->at_us + RELAY_KEEP_US < sys_clock_us())
		return -1;
	if (len > 0)
		memcpy(data, p->data, len);
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load(&p->turn) == turn ? (ssize_t)len : -1;
}

ssize_t
relay_take(const struct relay *r, const unsigned char key[SS_RELAY_KEY],
	char *data, size_t cap)
{
	size_t used = atomic_load(r->used);

	for (size_t i = 0; i < used && i < r->count; i++)
		for (size_t k = 0; k < RELAY_POSTS; k++) {
			ssize_t n =
				copy_post(&r->seen[i].posts[k], key, data, cap);

			if (n >= 0)
				return n;
		}
	return -1;
}

static bool
hook_post(void *ctx, const unsigned char *key, const char *data, size_t len)
{
	return relay_post(ctx, key, data, len);
}

static ssize_t
hook_take(void *ctx, const unsigned char *key, char *data, size_t cap)
{
	return relay_take(ctx, key, data, cap);
}

/* TERM, INT and QUIT are blocked while a request is served. */
static bool
must_leave(void)
{
	sigset_t pending;

	return worker_is_leaving() ||
		(sigpending(&pending) == 0 &&
			(sigismember(&pending, SIGTERM) == 1 ||
				sigismember(&pending, SIGINT) == 1 ||
				sigismember(&pending, SIGQUIT) == 1));
}

/*
 * The watchdog counts from here on: a worker that waits for a person does not
 * hang.
 */
static bool
hook_wait(void *ctx, bool begin)
{
	struct relay *r = ctx;

	if (must_leave() ||
		(begin &&
			(r->waiting_max == 0 ||
				!tool_limit_enter(
					r->waiting, WAITING, r->waiting_max))))
		return false;
	atomic_store(&r->page->since_us, sys_clock_us());
	return true;
}

static void
hook_waited(void *ctx)
{
	struct relay *r = ctx;

	tool_limit_leave(r->waiting);
	atomic_store(&r->page->since_us, sys_clock_us());
}

void
relay_attach(struct relay *r, struct ss_site *site)
{
	struct ss_relay hooks = { .size = sizeof(hooks),
		.ctx = r,
		.fd = r->fd,
		.post = hook_post,
		.take = hook_take,
		.wait = hook_wait,
		.waited = hook_waited };

	ss_site_set_relay(site, &hooks);
}
