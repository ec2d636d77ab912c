/* SPDX-License-Identifier: MIT */
#include "site/once.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#define PLACES 8192 /* so many signatures may be valid at a time */
#define WINDOW 64   /* places that one signature may take */

/*
 * A place holds four bytes of a signature below the second until which it is
 * valid; 0, or a second that is past, is a free place.
 */
struct once {
	_Atomic uint64_t places[PLACES];
};

struct once *
once_open(void)
{
	void *map = mmap(NULL, sizeof(struct once), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return map != MAP_FAILED ? map : NULL;
}

void
once_close(struct once *o)
{
	if (o != NULL)
		munmap(o, sizeof(*o));
}

static _Atomic uint64_t *
place(struct once *o, const uint8_t *signature, size_t i)
{
	size_t first = ((size_t)signature[4] << 8 | signature[5]) % PLACES;

	return &o->places[(first + i) % PLACES];
}

static unsigned
count(struct once *o, const uint8_t *signature, uint64_t mark)
{
	unsigned n = 0;

	for (size_t i = 0; i < WINDOW; i++)
		n += atomic_load(place(o, signature, i)) == mark;
	return n;
}

/*
 * Written first, then counted: of two processes that come at once and take
 * different places, at least one sees the other and is refused.
 */
bool
once_use(struct once *o, const uint8_t *signature, int64_t expires)
{
	uint64_t now = (uint64_t)time(NULL), mark, old;

	mark = (uint64_t)expires << 32 | (uint64_t)signature[0] << 24 |
		(uint64_t)signature[1] << 16 | (uint64_t)signature[2] << 8 |
		signature[3];
	if (count(o, signature, mark) > 0)
		return false;
	for (size_t i = 0; i < WINDOW; i++) {
		_Atomic uint64_t *p = place(o, signature, i);

		old = atomic_load(p);
		if (old >> 32 < now &&
			atomic_compare_exchange_strong(p, &old, mark))
			return count(o, signature, mark) == 1;
	}
	return false; /* full: refusing costs one more question */
}
