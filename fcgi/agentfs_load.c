/* SPDX-License-Identifier: MIT */
/*
 * The file's changes as an upper directory of overlayfs.  Another program may
 * have written the file: names are checked, and all paths are beneath upper.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "agentfs.h"
#include "agentfs_db.h"

struct row {
	int64_t ino;
	mode_t mode;
	off_t size;
	struct timespec times[2];
	char path[PATH_MAX];
};

static bool
is_name(const char *name)
{
	return name[0] != '\0' && strchr(name, '/') == NULL &&
		strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
		strlen(name) <= NAME_MAX;
}

static bool
is_deleted(const char *path)
{
	struct db_query *q =
		db_ask("SELECT 1 FROM fs_whiteout WHERE path = '/' || ?1");
	bool found;

	db_text(q, 1, path);
	found = db_next(q);
	if (found)
		db_end(q);
	return found;
}

/* --------------------------------------------------------------- objects -- */

static int
write_data(int fd, const struct row *r)
{
	struct db_query *q = db_ask("SELECT chunk_index, data FROM fs_data "
				    "WHERE ino = ?1 ORDER BY chunk_index");
	int number = ftruncate(fd, r->size) < 0 ? errno : 0;

	db_number(q, 1, r->ino);
	while (db_next(q)) {
		size_t len;
		const void *data = db_get_blob(q, 1, &len);
		off_t at = (off_t)db_get_number(q, 0) * CHUNK;

		if (number == 0 && at >= 0 && at < r->size && len > 0 &&
			pwrite(fd, data, len, at) != (ssize_t)len)
			number = errno != 0 ? errno : EIO;
	}
	/* The last chunk may be longer than what the size says. */
	return number == 0 && ftruncate(fd, r->size) < 0 ? errno : number;
}

static int
make_file(int dir, const char *name, const struct row *r)
{
	int fd = openat(dir, name,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int number = fd < 0 ? errno : write_data(fd, r);

	if (number == 0 &&
		(fchmod(fd, r->mode & 0777) < 0 || futimens(fd, r->times) < 0))
		number = errno;
	fd_close(&fd);
	return number;
}

static int
make_link(int dir, const char *name, const struct row *r)
{
	struct db_query *q =
		db_ask("SELECT target FROM fs_symlink WHERE ino = ?1");
	int number = ENOENT;

	db_number(q, 1, r->ino);
	if (db_next(q)) {
		number =
			symlinkat(db_get_text(q, 0), dir, name) < 0 ? errno : 0;
		db_end(q);
	}
	return number;
}

static int
make_directory(int dir, const char *name, const struct row *r)
{
	int fd, number = 0;

	if (mkdirat(dir, name, 0700) < 0)
		return errno;
	fd = openat(dir, name, AT_DIRECTORY);
	if (fd < 0)
		return errno;
	if (is_deleted(r->path) &&
		fsetxattr(fd, "user.overlay.opaque", "y", 1, 0) < 0)
		number = errno;
	fd_close(&fd);
	return number;
}

static int
make_one(struct agentfs *a, const struct row *r)
{
	const char *name;
	int dir = at_parent(a->upper, r->path, &name), number = 0;

	if (dir < 0)
		return errno;
	if (S_ISDIR(r->mode))
		number = make_directory(dir, name, r);
	else if (S_ISREG(r->mode))
		number = make_file(dir, name, r);
	else if (S_ISLNK(r->mode))
		number = make_link(dir, name, r);
	fd_close(&dir);
	return number;
}

/* --------------------------------------------------------------- all of it -- */

#define TREE                                                                   \
	"WITH RECURSIVE tree(ino, path, name) AS ("                            \
	"SELECT ino, name, name FROM fs_dentry WHERE parent_ino = 1 "          \
	"UNION ALL SELECT d.ino, tree.path || '/' || d.name, d.name "          \
	"FROM fs_dentry d JOIN tree ON d.parent_ino = tree.ino "               \
	"WHERE length(tree.path) < 4096) "

static int
take_row(struct db_query *q, struct row *r)
{
	const char *path = db_get_text(q, 1);

	if (!is_name(db_get_text(q, 2)) || strlen(path) >= sizeof(r->path))
		return EPROTO;
	memcpy(r->path, path, strlen(path) + 1);
	r->ino = db_get_number(q, 0);
	r->mode = (mode_t)db_get_number(q, 3);
	r->size = (off_t)db_get_number(q, 4);
	r->times[0].tv_nsec = UTIME_OMIT;
	r->times[1].tv_sec = (time_t)db_get_number(q, 5);
	r->times[1].tv_nsec = (long)db_get_number(q, 6);
	return r->size < 0 ? EPROTO : 0;
}

/* Directories get their modes when they are full: the deepest first. */
static int
set_modes(struct agentfs *a)
{
	struct db_query *q = db_ask(TREE
		"SELECT tree.ino, path, name, mode, size, mtime, mtime_nsec "
		"FROM tree JOIN fs_inode i ON i.ino = tree.ino "
		"WHERE mode & 61440 = 16384 ORDER BY path DESC");
	struct row r;
	int number = 0;

	while (db_next(q)) {
		const char *name;
		int dir;

		if (number != 0 || (number = take_row(q, &r)) != 0)
			continue;
		dir = at_parent(a->upper, r.path, &name);
		if (dir < 0 || fchmodat(dir, name, r.mode & 07777, 0) < 0)
			number = errno;
		fd_close(&dir);
	}
	return number;
}

/* The directories above path, as overlayfs copies them up. */
static int
make_parents(struct agentfs *a, const char *path)
{
	char above[PATH_MAX];
	struct stat st;

	for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
		const char *name;
		int dir, from, number = 0;

		memcpy(above, path, (size_t)(at - path));
		above[at - path] = '\0';
		dir = at_parent(a->upper, above, &name);
		if (dir < 0)
			return errno;
		from = at_open(a->base, above, O_PATH | O_DIRECTORY);
		if (mkdirat(dir, name, 0700) < 0)
			number = errno == EEXIST ? 0 : errno;
		else if (from >= 0 && fstat(from, &st) == 0 &&
			fchmodat(dir, name, st.st_mode & 07777, 0) < 0)
			number = errno;
		fd_close(&from);
		fd_close(&dir);
		if (number != 0)
			return number;
	}
	return 0;
}

