/* SPDX-License-Identifier: MIT */
/*
 * Source   link(2): fails with EEXIST, also over NFS; flock(2), over NFS a lock
 *          of fcntl(2), which needs a descriptor open for writing.
 */
#include "keyed/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "keyed/record.h"

#define TRIES 8
#define EXPIRED_AT_ONCE 8 /* records that a new one looks at */

static enum keyed_found
fail(struct keyed *k, int number, const char *step)
{
	k->number = number;
	k->step = step;
	return KEYED_FAILED;
}

/* A file system without fsync(2) of directories counts as done. */
static bool
sync_directory(int fd)
{
	return fsync(fd) == 0 || errno == EINVAL;
}

/* -1 and errno: also when make is false and the part is not there. */
static int
open_part(const struct keyed *k, bool make)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const char part[3] = { k->name[0], k->name[1], '\0' };
	int fd = openat(k->store->dir, part, flags), all, kept;
	bool synced;

	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	if (mkdirat(k->store->dir, part, 0700) < 0 && errno != EEXIST)
		return -1;
	all = openat(k->store->dir, ".", flags);
	synced = all >= 0 && sync_directory(all);
	kept = errno;
	fd_close(&all);
	errno = kept;
	return synced ? openat(k->store->dir, part, flags) : -1;
}

