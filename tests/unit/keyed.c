/* SPDX-License-Identifier: MIT */
/*
 * keyed: each state of a record, seen by each who comes: at most one begins,
 * and what died in between is never begun again.
 */
#include "keyed/store.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "keyed/record.h"
#include "tap.h"

#define KEEP 1000
#define HEAD_LEN 81 /* of a record: what is behind it is the answer */

static char top[] = "/tmp/statespace-keyed-XXXXXX";
static struct keyed_store store;
static struct buf answer;

static const char *const found_names[] = { "none", "answered", "running",
	"other", "unknown", "full", "failed" };

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Names with the same first two digits lie in one part of the directory. */
static struct keyed
key_of(const char *part, const char *key, const char *body)
{
	struct keyed k = { .store = &store, .fd = -1 };
	uint8_t digest[DIGEST_BYTES];

	digest_of(key, strlen(key), digest);
	digest_hex(digest, sizeof(digest), k.name);
	memcpy(k.name, part, 2);
	digest_of(body, strlen(body), k.body);
	return k;
}

static const char *
path_of(const struct keyed *k)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%.2s/%s", top, k->name, k->name);
	return path;
}

static bool
found_is(enum keyed_found expected, enum keyed_found seen, const char *what)
{
	return is_str(found_names[expected], found_names[seen], "%s", what);
}

/* What two others see who come with the key: one looks, one wants to begin. */
static void
both_see(enum keyed_found look, enum keyed_found begin, const char *key,
	const char *what)
{
	struct keyed k = key_of("aa", key, "body");
	struct keyed other = key_of("aa", key, "another body");
	char text[128];

	snprintf(text, sizeof(text), "%s: one who looks", what);
	found_is(look, keyed_look(&k, &answer), text);
	snprintf(text, sizeof(text), "%s: one who begins", what);
	found_is(begin, keyed_begin(&k, &answer), text);
	if (begin == KEYED_NONE) {
		is_int(0, keyed_abandon(&k), "... who takes it back");
		return;
	}
	is_int(-1, k.fd, "... holds nothing");
	snprintf(text, sizeof(text), "%s: another request", what);
	found_is(KEYED_OTHER, keyed_look(&other, &answer), text);
	found_is(KEYED_OTHER, keyed_begin(&other, &answer), "... that begins");
}

static void
check_states(void)
{
	struct keyed k = key_of("aa", "one", "body");

	both_see(KEYED_NONE, KEYED_NONE, "one", "a new key");
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "it begins");
	both_see(KEYED_RUNNING, KEYED_RUNNING, "one", "while it runs");
	is_int(0, keyed_finish(&k, "the answer\0 with a NUL", 22), "it ends");
	is_int(-1, k.fd, "... and holds nothing");
	both_see(KEYED_ANSWERED, KEYED_ANSWERED, "one", "an answer");
	keyed_look(&k, &answer);
	ok(answer.len == 22 && memcmp(answer.data, "the answer\0 wi", 14) == 0,
		"... whole");

	k = key_of("aa", "two", "body");
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "another key begins");
	is_int(0, keyed_finish(&k, "", 0), "its answer is empty");
	both_see(KEYED_ANSWERED, KEYED_ANSWERED, "two", "an empty answer");
	is_int(0, (long long)answer.len, "... is empty");

	k = key_of("aa", "three", "body");
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "a third one begins");
	is_int(0, keyed_abandon(&k), "nothing was started");
	both_see(KEYED_NONE, KEYED_NONE, "three", "as if it had not been used");

	k = key_of("aa", "four", "body");
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "a fourth one begins");
	keyed_leave(&k);
	both_see(KEYED_UNKNOWN, KEYED_UNKNOWN, "four", "without an answer");
}

/* Runs fn(k) in a child that is killed right after it. */
static void
die_after(struct keyed *k)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (keyed_begin(k, &answer) == KEYED_NONE)
			raise(SIGKILL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
}

static void
check_death(void)
{
	struct keyed k = key_of("aa", "five", "body"), again = k;

	die_after(&k);
	both_see(KEYED_UNKNOWN, KEYED_UNKNOWN, "five", "killed in between");
	die_after(&again);
	both_see(KEYED_UNKNOWN, KEYED_UNKNOWN, "five", "and tried again");
}

