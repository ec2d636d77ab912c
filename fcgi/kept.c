/* SPDX-License-Identifier: MIT */
#include "kept.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "shared_memory.h"
#include "sys.h"

#define HEAD_BYTES 4096 /* a page, so that the data can be mapped alone */
#define PLACE_BITS 48   /* of a place: below the number of its ring */

/*
 * The head of a ring, and before the bytes of each entry its own.  Positions
 * only grow: a byte at position n lies at n modulo the ring's size.
 */
struct kept_ring {
	_Atomic uint64_t end; /* of what was or is being written */
};

struct entry {
	uint64_t at; /* its own position */
	uint64_t len, until_us;
	unsigned char id[SS_STORE_ID];
};

static size_t
stride(const struct kept *k)
{
	return HEAD_BYTES + k->bytes;
}

/* As the pages of struct relay: the second mapping cannot be made writable. */
bool
kept_open(struct kept *k, size_t count, uint64_t bytes)
{
	void *rings, *seen;
	size_t size;

	*k = (struct kept){ .count = 0 };
	if (count == 0 || bytes == 0)
		return true;
	if (bytes > SIZE_MAX / 2 / count - 2 * HEAD_BYTES) {
		errno = ENOMEM;
		return false;
	}
	k->bytes = (size_t)((bytes + HEAD_BYTES - 1) / HEAD_BYTES * HEAD_BYTES);
	k->count = count;
	size = count * stride(k);
	if (!shared_memory_map("kept", size, &rings, &seen))
		return false;
	k->rings = rings;
	k->seen = seen;
	return true;
}

void
kept_close(struct kept *k)
{
	if (k->rings != NULL)
		munmap(k->rings, k->count * stride(k));
	if (k->seen != NULL)
		munmap((void *)(uintptr_t)k->seen, k->count * stride(k));
	*k = (struct kept){ .count = 0 };
}

void
kept_own(struct kept *k, size_t own)
{
	size_t before = own < k->count ? own : k->count;

	k->own = own;
	if (before > 0)
		munmap(k->rings, before * stride(k));
	if (own + 1 < k->count)
		munmap(k->rings + (own + 1) * stride(k),
			(k->count - own - 1) * stride(k));
}

/* ------------------------------------------------------------- a ring -- */

/* Both copy at most a whole ring, which may end and begin again between. */
static void
ring_write(const struct kept *k, char *ring, uint64_t at, const void *from,
	size_t len)
{
	size_t start = (size_t)(at % k->bytes), rest = k->bytes - start;
	size_t first = len < rest ? len : rest;

	memcpy(ring + HEAD_BYTES + start, from, first);
	memcpy(ring + HEAD_BYTES, (const char *)from + first, len - first);
}

static void
ring_read(const struct kept *k, const char *ring, uint64_t at, void *to,
	size_t len)
{
	size_t start = (size_t)(at % k->bytes), rest = k->bytes - start;
	size_t first = len < rest ? len : rest;

	memcpy(to, ring + HEAD_BYTES + start, first);
	memcpy((char *)to + first, ring + HEAD_BYTES, len - first);
}

static uint64_t
end_of(const char *ring)
{
	return atomic_load(
		&((const struct kept_ring *)(const void *)ring)->end);
}

/*
 * The end moves first: from then on readers refuse what is overwritten.  A
 * worker that is killed behind that leaves bytes that no place leads to, and
 * the next one with its number goes on behind them.
 */
bool
kept_put(struct kept *k, const unsigned char id[SS_STORE_ID], const char *data,
	size_t len, uint64_t *place)
{
	struct entry e = { .len = len, .until_us = sys_clock_us() + KEPT_US };
	char *ring = k->rings + k->own * stride(k);

	if (k->own >= k->count || len > k->bytes - sizeof(e))
		return false;
	e.at = end_of(ring);
	if (e.at > (UINT64_C(1) << PLACE_BITS) - sizeof(e) - len)
		return false;
	memcpy(e.id, id, sizeof(e.id));
	atomic_store(&((struct kept_ring *)(void *)ring)->end,
		e.at + sizeof(e) + len);
	atomic_thread_fence(memory_order_seq_cst);
	ring_write(k, ring, e.at, &e, sizeof(e));
	ring_write(k, ring, e.at + sizeof(e), data, len);
	*place = (uint64_t)k->own << PLACE_BITS | e.at;
	return true;
}

/* Is the entry at that position whole and not overwritten? */
static bool
is_there(const struct kept *k, const char *ring, uint64_t at, size_t len)
{
	uint64_t end = end_of(ring);

	return at < end && end - at >= sizeof(struct entry) + len &&
		end - at <= k->bytes;
}

bool
kept_get(const struct kept *k, const unsigned char id[SS_STORE_ID],
	uint64_t place, char *data, size_t len)
{
	uint64_t number = place >> PLACE_BITS;
	uint64_t at = place & ((UINT64_C(1) << PLACE_BITS) - 1);
	const char *ring;
	struct entry e;

	if (number >= k->count || len > k->bytes - sizeof(e))
		return false;
	ring = k->seen + number * stride(k);
	if (!is_there(k, ring, at, len))
		return false;
	ring_read(k, ring, at, &e, sizeof(e));
	if (e.at != at || e.len != len || e.until_us < sys_clock_us() ||
		memcmp(e.id, id, sizeof(e.id)) != 0)
		return false;
	ring_read(k, ring, at + sizeof(e), data, len);
	atomic_thread_fence(memory_order_seq_cst);
	return is_there(k, ring, at, len);
}

/* ---------------------------------------------------------------- hooks -- */

static bool
hook_put(void *ctx, const unsigned char *id, const char *data, size_t len,
	uint64_t *place)
{
	return kept_put(ctx, id, data, len, place);
}

static bool
hook_get(void *ctx, const unsigned char *id, uint64_t place, char *data,
	size_t len)
{
	return kept_get(ctx, id, place, data, len);
}

void
kept_attach(struct kept *k, struct ss_site *site)
{
	struct ss_store hooks = { .size = sizeof(hooks),
		.ctx = k,
		.put = hook_put,
		.get = hook_get };

	if (k->count > 0)
		ss_site_set_store(site, &hooks);
}
