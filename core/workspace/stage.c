/* SPDX-License-Identifier: MIT */
#include "workspace/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/attrs.h"
#include "workspace/copy.h"
#include "workspace/own.h"

struct stage {
	const struct workspace *w;
	const struct changes *c;
	struct journal *j;
	unsigned *slots; /* of each change; 0: none */
	unsigned last;
	int fd;
};

/* ---------------------------------------------------------- what covers -- */

static int
by_path(const void *key, const void *item)
{
	return strcmp(key, ((const struct change *)item)->path);
}

static bool
brings_directory(const struct change *c)
{
	return c->now.kind == CHANGE_DIRECTORY &&
		c->was.kind != CHANGE_DIRECTORY;
}

static bool
takes_directory(const struct change *c)
{
	return c->was.kind == CHANGE_DIRECTORY &&
		c->now.kind != CHANGE_DIRECTORY;
}

/*
 * The highest directory above path that a step moves as a whole: such a step is
 * also the one of path.  NULL: none.
 */
static const struct change *
cover(const struct changes *c, const char *path,
	bool (*moves)(const struct change *))
{
	char above[PATH_MAX];
	const struct change *found;

	for (const char *at = path; (at = strchr(at, '/')) != NULL; at++) {
		memcpy(above, path, (size_t)(at - path));
		above[at - path] = '\0';
		found = bsearch(
			above, c->items, c->count, sizeof(*found), by_path);
		if (found != NULL && moves(found))
			return found;
	}
	return NULL;
}

/* --------------------------------------------------------- what is staged -- */

/* Where a change is staged: its directory there and its name in that. */
struct place {
	int dir;
	char name[PATH_MAX];
};

static int
place_of(struct stage *s, const struct change *c, struct place *p)
{
	const struct change *top = cover(s->c, c->path, brings_directory);
	size_t i = (size_t)((top != NULL ? top : c) - s->c->items);
	char path[PATH_MAX];
	const char *name;
	int n;

	if (top == NULL && s->slots[i] == 0)
		s->slots[i] = ++s->last;
	n = snprintf(path, sizeof(path), "%u%s", s->slots[i],
		top != NULL ? c->path + strlen(top->path) : "");
	if (n < 0 || (size_t)n >= sizeof(path))
		return ENAMETOOLONG;
	p->dir = at_parent(s->fd, path, &name);
	if (p->dir < 0)
		return errno;
	memcpy(p->name, name, strlen(name) + 1);
	return 0;
}

