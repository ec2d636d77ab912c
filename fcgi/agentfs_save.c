/* SPDX-License-Identifier: MIT */
/*
 * The upper directory into the file, in one transaction with the call's row and
 * with what each path was before and after it.  What ss_delta has with the same
 * inode and times is not read again.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "agentfs.h"
#include "agentfs_db.h"

struct save {
	struct agentfs *a;
	int64_t run, call; /* call 0: nothing is noted as a change */
};

/* One path of upper. */
struct entry {
	const char *path, *name, *kind; /* "f", "d", "l", "w" or "o" */
	int dir;
	const struct stat *st;
	bool opaque;
	int64_t ctime_ns;
	char digest[DIGEST_HEX + 1]; /* "" of what has none */
};

bool
agentfs_is_opaque(int dir, const char *name)
{
	int fd = at_read(dir, name, O_RDONLY | O_DIRECTORY);
	char value = '\0';
	bool opaque = fd >= 0 &&
		fgetxattr(fd, "user.overlay.opaque", &value, 1) == 1 &&
		value == 'y';

	fd_close(&fd);
	return opaque;
}

static const char *
kind_of(const struct stat *st)
{
	if (S_ISDIR(st->st_mode))
		return "d";
	if (S_ISREG(st->st_mode))
		return "f";
	if (S_ISLNK(st->st_mode))
		return "l";
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0) ? "w" : "o";
}

static int
digest_at(int dir, const char *name, const struct stat *st, bool own,
	char out[static DIGEST_HEX + 1])
{
	uint8_t digest[DIGEST_BYTES];
	char target[PATH_MAX];
	uint64_t bytes;
	ssize_t n;
	int fd, number = 0;

	out[0] = '\0';
	if (S_ISLNK(st->st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target));
		if (n < 0)
			return errno;
		digest_of(target, (size_t)n, digest);
	} else if (S_ISREG(st->st_mode)) {
		fd = own ? at_read(dir, name, O_RDONLY)
			 : openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		number = fd < 0 ? errno : digest_file(fd, &bytes, digest);
		fd_close(&fd);
		if (number != 0)
			return number;
	} else {
		return 0;
	}
	digest_hex(digest, DIGEST_BYTES, out);
	return 0;
}

/* ------------------------------------------------------- AgentFS's tables -- */

static void
forget_object(int64_t ino)
{
	static const char *const statements[] = {
		"DELETE FROM fs_data WHERE ino = ?1",
		"DELETE FROM fs_symlink WHERE ino = ?1",
		"DELETE FROM fs_origin WHERE delta_ino = ?1",
		"DELETE FROM fs_inode WHERE ino = ?1 AND ino <> 1",
	};

	for (size_t i = 0; i < 4; i++) {
		struct db_query *q = db_ask(statements[i]);

		db_number(q, 1, ino);
		db_run(q);
	}
}

/* The number of a directory or another entry; 0: there is none. */
static int64_t
find(const char *path, size_t len, int64_t *parent)
{
	int64_t ino = 1;
	char name[NAME_MAX + 1];
	size_t n;

	*parent = 1;
	for (; ino != 0 && len > 0; path += n, len -= n) {
		struct db_query *q = db_ask("SELECT ino FROM fs_dentry WHERE "
					    "parent_ino = ?1 AND name = ?2");
		const char *slash = memchr(path, '/', len);
		size_t part = slash != NULL ? (size_t)(slash - path) : len;

		n = slash != NULL ? part + 1 : part;
		if (part > NAME_MAX)
			return 0;
		memcpy(name, path, part);
		name[part] = '\0';
		*parent = ino;
		db_number(q, 1, ino);
		db_text(q, 2, name);
		ino = db_next(q) ? db_get_number(q, 0) : 0;
		db_end(q);
	}
	return ino;
}

static void
forget(const char *path)
{
	int64_t parent, ino = find(path, strlen(path), &parent);
	const char *slash = strrchr(path, '/');
	struct db_query *q;

	if (ino > 1) {
		q = db_ask("DELETE FROM fs_dentry WHERE parent_ino = ?1 AND "
			   "name = ?2");
		db_number(q, 1, parent);
		db_text(q, 2, slash != NULL ? slash + 1 : path);
		db_run(q);
		forget_object(ino);
	}
	q = db_ask("DELETE FROM fs_whiteout WHERE path = '/' || ?1");
	db_text(q, 1, path);
	db_run(q);
}