/* A record whose file was cut at each length, and with each byte changed. */
static void
check_cut(void)
{
	struct keyed k = key_of("aa", "six", "body");
	unsigned ran = 0, told = 0, heads = 0;
	char bytes[256], one;
	ssize_t len;
	int fd;

	keyed_begin(&k, &answer);
	keyed_finish(&k, "an answer", 9);
	fd = open(path_of(&k), O_RDWR);
	len = pread(fd, bytes, sizeof(bytes), 0);
	is_int(HEAD_LEN + 9 + 9 + DIGEST_BYTES, len, "a record's length");
	for (ssize_t n = 0; n < len; n++) {
		ran += ftruncate(fd, n) != 0;
		ran += keyed_look(&k, &answer) != KEYED_UNKNOWN;
		ran += keyed_begin(&k, &answer) != KEYED_UNKNOWN;
		(void)!pwrite(fd, bytes, (size_t)len, 0);
	}
	is_int(0, ran, "a cut record is unknown at each length");
	found_is(KEYED_ANSWERED, keyed_look(&k, &answer), "a whole one is not");
	for (ssize_t n = 0; n < len; n++) {
		one = (char)(bytes[n] ^ 1);
		(void)!pwrite(fd, &one, 1, n);
		if (n < HEAD_LEN)
			heads += keyed_look(&k, &answer) == KEYED_UNKNOWN;
		else
			told += keyed_look(&k, &answer) == KEYED_ANSWERED;
		ran += keyed_begin(&k, &answer) == KEYED_NONE;
		(void)!pwrite(fd, &bytes[n], 1, n);
	}
	is_int(HEAD_LEN, heads, "a changed head is unknown");
	is_int(0, told, "a changed answer is not told");
	is_int(0, ran, "... and nothing runs for one");
	close(fd);
}

/* The mark of one whose record could not be removed. */
static void
check_dropped(void)
{
	struct keyed k = key_of("aa", "seven", "body");

	keyed_begin(&k, &answer);
	keyed_record_store(k.fd, KEYED_DROPPED, k.body, "", 0);
	both_see(KEYED_RUNNING, KEYED_RUNNING, "seven", "while it is held");
	keyed_leave(&k);
	both_see(KEYED_NONE, KEYED_NONE, "seven", "a record of nothing");
	is_int(-1, access(path_of(&k), F_OK), "... is removed");
}

/* ---------------------------------------------------------------- expiry */

static void
set_age(const struct keyed *k, time_t age)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT },
		{ .tv_sec = time(NULL) - age } };

	utimensat(AT_FDCWD, path_of(k), t, 0);
}

/* Another key of the same part begins: is the record still there? */
static bool
survives(const struct keyed *k)
{
	struct keyed next = key_of("bb", "next", "body");

	if (keyed_begin(&next, &answer) == KEYED_NONE)
		keyed_abandon(&next);
	return access(path_of(k), F_OK) == 0;
}

static void
check_expiry(void)
{
	struct keyed k = key_of("bb", "old", "body");

	keyed_begin(&k, &answer);
	keyed_finish(&k, "x", 1);
	set_age(&k, KEEP - 5);
	ok(survives(&k), "a record is kept as long as is configured");
	set_age(&k, -100000000);
	ok(survives(&k), "also when the clock was set back by years");
	found_is(
		KEYED_ANSWERED, keyed_look(&k, &answer), "... with its answer");
	set_age(&k, KEEP + 5);
	found_is(KEYED_ANSWERED, keyed_look(&k, &answer),
		"an older one is told as long as it is there");
	ok(!survives(&k), "and is removed when another comes");
	keyed_begin(&k, &answer);
	set_age(&k, KEEP + 5);
	ok(survives(&k), "a tool that runs longer keeps its record");
	keyed_leave(&k);
	ok(!survives(&k), "... until it has ended");
}

static void
check_bounds(void)
{
	struct keyed k = key_of("cc", "first", "body");
	struct keyed next = key_of("cc", "second", "body");
	struct keyed other = key_of("cd", "second", "body");

	store.records = KEYED_PARTS;
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "one for each part");
	keyed_finish(&k, "x", 1);
	found_is(
		KEYED_FULL, keyed_begin(&next, &answer), "a second one is not");
	found_is(KEYED_ANSWERED, keyed_look(&k, &answer),
		"the first one is there");
	found_is(KEYED_NONE, keyed_begin(&other, &answer),
		"another part is free");
	keyed_leave(&other);
	set_age(&k, KEEP + 5);
	found_is(KEYED_NONE, keyed_begin(&next, &answer),
		"an old one makes room");
	keyed_leave(&next);
	store.records = (uint64_t)KEYED_PARTS * 2;
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "two for each part");
	keyed_leave(&k);
	k = key_of("cc", "third", "body");
	found_is(KEYED_FULL, keyed_begin(&k, &answer), "a third one is not");
	store.records = 65536;
}