static int
make_whiteout(struct agentfs *a, const char *path)
{
	const char *name;
	int dir, number = make_parents(a, path);

	/* What lies below a file is gone with it. */
	if (number == ENOTDIR || number == ELOOP)
		return 0;
	if (number != 0)
		return number;
	dir = at_parent(a->upper, path, &name);
	if (dir < 0)
		return errno == ENOTDIR ? 0 : errno;
	if (mknodat(dir, name, S_IFCHR, 0) < 0 && errno != EEXIST)
		number = errno;
	fd_close(&dir);
	return number;
}

static int
make_whiteouts(struct agentfs *a)
{
	struct db_query *q =
		db_ask("SELECT path FROM fs_whiteout ORDER BY path");
	char path[PATH_MAX];
	int number = 0;

	while (db_next(q)) {
		const char *seen = db_get_text(q, 0);

		if (number != 0)
			continue;
		if (seen[0] != '/' || seen[1] == '\0' ||
			strlen(seen) > sizeof(path) ||
			strstr(seen, "/../") != NULL)
			number = EPROTO;
		else
			number = make_whiteout(a, strcpy(path, seen + 1));
	}
	return number;
}

int
agentfs_load(struct agentfs *a)
{
	struct db_query *q = db_ask(TREE
		"SELECT tree.ino, path, name, mode, size, mtime, mtime_nsec "
		"FROM tree JOIN fs_inode i ON i.ino = tree.ino "
		"ORDER BY path");
	struct row r;
	int number = 0;

	while (db_next(q))
		if (number == 0 && (number = take_row(q, &r)) == 0)
			number = make_one(a, &r);
	if (number == 0)
		number = make_whiteouts(a);
	if (number == 0)
		number = set_modes(a);
	return number == 0 && db_failed() ? EIO : number;
}