static void
put_whiteout(const char *path)
{
	struct db_query *q = db_ask("INSERT OR REPLACE INTO fs_whiteout "
				    "VALUES('/' || ?1, ?2, ?3)");
	const char *slash = strrchr(path, '/');
	char parent[PATH_MAX + 1];

	snprintf(parent, sizeof(parent), "/%.*s",
		slash != NULL ? (int)(slash - path) : 0, path);
	db_text(q, 1, path);
	db_text(q, 2, parent);
	db_number(q, 3, (int64_t)time(NULL));
	db_run(q);
}

static int
put_data(const struct entry *e, int64_t ino)
{
	int fd = at_read(e->dir, e->name, O_RDONLY);
	char chunk[CHUNK];
	int64_t index = 0;
	ssize_t n = 0;
	size_t have;
	int number = fd < 0 ? errno : 0;

	while (number == 0) {
		struct db_query *q =
			db_ask("INSERT INTO fs_data VALUES(?1, ?2, ?3)");

		/* Every chunk but the last is full. */
		for (have = 0; have < CHUNK; have += (size_t)n)
			if ((n = read(fd, chunk + have, CHUNK - have)) <= 0)
				break;
		if (n < 0)
			number = errno;
		if (number != 0 || have == 0)
			break;
		db_number(q, 1, ino);
		db_number(q, 2, index++);
		db_blob(q, 3, chunk, have);
		db_run(q);
	}
	fd_close(&fd);
	return number;
}

static int
put_link(const struct entry *e, int64_t ino)
{
	struct db_query *q = db_ask("INSERT INTO fs_symlink VALUES(?1, ?2)");
	char target[PATH_MAX];
	ssize_t n = readlinkat(e->dir, e->name, target, sizeof(target) - 1);

	if (n < 0)
		return errno;
	target[n] = '\0';
	db_number(q, 1, ino);
	db_text(q, 2, target);
	db_run(q);
	return 0;
}

static int64_t
put_inode(const struct entry *e, int64_t ino)
{
	const struct stat *st = e->st;
	struct db_query *q = db_ask(
		"INSERT OR REPLACE INTO fs_inode(ino, mode, nlink, uid, gid, "
		"size, atime, mtime, ctime, atime_nsec, mtime_nsec, "
		"ctime_nsec) VALUES(?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
		"?10, ?11)");
	const int64_t values[] = { st->st_mode, st->st_uid, st->st_gid,
		S_ISDIR(st->st_mode) ? 0 : st->st_size, st->st_atim.tv_sec,
		st->st_mtim.tv_sec, st->st_ctim.tv_sec, st->st_atim.tv_nsec,
		st->st_mtim.tv_nsec, st->st_ctim.tv_nsec };

	if (ino > 0)
		db_number(q, 1, ino);
	else
		db_text(q, 1, NULL);
	for (int i = 0; i < (int)ARRAY_LEN(values); i++)
		db_number(q, i + 2, values[i]);
	db_run(q);
	return ino > 0 ? ino : db_last();
}

static void
put_origin(const struct save *s, const struct entry *e, int64_t ino)
{
	struct db_query *q =
		db_ask("INSERT OR REPLACE INTO fs_origin VALUES(?1, ?2)");
	const char *name;
	struct stat st;
	int dir = at_parent(s->a->base, e->path, &name);

	if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		db_number(q, 1, ino);
		db_number(q, 2, (int64_t)st.st_ino);
		db_run(q);
	}
	fd_close(&dir);
}

/* A directory keeps its number, since what is in it names that. */
static int
put_object(const struct save *s, const struct entry *e)
{
	int64_t parent, ino = find(e->path, strlen(e->path), &parent);
	struct db_query *q;
	int number = 0;
	bool keeps = ino > 1 && e->kind[0] == 'd';

	if (!keeps)
		forget(e->path);
	ino = put_inode(e, keeps ? ino : 0);
	if (!keeps) {
		q = db_ask("INSERT INTO fs_dentry(name, parent_ino, ino) "
			   "VALUES(?1, ?2, ?3)");
		db_text(q, 1, e->name);
		db_number(q, 2, parent);
		db_number(q, 3, ino);
		db_run(q);
		put_origin(s, e, ino);
	}
	if (e->kind[0] == 'f')
		number = put_data(e, ino);
	else if (e->kind[0] == 'l')
		number = put_link(e, ino);
	if (e->opaque)
		put_whiteout(e->path);
	return number;
}

/* -------------------------------------------------------------- changes -- */

/* What the tool saw there before the call: in the session, else in the base. */
struct before {
	bool there;
	char kind[2];
	int64_t mode;
	char digest[DIGEST_HEX + 1];
};

