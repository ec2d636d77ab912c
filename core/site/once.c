/* SPDX-License-Identifier: MIT */
#include "site/once.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#define SLOTS 8192 /* signatures that may be valid at a time */
#define WINDOW 64  /* slots that one signature may take */

/*
 * A slot has the second at which a signature expires in its upper half, four
 * bytes of the signature in its lower half.  It is free when the second is past.
 */
struct once {
	_Atomic uint64_t slots[SLOTS];
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
slot_at(struct once *o, const uint8_t *signature, size_t i)
{
	size_t first = ((size_t)signature[4] << 8 | signature[5]) % SLOTS;

	return &o->slots[(first + i) % SLOTS];
}

static unsigned
count_marks(struct once *o, const uint8_t *signature, uint64_t mark)
{
	unsigned n = 0;

	for (size_t i = 0; i < WINDOW; i++)
		n += atomic_load(slot_at(o, signature, i)) == mark;
	return n;
}

/*
 * Writes first, then counts: of two processes that write the same signature to
 * different slots at once, at least one sees both and is refused.
 */
bool
once_use(struct once *o, const uint8_t *signature, int64_t expires)
{
	uint64_t now = (uint64_t)time(NULL), mark, old;

	mark = (uint64_t)expires << 32 | (uint64_t)signature[0] << 24 |
		(uint64_t)signature[1] << 16 | (uint64_t)signature[2] << 8 |
		signature[3];
	if (count_marks(o, signature, mark) > 0)
		return false;
	for (size_t i = 0; i < WINDOW; i++) {
		_Atomic uint64_t *p = slot_at(o, signature, i);

		old = atomic_load(p);
		if (old >> 32 < now &&
			atomic_compare_exchange_strong(p, &old, mark))
			return count_marks(o, signature, mark) == 1;
	}
	return false; /* full: the person is asked once more */
}