static unsigned entries;

static int
count_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)path;
	(void)st;
	(void)ftw;
	entries += type == FTW_F;
	return 0;
}

static unsigned
count_entries(void)
{
	entries = 0;
	nftw(top, count_entry, 8, FTW_PHYS);
	return entries;
}

/* Old records go as fast as new ones come, though few are looked at. */
static void
check_flow(void)
{
	enum { OLD = 24, NEW = 40 };
	struct keyed k;
	unsigned before = count_entries();
	char name[32];

	for (int i = 0; i < OLD + NEW; i++) {
		snprintf(name, sizeof(name), "flow %d", i);
		k = key_of("dd", name, "body");
		keyed_begin(&k, &answer);
		keyed_finish(&k, "x", 1);
		if (i < OLD)
			set_age(&k, KEEP + 5);
	}
	ok(count_entries() - before <= NEW + 8, "%u of %d old records are left",
		count_entries() - before - NEW, OLD);
}

/* ---------------------------------------------------------------- faults */

static void
check_faults(void)
{
	struct keyed k = key_of("ee", "faulty", "body");
	struct rlimit all, none;
	unsigned before = count_entries();

	getrlimit(RLIMIT_FSIZE, &all);
	none = (struct rlimit){ 10, all.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	found_is(KEYED_FAILED, keyed_begin(&k, &answer), "a full disk");
	setrlimit(RLIMIT_FSIZE, &all);
	is_int(EFBIG, k.number, "... is told by its errno");
	is_int(before, count_entries(), "... and nothing is left there");
	found_is(KEYED_NONE, keyed_begin(&k, &answer), "then there is room");
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 100, all.rlim_max });
	ok(keyed_finish(&k, top, sizeof(top)) != 0, "but not for the answer");
	setrlimit(RLIMIT_FSIZE, &all);
	found_is(KEYED_UNKNOWN, keyed_begin(&k, &answer),
		"... and it does not run again");
	k = key_of("ef", "faulty", "body");
	if (geteuid() == 0) {
		skip(2, "root may write everywhere");
		return;
	}
	chmod(top, 0500);
	found_is(KEYED_FAILED, keyed_begin(&k, &answer),
		"a directory read-only");
	chmod(top, 0700);
	is_int(EACCES, k.number, "... is told by its errno");
}

/* --------------------------------------------------------------- together */

enum { RACERS = 8, RACES = 12 };

static void
race(int number)
{
	struct keyed_store own = store;
	struct keyed k;
	char name[32];
	uint8_t begun = 0;

	own.dir = open(top, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < RACES; i++) {
		snprintf(name, sizeof(name), "race %d", i);
		k = key_of("ff", name, "body");
		k.store = &own;
		if (keyed_begin(&k, &answer) != KEYED_NONE)
			continue;
		begun++;
		if ((i + number) % 3 == 0)
			keyed_finish(&k, "x", 1);
		else
			keyed_leave(&k);
	}
	_exit(begun);
}

static void
check_race(void)
{
	pid_t pids[RACERS];
	int status, sum = 0;

	for (int i = 0; i < RACERS; i++)
		if ((pids[i] = fork()) == 0)
			race(i);
	for (int i = 0; i < RACERS; i++) {
		waitpid(pids[i], &status, 0);
		sum += WEXITSTATUS(status);
	}
	is_int(RACES, sum, "%d processes on one directory: each key once",
		RACERS);
}

int
main(void)
{
	int descriptors;

	answer = BUF_INIT(1 << 20);
	if (mkdtemp(top) == NULL)
		return 1;
	store = (struct keyed_store){
		.dir = open(top, O_RDONLY | O_DIRECTORY),
		.keep_s = KEEP,
		.records = 65536,
	};
	descriptors = open_count();
	check_states();
	check_death();
	check_cut();
	check_dropped();
	check_expiry();
	check_bounds();
	check_flow();
	check_faults();
	check_race();
	is_int(descriptors, open_count(), "no descriptor is left open");
	buf_release(&answer);
	nftw(top, drop, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