static void
before_in_base(const struct save *s, const char *path, struct before *b)
{
	const char *name;
	struct stat st;
	char above[PATH_MAX];
	int dir;

	/* Below what the session had deleted or replaced nothing was seen. */
	for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
		struct db_query *q = db_ask(
			"SELECT 1 FROM ss_delta WHERE path = ?1 AND (kind <> "
			"'d' OR sha256 = 'opaque')");
		bool hidden;

		memcpy(above, path, (size_t)(at - path));
		above[at - path] = '\0';
		db_text(q, 1, above);
		hidden = db_next(q);
		db_end(q);
		if (hidden)
			return;
	}
	dir = at_parent(s->a->base, path, &name);
	if (dir >= 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		b->there = true;
		memcpy(b->kind, kind_of(&st), 2);
		b->mode = st.st_mode;
		(void)digest_at(dir, name, &st, false, b->digest);
	}
	fd_close(&dir);
}

static void
before_of(const struct save *s, const char *path, struct before *b)
{
	struct db_query *q = db_ask(
		"SELECT kind, mode, sha256 FROM ss_delta WHERE path = ?1");
	bool known;

	*b = (struct before){ 0 };
	db_text(q, 1, path);
	known = db_next(q);
	if (known) {
		snprintf(b->kind, sizeof(b->kind), "%s", db_get_text(q, 0));
		b->there = b->kind[0] != 'w';
		b->mode = db_get_number(q, 1);
		if (b->kind[0] == 'f' || b->kind[0] == 'l')
			snprintf(b->digest, sizeof(b->digest), "%s",
				db_get_text(q, 2));
	}
	db_end(q);
	if (!known)
		before_in_base(s, path, b);
}

static void
put_change(const struct save *s, const char *path, char op, const char *before,
	const char *after)
{
	struct db_query *q = db_ask("INSERT OR REPLACE INTO ss_change "
				    "VALUES(?1, ?2, ?3, ?4, ?5)");
	const char text[] = { op, '\0' };

	db_number(q, 1, s->call);
	db_text(q, 2, path);
	db_text(q, 3, text);
	db_text(q, 4, before[0] != '\0' ? before : NULL);
	db_text(q, 5, after[0] != '\0' ? after : NULL);
	db_run(q);
}

/* One path of the base below what the call hid. */
struct hiding {
	const struct save *s;
	const char *top;
};

static int
note_hidden(void *ctx, int dir, const char *below, const struct stat *st)
{
	const struct hiding *h = ctx;
	char path[PATH_MAX];
	const char *name;
	struct before b;
	struct stat now;
	int upper, n = snprintf(path, sizeof(path), "%s/%s", h->top, below);

	(void)dir;
	(void)st;
	if (n < 0 || (size_t)n >= sizeof(path))
		return ENAMETOOLONG;
	upper = at_parent(h->s->a->upper, path, &name);
	if (upper < 0 || fstatat(upper, name, &now, AT_SYMLINK_NOFOLLOW) < 0) {
		before_of(h->s, path, &b);
		if (b.there)
			put_change(h->s, path, 'D', b.digest, "");
	}
	fd_close(&upper);
	return 0;
}

/* Does it hide a directory of the base?  Then all of that is deleted. */
static void
note_below(const struct save *s, const struct entry *e)
{
	struct hiding h = { s, e->path };
	int fd = e->kind[0] == 'd' && !e->opaque
		? -1
		: at_open(s->a->base, e->path, AT_DIRECTORY);

	if (fd >= 0)
		(void)tree_each(fd, ".", false, note_hidden, &h);
	fd_close(&fd);
}

static void
note_change(const struct save *s, const struct entry *e)
{
	struct before b;
	bool there = e->kind[0] != 'w';

	note_below(s, e);

	before_of(s, e->path, &b);
	if (!b.there && there)
		put_change(s, e->path, 'A', "", e->digest);
	else if (b.there && !there)
		put_change(s, e->path, 'D', b.digest, "");
	else if (b.there &&
		(b.kind[0] != e->kind[0] || b.mode != (int64_t)e->st->st_mode ||
			strcmp(b.digest, e->digest) != 0))
		put_change(s, e->path, 'M', b.digest, e->digest);
}

/* ------------------------------------------------------------- the upper -- */

/* Is it as the file has it?  Then it is only marked as seen. */
static bool
is_known(const struct save *s, const struct entry *e)
{
	struct db_query *q = db_ask(
		"UPDATE ss_delta SET run = ?1 WHERE path = ?2 AND kind = ?3 "
		"AND mode = ?4 AND inode = ?5 AND ctime_ns = ?6 RETURNING 1");
	bool known;

	db_number(q, 1, s->run);
	db_text(q, 2, e->path);
	db_text(q, 3, e->kind);
	db_number(q, 4, (int64_t)e->st->st_mode);
	db_number(q, 5, (int64_t)e->st->st_ino);
	db_number(q, 6, e->ctime_ns);
	known = db_next(q);
	while (known && db_next(q))
		;
	db_end(q);
	return known;
}