static int
stage_file(int from_dir, const char *from_name, const struct change *c,
	const struct place *to)
{
	int from = at_read(from_dir, from_name, O_RDONLY | O_NONBLOCK);
	int out = -1, number = 0;
	struct stat st;

	if (from < 0 || fstat(from, &st) < 0)
		number = errno;
	else if (!S_ISREG(st.st_mode))
		number = ESTALE;
	if (number == 0) {
		out = openat(to->dir, to->name,
			O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
		number = out < 0 ? errno : copy_bytes(from, out);
	}
	if (number == 0)
		number = attrs_copy(from, out);
	if (number == 0) {
		const struct timespec times[2] = { st.st_atim, st.st_mtim };

		if (fchmod(out, c->now.mode) < 0 || futimens(out, times) < 0)
			number = errno;
	}
	fd_close(&from);
	fd_close(&out);
	return number;
}

static int
stage_link(int from_dir, const char *from_name, const struct place *to)
{
	char target[PATH_MAX];
	struct stat st;
	struct timespec times[2];
	ssize_t n = readlinkat(from_dir, from_name, target, sizeof(target) - 1);

	if (n < 0 || fstatat(from_dir, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	target[n] = '\0';
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	return symlinkat(target, to->dir, to->name) < 0 ||
			utimensat(to->dir, to->name, times,
				AT_SYMLINK_NOFOLLOW) < 0
		? errno
		: 0;
}

/* Its attributes alone; its mode comes when it is full. */
static int
stage_directory(int from_dir, const char *from_name, const struct place *to)
{
	int from, out, number;

	if (mkdirat(to->dir, to->name, 0700) < 0)
		return errno;
	from = at_read(from_dir, from_name, O_RDONLY | O_DIRECTORY);
	out = openat(to->dir, to->name, AT_DIRECTORY);
	number = from < 0 || out < 0 ? errno : attrs_copy(from, out);
	fd_close(&from);
	fd_close(&out);
	return number;
}

static int
stage_one(struct stage *s, const struct change *c, struct stat *staged)
{
	struct place to = { .dir = -1 };
	const char *name;
	int from = at_parent(s->w->upper, c->path, &name);
	int number = from < 0 ? errno : place_of(s, c, &to);

	if (number == 0 && c->now.kind == CHANGE_FILE)
		number = stage_file(from, name, c, &to);
	else if (number == 0 && c->now.kind == CHANGE_LINK)
		number = stage_link(from, name, &to);
	else if (number == 0)
		number = stage_directory(from, name, &to);
	if (number == 0 &&
		fstatat(to.dir, to.name, staged, AT_SYMLINK_NOFOLLOW) < 0)
		number = errno;
	fd_close(&from);
	fd_close(&to.dir);
	return number;
}

/* --------------------------------------------------------------- steps -- */

static int
add_mode(struct stage *s, const struct change *c, enum step_kind kind,
	uint64_t inode, uint32_t from, uint32_t to)
{
	const struct step step = { .kind = kind,
		.inode = inode,
		.mode = to,
		.old_mode = from,
		.path = c->path };

	return from == to ? 0 : journal_add(s->j, &step);
}

/* A directory may be moved and filled only with all rights to it. */
#define FULL(mode) ((mode) | 0700u)

/* Before all others: rights to what is moved or filled. */
static int
step_rights(struct stage *s, const struct change *c)
{
	if (c->was.kind != CHANGE_DIRECTORY ||
		cover(s->c, c->path, takes_directory) != NULL)
		return 0;
	return c->now.kind == CHANGE_DIRECTORY
		? add_mode(s, c, STEP_RIGHTS, c->inode, c->was.mode,
			  FULL(c->now.mode))
		: add_mode(s, c, STEP_RIGHTS, c->inode, c->was.mode,
			  FULL(c->was.mode));
}

/* A directory's attributes, by two staged ones: the new and the old. */
static int
step_attrs(struct stage *s, const struct change *c)
{
	struct step step = { .kind = STEP_ATTRS,
		.slot = ++s->last,
		.inode = c->inode,
		.path = c->path };
	struct place to = { .dir = s->fd };
	const char *name;
	int dirs[2] = { at_parent(s->w->upper, c->path, &name),
		at_parent(s->w->base, c->path, &name) };
	int number = dirs[0] < 0 || dirs[1] < 0 ? errno : 0;

	for (int i = 0; number == 0 && i < 2; i++) {
		snprintf(to.name, sizeof(to.name), "%u%s", step.slot,
			i == 0 ? "" : ".old");
		number = stage_directory(dirs[i], name, &to);
	}
	fd_close(&dirs[0]);
	fd_close(&dirs[1]);
	return number == 0 ? journal_add(s->j, &step) : number;
}

static int
step_content(struct stage *s, const struct change *c)
{
	struct step step = { .kind = c->was.kind == CHANGE_NONE ? STEP_PUT
								: STEP_SWAP,
		.old_inode = c->inode,
		.old_mtime_ns = c->mtime_ns,
		.path = c->path };
	struct stat staged;
	int number = stage_one(s, c, &staged);

	if (number != 0)
		return number;
	if (cover(s->c, c->path, brings_directory) != NULL)
		return 0;
	step.slot = s->slots[c - s->c->items];
	step.inode = (uint64_t)staged.st_ino;
	if (c->now.hashed)
		digest_hex(c->now.digest, DIGEST_BYTES, step.digest);
	number = journal_add(s->j, &step);
	if (number == 0 && c->now.kind == CHANGE_DIRECTORY)
		number = add_mode(s, c, STEP_MODE, step.inode,
			FULL(c->now.mode), c->now.mode);
	return number;
}

/* Is it, or its kind, new?  Then it is staged. */
static bool
is_staged(const struct change *c)
{
	if (c->now.kind == CHANGE_NONE)
		return false;
	if (c->now.kind == CHANGE_DIRECTORY)
		return c->was.kind != CHANGE_DIRECTORY;
	return c->content || c->attributes;
}

static int
step_change(struct stage *s, const struct change *c)
{
	if (is_staged(c))
		return step_content(s, c);
	if (c->now.kind == CHANGE_DIRECTORY)
		return c->attributes ? step_attrs(s, c) : 0;
	return c->now.kind == CHANGE_FILE
		? add_mode(s, c, STEP_MODE, c->inode, c->was.mode, c->now.mode)
		: 0;
}

static int
step_drop(struct stage *s, const struct change *c)
{
	const struct step step = { .kind = STEP_DROP,
		.slot = ++s->last,
		.inode = c->inode,
		.old_inode = c->inode,
		.old_mtime_ns = c->mtime_ns,
		.path = c->path };

	if (c->now.kind != CHANGE_NONE ||
		cover(s->c, c->path, takes_directory) != NULL)
		return 0;
	return journal_add(s->j, &step);
}

/* Last: the modes that step_rights widened. */
static int
step_mode(struct stage *s, const struct change *c)
{
	if (c->now.kind != CHANGE_DIRECTORY || c->was.kind != CHANGE_DIRECTORY)
		return 0;
	return add_mode(
		s, c, STEP_MODE, c->inode, FULL(c->now.mode), c->now.mode);
}

/* Directories of the stage that are full now, the deepest first. */
static int
set_modes(struct stage *s)
{
	int number = 0;

	for (size_t i = s->c->count; number == 0 && i-- > 0;) {
		const struct change *c = &s->c->items[i];
		bool top = cover(s->c, c->path, brings_directory) == NULL;
		struct place p = { .dir = -1 };

		if (!brings_directory(c))
			continue;
		number = place_of(s, c, &p);
		if (number == 0 &&
			fchmodat(p.dir, p.name,
				top ? FULL(c->now.mode) : c->now.mode, 0) < 0)
			number = errno;
		fd_close(&p.dir);
	}
	return number;
}

int
stage_sync(int fd)
{
	return syncfs(fd) < 0 ? errno : 0;
}

int
stage_fill(const struct workspace *w, int stage, const struct changes *c,
	struct journal *j)
{
	static int (*const passes[])(struct stage *, const struct change *) = {
		step_rights, step_change, step_drop, step_mode
	};
	struct stage s = { .w = w, .c = c, .j = j, .fd = stage };
	int number = 0;

	s.slots = calloc(c->count + 1, sizeof(*s.slots));
	if (s.slots == NULL)
		return ENOMEM;
	for (size_t pass = 0; number == 0 && pass < ARRAY_LEN(passes); pass++)
		for (size_t i = 0; number == 0 && i < c->count; i++)
			number = passes[pass](&s, &c->items[i]);
	if (number == 0)
		number = set_modes(&s);
	if (number == 0)
		number = stage_sync(stage);
	free(s.slots);
	return number;
}