/* Is the file of that name the one that is open? */
static bool
is_still(int part, const char *name, const struct stat *open)
{
	struct stat named;

	return fstatat(part, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
		named.st_dev == open->st_dev && named.st_ino == open->st_ino;
}

/*
 * Only the holder of the lock removes a record, so the name cannot change
 * between the look and unlinkat(2).
 */
static bool
remove_locked(int part, const char *name, int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && is_still(part, name, &st) &&
		unlinkat(part, name, 0) == 0;
}

/* ---------------------------------------------------------------- expiry */

/* A time that is to come is of a clock that was set back: not old. */
static bool
is_old(const struct keyed_store *s, const struct stat *st)
{
	int64_t now = (int64_t)time(NULL), then = (int64_t)st->st_mtime;

	return now > then && (uint64_t)(now - then) > s->keep_s;
}

/* True: the entry is gone. */
static bool
expire(const struct keyed_store *s, int part, const char *name)
{
	struct stat st;
	bool gone = false;
	int fd;

	if (fstatat(part, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT;
	if (!S_ISREG(st.st_mode) || !is_old(s, &st))
		return false;
	fd = openat(part, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
		is_old(s, &st))
		gone = remove_locked(part, name, fd);
	fd_close(&fd);
	return gone;
}

static bool
is_entry(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* Expires up to `most` of the entries from number `first` on. */
static size_t
expire_some(const struct keyed_store *s, DIR *list, size_t first, size_t most)
{
	struct dirent *e;
	size_t gone = 0;

	rewinddir(list);
	while (most > 0 && (e = readdir(list)) != NULL) {
		if (!is_entry(e))
			continue;
		if (first > 0) {
			first--;
			continue;
		}
		gone += expire(s, dirfd(list), e->d_name);
		most--;
	}
	return gone;
}

/*
 * Looks at a few records for each that is made, at a random place, so that the
 * old ones go as fast as new ones come; at all of a part that is full.
 */
static enum keyed_found
find_place(struct keyed *k, int part)
{
	uint64_t share = k->store->records / KEYED_PARTS;
	int copy = fcntl(part, F_DUPFD_CLOEXEC, 0);
	DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
	size_t count = 0, random = 0, first;
	struct dirent *e;

	if (list == NULL) {
		fail(k, errno, "fdopendir");
		fd_close(&copy);
		return KEYED_FAILED;
	}
	rewinddir(list);
	while ((e = readdir(list)) != NULL)
		count += is_entry(e);
	if (count >= share) {
		count -= expire_some(k->store, list, 0, count);
	} else if (count > 0) {
		(void)!getrandom(&random, sizeof(random), 0);
		first = count > EXPIRED_AT_ONCE
			? random % (count - EXPIRED_AT_ONCE + 1)
			: 0;
		expire_some(k->store, list, first, EXPIRED_AT_ONCE);
	}
	closedir(list);
	return count >= share ? KEYED_FULL : KEYED_NONE;
}

/* --------------------------------------------------------------- reading */

/* A record that says that nothing ran: as if it were not there. */
static void
drop(const struct keyed *k, int part)
{
	enum keyed_kind kind = KEYED_OPEN;
	struct buf none = BUF_INIT(0);
	int fd = openat(part, k->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		keyed_record_answer(fd, k->body, &none, &kind) == 0 &&
		kind == KEYED_DROPPED)
		remove_locked(part, k->name, fd);
	buf_release(&none);
	fd_close(&fd);
}

/* *dropped: see drop. */
static enum keyed_found
read_open(struct keyed *k, int fd, struct buf *out, bool *dropped)
{
	enum keyed_kind kind = KEYED_OPEN;
	uint8_t body[DIGEST_BYTES];
	int number = keyed_record_head(fd, body);

	/* The head was durable before the name: this file was damaged. */
	if (number == EBADMSG)
		return KEYED_UNKNOWN;
	if (number != 0)
		return fail(k, number, "read");
	if (!digest_equal(body, k->body, sizeof(body)))
		return KEYED_OTHER;
	if (flock(fd, LOCK_SH | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? KEYED_RUNNING
					    : fail(k, errno, "flock");
	number = keyed_record_answer(fd, k->body, out, &kind);
	if (number != 0)
		return fail(k, number, "read");
	*dropped = kind == KEYED_DROPPED;
	return kind == KEYED_STORED ? KEYED_ANSWERED : KEYED_UNKNOWN;
}

static enum keyed_found
look_in(struct keyed *k, int part, struct buf *out)
{
	enum keyed_found found = KEYED_NONE;
	bool dropped = false;
	int fd = openat(part, k->name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? KEYED_NONE : fail(k, errno, "openat");
	found = read_open(k, fd, out, &dropped);
	fd_close(&fd);
	if (!dropped)
		return found;
	drop(k, part);
	return KEYED_NONE;
}

enum keyed_found
keyed_look(struct keyed *k, struct buf *answer)
{
	int part = open_part(k, false);
	enum keyed_found found;

	k->fd = -1;
	if (part < 0)
		return errno == ENOENT ? KEYED_NONE : fail(k, errno, "openat");
	found = look_in(k, part, answer);
	fd_close(&part);
	return found;
}

/* --------------------------------------------------------------- writing */

/* A locked file with the head, durable, without the record's name. */
static enum keyed_found
make_file(struct keyed *k, int part, char name[static 40])
{
	uint64_t random[2];
	int number;

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return fail(k, errno, "getrandom");
	snprintf(name, 40, "t%016" PRIx64 "%016" PRIx64, random[0], random[1]);
	k->fd = openat(part, name,
		O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (k->fd < 0)
		return fail(k, errno, "openat");
	if (flock(k->fd, LOCK_EX | LOCK_NB) < 0)
		return fail(k, errno, "flock");
	number = keyed_record_begin(k->fd, k->body);
	if (number != 0)
		return fail(k, number, "write");
	return fdatasync(k->fd) == 0 ? KEYED_NONE : fail(k, errno, "fdatasync");
}

/* Gives it the record's name, unless another one has it. */
static enum keyed_found
name_file(struct keyed *k, int part, const char *name, struct buf *answer)
{
	enum keyed_found found;

	for (int i = 0; i < TRIES; i++) {
		if (linkat(part, name, part, k->name, 0) == 0)
			return KEYED_NONE;
		if (errno != EEXIST)
			return fail(k, errno, "linkat");
		found = look_in(k, part, answer);
		if (found != KEYED_NONE)
			return found;
	}
	return KEYED_RUNNING;
}

enum keyed_found
keyed_begin(struct keyed *k, struct buf *answer)
{
	char name[40] = "";
	enum keyed_found found;
	bool named = false;
	int part;

	k->fd = -1;
	part = open_part(k, true);
	if (part < 0)
		return fail(k, errno, "open the directory");
	found = find_place(k, part);
	if (found == KEYED_NONE)
		found = make_file(k, part, name);
	if (found == KEYED_NONE) {
		found = name_file(k, part, name, answer);
		named = found == KEYED_NONE;
	}
	if (k->fd >= 0)
		unlinkat(part, name, 0);
	if (named && !sync_directory(part)) {
		found = fail(k, errno, "fsync");
		keyed_abandon(k);
	}
	fd_close(&part);
	if (found != KEYED_NONE)
		fd_close(&k->fd);
	return found;
}

int
keyed_finish(struct keyed *k, const char *answer, size_t len)
{
	int number =
		keyed_record_store(k->fd, KEYED_STORED, k->body, answer, len);

	if (number == 0 && fdatasync(k->fd) < 0)
		number = errno;
	fd_close(&k->fd);
	return number;
}

/* The mark is for those who have the file open and wait for its lock. */
int
keyed_abandon(struct keyed *k)
{
	int number = keyed_record_store(k->fd, KEYED_DROPPED, k->body, "", 0);
	int part = open_part(k, false);

	if (part < 0 || !remove_locked(part, k->name, k->fd))
		number = number != 0 ? number : errno;
	else
		number = 0;
	fd_close(&part);
	fd_close(&k->fd);
	return number;
}

void
keyed_leave(struct keyed *k)
{
	fd_close(&k->fd);
}
