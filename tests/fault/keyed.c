/* SPDX-License-Identifier: MIT */
/*
 * Every call that the records of keys make fails once, with each errno that a
 * full disk, a read-only one or a server over NFS may give.  Nothing begins
 * that was not made durable, and nothing that began begins again.
 *
 * wrap: openat mkdirat linkat unlinkat fsync fdatasync pwrite flock getrandom
 */
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault.h"
#include "base/fd.h"
#include "keyed/store.h"
#include "tap.h"

static int number; /* the errno in turn */

FAULT(mkdirat, int, -1, number, (int at, const char *path, mode_t mode),
	(at, path, mode))
FAULT(linkat, int, -1, number,
	(int at, const char *path, int to, const char *name, int flags),
	(at, path, to, name, flags))
FAULT(unlinkat, int, -1, number, (int at, const char *path, int flags),
	(at, path, flags))
FAULT(fsync, int, -1, number, (int fd), (fd))
FAULT(fdatasync, int, -1, number, (int fd), (fd))
FAULT(pwrite, ssize_t, -1, number,
	(int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
FAULT(flock, int, -1, number, (int fd, int what), (fd, what))
FAULT(getrandom, ssize_t, -1, number, (void *to, size_t len, unsigned flags),
	(to, len, flags))

int __real_openat(int at, const char *path, int flags, ...);
int __wrap_openat(int at, const char *path, int flags, ...);
FAULT_UNCHECKED int
__wrap_openat(int at, const char *path, int flags, ...)
{
	long w[1];

	FAULT_WORDS(w, flags);
	if (!fault_now("openat"))
		return __real_openat(at, path, flags, (mode_t)w[0]);
	errno = number;
	return -1;
}

static const int numbers[] = { ENOSPC, EROFS, ENOLCK };

static char top[] = "/tmp/statespace-keyedfault-XXXXXX";
static struct keyed_store store;
static struct buf answer;
static unsigned made, calls, wrongs, synced;

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* A key of its own, in a part of the directory that is not there yet. */
static struct keyed
next_key(void)
{
	struct keyed k = { .store = &store, .fd = -1 };
	uint8_t digest[DIGEST_BYTES];

	made++;
	digest_of((const char *)&made, sizeof(made), digest);
	digest_hex(digest, sizeof(digest), k.name);
	digest_of("body", 4, k.body);
	return k;
}

static void
wrong_unless(bool good, const char *what, int call)
{
	wrongs += !good;
	if (!good)
		printf("# %s: call %d, %s: %s\n", what, call,
			fault_name != NULL ? fault_name : "none",
			strerror(number));
}

/* Arms the fault; false: the calls before were all. */
static bool
arm(int at)
{
	fault_name = NULL;
	fault_at = at;
	return true;
}

static bool
disarm(void)
{
	bool happened = fault_name != NULL;

	fault_at = 0;
	calls += happened;
	synced += happened &&
		(strcmp(fault_name, "fsync") == 0 ||
			strcmp(fault_name, "fdatasync") == 0);
	return happened;
}

static bool
try_begin(int at)
{
	struct keyed k = next_key(), again = k;
	enum keyed_found found;
	bool happened;

	arm(at);
	found = keyed_begin(&k, &answer);
	happened = disarm();
	wrong_unless(found == KEYED_NONE || found == KEYED_FAILED,
		"it begins or fails", at);
	wrong_unless((found == KEYED_NONE) == (k.fd >= 0),
		"what failed holds nothing", at);
	wrong_unless(found == KEYED_NONE || k.number != 0, "it says why", at);
	if (found == KEYED_NONE)
		wrong_unless(keyed_finish(&k, "x", 1) == 0, "it ends", at);
	again.fd = -1;
	if (found == KEYED_FAILED) {
		wrong_unless(keyed_begin(&again, &answer) == KEYED_NONE,
			"what failed did not use up the key", at);
		keyed_abandon(&again);
	}
	return happened;
}

static bool
try_finish(int at)
{
	struct keyed k = next_key();
	enum keyed_found found;
	bool happened;
	int failed;

	keyed_begin(&k, &answer);
	arm(at);
	failed = keyed_finish(&k, "an answer", 9);
	happened = disarm();
	found = keyed_look(&k, &answer);
	wrong_unless(failed != 0
			? found == KEYED_UNKNOWN || found == KEYED_ANSWERED
			: found == KEYED_ANSWERED,
		"a run is answered or unknown", at);
	wrong_unless(keyed_begin(&k, &answer) == found,
		"and does not begin again", at);
	return happened;
}

static bool
try_abandon(int at)
{
	struct keyed k = next_key();
	enum keyed_found found;
	bool happened;

	keyed_begin(&k, &answer);
	arm(at);
	keyed_abandon(&k);
	happened = disarm();
	found = keyed_look(&k, &answer);
	wrong_unless(found == KEYED_NONE, "what was taken back is free", at);
	return happened;
}

/* Whoever looks or begins after another one, while calls fail. */
static bool
try_second(int at)
{
	struct keyed k = next_key(), second = k;
	enum keyed_found found;
	bool happened;

	keyed_begin(&k, &answer);
	arm(at);
	found = keyed_begin(&second, &answer);
	happened = disarm();
	wrong_unless(found == KEYED_RUNNING || found == KEYED_FAILED,
		"a second one does not begin", at);
	keyed_leave(&k);
	arm(at);
	found = keyed_begin(&second, &answer);
	happened |= disarm();
	wrong_unless(found == KEYED_UNKNOWN || found == KEYED_FAILED,
		"nor after it died", at);
	return happened;
}

static void
check(const char *what, bool (*try)(int at))
{
	unsigned before = calls;

	wrongs = synced = 0;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		number = numbers[i];
		for (int at = 1; try(at); at++)
			;
	}
	is_int(0, wrongs, "%s, with %u calls that failed", what,
		calls - before);
	ok(calls > before, "... which were some");
}

int
main(void)
{
	int descriptors;

	answer = BUF_INIT(1 << 20);
	if (mkdtemp(top) == NULL)
		return 1;
	store = (struct keyed_store){
		.dir = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.keep_s = 1000,
		.records = 1 << 20,
	};
	descriptors = open_count();
	check("a key that begins", try_begin);
	is_int(3 * (long long)ARRAY_LEN(numbers), synced,
		"... a new part, the file and its name were made durable");
	check("an answer that is stored", try_finish);
	is_int((long long)ARRAY_LEN(numbers), synced,
		"... and was made durable");
	check("a key that is taken back", try_abandon);
	check("a key that another one has", try_second);
	is_int(descriptors, open_count(), "no descriptor is left open");
	buf_release(&answer);
	nftw(top, drop, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
