/* SPDX-License-Identifier: MIT */
/*
 * kept: what one worker keeps, every other reads until it is overwritten or too
 * old, and nobody else can write; what a killed worker left half written is
 * never read.
 */
#include "../../fcgi/kept.c"
#include "../../fcgi/shared_memory.c"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "tap.h"

#define RINGS 4
#define BYTES (256 * 1024)

static uint64_t now = UINT64_C(1000000000);

uint64_t
sys_clock_us(void)
{
	return now;
}

void
ss_site_set_store(struct ss_site *site, const struct ss_store *store)
{
	(void)site;
	(void)store;
}

static struct kept kept;

/* What workers tell the test. */
static struct told {
	_Atomic unsigned count;
	struct {
		uint64_t place;
		unsigned seed, len;
	} all[100000];
} * told;

static const unsigned char *
id(unsigned seed)
{
	static unsigned char bytes[SS_STORE_ID];

	memset(bytes, 'i', sizeof(bytes));
	memcpy(bytes, &seed, sizeof(seed));
	return bytes;
}

static char *
bytes_of(unsigned seed, size_t len)
{
	static char bytes[BYTES + 1];

	for (size_t i = 0; i < len; i++)
		bytes[i] = (char)(seed + i * 7 + i / 251);
	return bytes;
}

static bool
put(unsigned seed, size_t len)
{
	uint64_t place;
	unsigned n = atomic_load(&told->count);

	if (!kept_put(&kept, id(seed), bytes_of(seed, len), len, &place))
		return false;
	told->all[n].place = place;
	told->all[n].seed = seed;
	told->all[n].len = (unsigned)len;
	atomic_store(&told->count, n + 1);
	return true;
}

/* 1: there and right; 0: gone; -1: there and wrong. */
static int
get(unsigned n)
{
	static char data[BYTES];
	unsigned len = told->all[n].len;

	if (!kept_get(&kept, id(told->all[n].seed), told->all[n].place, data,
		    len))
		return 0;
	return memcmp(data, bytes_of(told->all[n].seed, len), len) == 0 ? 1
									: -1;
}

static pid_t
start(size_t own, int (*fn)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		kept_own(&kept, own);
		_exit(fn());
	}
	return pid;
}

/* In a process of its own, as workers are. */
static int
as_worker(size_t own, int (*fn)(void))
{
	int status = -1;

	waitpid(start(own, fn), &status, 0);
	return status;
}

static int
put_one(void)
{
	return put(1, 5000) ? 0 : 1;
}

static int
put_thousands(void)
{
	for (unsigned i = 0; i < 5000; i++)
		if (!put(1000 + i, i % 997))
			return 1;
	return 0;
}

static int
put_most(void)
{
	return put(7, BYTES - sizeof(struct entry)) &&
			!put(8, BYTES - sizeof(struct entry) + 1)
		? 0
		: 1;
}

static int
put_for_ever(void)
{
	for (unsigned i = 0; atomic_load(&told->count) < 90000; i++)
		put(100000 + i, i * 7919 % 60000);
	return 0;
}

static int
write_foreign(void)
{
	signal(SIGSEGV, SIG_DFL); /* a sanitizer has a handler */
	kept.rings[0] = 1;
	return 0;
}

static int
unlock_seen(void)
{
	return mprotect((void *)(uintptr_t)kept.seen, 4096,
		       PROT_READ | PROT_WRITE) == 0
		? 0
		: 1;
}

static void
test_one(void)
{
	static char data[BYTES];

	is_int(0, as_worker(2, put_one), "a worker keeps");
	is_int(1, get(0), "others read it");
	ok(!kept_get(&kept, id(2), told->all[0].place, data, 5000),
		"with its id alone");
	ok(!kept_get(&kept, id(1), told->all[0].place, data, 4999) &&
			!kept_get(&kept, id(1), told->all[0].place, data, 5001),
		"and its length");
	ok(!kept_get(&kept, id(1), told->all[0].place + 1, data, 5000) &&
			!kept_get(&kept, id(1), UINT64_MAX, data, 5000) &&
			!kept_get(&kept, id(1), UINT64_C(1) << PLACE_BITS, data,
				5000) &&
			!kept_get(&kept, id(1), (uint64_t)RINGS << PLACE_BITS,
				data, 5000),
		"at its place");
	now += KEPT_US;
	is_int(1, get(0), "for ten minutes");
	now++;
	is_int(0, get(0), "and no longer");
	ok(WIFSIGNALED(as_worker(3, write_foreign)),
		"a worker cannot write the ring of another");
	ok(as_worker(3, unlock_seen) != 0, "nor make it writable");
	ok(as_worker(RINGS, put_one) != 0,
		"a worker more than there are rings keeps nothing");
	is_int(0, as_worker(0, put_one), "the first has one");
	is_int(0, as_worker(RINGS - 1, put_one), "and the last");
	ok(get(1) == 1 && get(2) == 1, "and what both kept is there");
}