static void
put_delta(const struct save *s, const struct entry *e)
{
	struct db_query *q = db_ask("INSERT OR REPLACE INTO ss_delta "
				    "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)");

	db_text(q, 1, e->path);
	db_text(q, 2, e->kind);
	db_number(q, 3, (int64_t)e->st->st_mode);
	db_number(q, 4, (int64_t)e->st->st_ino);
	db_number(q, 5, e->ctime_ns);
	db_text(q, 6, e->opaque ? "opaque" : e->digest);
	db_number(q, 7, s->run);
	db_run(q);
}

static int
take_one(void *ctx, int dir, const char *path, const struct stat *st)
{
	struct save *s = ctx;
	const char *slash = strrchr(path, '/');
	struct entry e = { .path = path,
		.name = slash != NULL ? slash + 1 : path,
		.kind = kind_of(st),
		.dir = dir,
		.st = st,
		.ctime_ns = own_ns(&st->st_ctim) };
	int number;

	if (is_known(s, &e))
		return 0;
	e.opaque = e.kind[0] == 'd' && agentfs_is_opaque(dir, e.name);
	number = digest_at(dir, e.name, st, true, e.digest);
	if (number == 0 && s->call > 0) {
		note_change(s, &e);
		if (e.kind[0] == 'w') {
			forget(path);
			put_whiteout(path);
		} else if (e.kind[0] != 'o') {
			number = put_object(s, &e);
		}
	}
	put_delta(s, &e);
	return db_failed() ? EIO : number;
}

/* What the file has and upper has no more. */
static void
take_missing(const struct save *s)
{
	struct db_query *q = db_ask("SELECT path, kind, sha256 FROM ss_delta "
				    "WHERE run <> ?1 ORDER BY path DESC");
	char path[PATH_MAX], digest[DIGEST_HEX + 1];

	db_number(q, 1, s->run);
	while (db_next(q)) {
		bool there = db_get_text(q, 1)[0] != 'w';

		snprintf(path, sizeof(path), "%s", db_get_text(q, 0));
		snprintf(digest, sizeof(digest), "%s", db_get_text(q, 2));
		if (there && s->call > 0)
			put_change(s, path, 'D',
				strcmp(digest, "opaque") == 0 ? "" : digest,
				"");
		if (s->call > 0)
			forget(path);
	}
	q = db_ask("DELETE FROM ss_delta WHERE run <> ?1");
	db_number(q, 1, s->run);
	db_run(q);
}

static int64_t
next_run(void)
{
	struct db_query *q =
		db_ask("SELECT coalesce(max(run), 0) + 1 FROM ss_delta");
	int64_t run = db_next(q) ? db_get_number(q, 0) : 1;

	db_end(q);
	return run;
}

static int64_t
put_call(const struct call *call)
{
	struct db_query *q = db_ask(
		"INSERT INTO tool_calls(name, parameters, result, error, "
		"status, started_at, completed_at, duration_ms) "
		"VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)");
	char result[64], error[64];
	bool good = call->returncode == 0;

	snprintf(result, sizeof(result), "{\"returncode\":%" PRId64 "}",
		call->returncode);
	snprintf(error, sizeof(error), "returncode %" PRId64, call->returncode);
	db_text(q, 1, call->name);
	db_text(q, 2, call->parameters);
	db_text(q, 3, good ? result : NULL);
	db_text(q, 4, good ? NULL : error);
	db_text(q, 5, good ? "success" : "error");
	db_number(q, 6, call->started_s);
	db_number(q, 7, call->started_s + call->duration_ms / 1000);
	db_number(q, 8, call->duration_ms);
	db_run(q);
	return db_last();
}

static int
take_all(struct agentfs *a, const struct call *call)
{
	struct save s = { .a = a };
	int number;

	db_exec("BEGIN IMMEDIATE");
	s.run = next_run();
	s.call = call != NULL ? put_call(call) : 0;
	number = tree_each(a->session, "upper", true, take_one, &s);
	if (number == 0)
		take_missing(&s);
	if (number == 0 && db_failed())
		number = EIO;
	db_exec(number == 0 ? "COMMIT" : "ROLLBACK");
	return number == 0 && db_failed() ? EIO : number;
}

int
agentfs_save(struct agentfs *a, const struct call *call)
{
	return take_all(a, call);
}

int
agentfs_note(struct agentfs *a)
{
	return take_all(a, NULL);
}