static void
test_many(void)
{
	unsigned from = atomic_load(&told->count), there = 0, wrong = 0;
	unsigned first = 0, end, bytes = 0;

	is_int(0, as_worker(1, put_thousands), "thousands of entries");
	end = atomic_load(&told->count);
	for (unsigned i = from; i < end; i++) {
		int seen = get(i);

		if (seen == 1 && there++ == 0)
			first = i;
		wrong += seen < 0;
		if (seen == 1)
			bytes += told->all[i].len + sizeof(struct entry);
	}
	is_int(0, wrong, "none is wrong");
	is_int(end - first, there, "the newest are there, the oldest gone");
	ok(bytes <= BYTES && bytes > BYTES - 2000,
		"as many as the ring holds: %u bytes", bytes);
	is_int(0, as_worker(1, put_most),
		"an entry as large as the ring, and none that is larger");
	is_int(0, get(end - 1), "it takes the place of all others");
	is_int(1, get(end), "and is there");
	is_int(0, as_worker(1, put_one), "a small one");
	ok(get(end) == 0 && get(end + 1) == 1, "ends the large one");
}

/* Workers are killed at any moment, and others read meanwhile. */
static void
test_killed(void)
{
	unsigned from = atomic_load(&told->count), wrong = 0, there = 0;
	unsigned rounds = 200;

	for (unsigned i = 0; i < rounds; i++) {
		pid_t pid = start(i % RINGS, put_for_ever);
		unsigned seen = atomic_load(&told->count);

		while (atomic_load(&told->count) < seen + i % 5)
			;
		for (unsigned k = 0; k < 30; k++) {
			unsigned end = atomic_load(&told->count);
			int found = end > from ? get(end - 1 - k % 7) : 0;

			wrong += found < 0;
		}
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	for (unsigned i = from; i < atomic_load(&told->count); i++) {
		int found = get(i);

		wrong += found < 0;
		there += found == 1;
	}
	ok(atomic_load(&told->count) > from + rounds, "%u entries",
		atomic_load(&told->count) - from);
	is_int(0, wrong, "none that is read is wrong");
	ok(there > 0 && there < RINGS * BYTES / 2000,
		"the newest are still there: %u", there);
	is_int(0, as_worker(1, put_one), "the next worker keeps");
	is_int(1, get(atomic_load(&told->count) - 1), "and is read");
}

static void
test_damage(void)
{
	static char data[BYTES];
	char *ring = kept.rings + 2 * stride(&kept);
	struct kept_ring *head = (struct kept_ring *)(void *)ring;
	uint64_t place;

	memset(ring, 0xff, stride(&kept));
	ok(!kept_get(&kept, id(1), UINT64_C(2) << PLACE_BITS, data, 100),
		"a ring of ones has no entry");
	kept.own = 2;
	ok(!kept_put(&kept, id(1), "x", 1, &place),
		"and takes none: its positions are used up");
	atomic_store(&head->end, 0);
	ok(!kept_get(&kept, id(1), UINT64_C(2) << PLACE_BITS, data, 100),
		"nor has one that says that it is empty");
	for (unsigned i = 0; i < 100000; i++) {
		for (size_t k = 0; k < sizeof(struct entry) + 16; k++)
			ring[HEAD_BYTES + k] = (char)rand();
		atomic_store(&head->end, (uint64_t)rand() * (unsigned)rand());
		kept_get(&kept, id((unsigned)rand()),
			UINT64_C(2) << PLACE_BITS | (unsigned)rand(), data,
			(size_t)rand() % BYTES);
	}
	ok(true, "no nonsense in a ring leads out of it");
}

int
main(void)
{
	struct kept none;
	uint64_t place;

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ok(kept_open(&none, 0, BYTES) && none.rings == NULL &&
			!kept_put(&none, id(1), "x", 1, &place) &&
			!kept_get(&none, id(1), 0, (char[1]){ 0 }, 1),
		"without rings nothing is kept");
	ok(kept_open(&none, RINGS, 0) && none.rings == NULL &&
			!kept_put(&none, id(1), "x", 1, &place),
		"nor without bytes");
	ok(!kept_open(&none, SIZE_MAX / 8192, UINT64_MAX / 4096),
		"more memory than can be is refused");
	kept_close(&none);
	if (!ok(kept_open(&kept, RINGS, BYTES), "memory for four workers"))
		return done();
	test_one();
	test_many();
	test_killed();
	test_damage();
	kept_close(&kept);
	return done();
}
