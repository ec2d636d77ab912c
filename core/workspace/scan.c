/* SPDX-License-Identifier: MIT */
/*
 * The walk of a session's upper against its base: directory by directory, each
 * opened by its path beneath the two tops, so that depth costs no descriptors.
 * The form of an upper is overlayfs's with the option userxattr (Linux,
 * Documentation/filesystems/overlayfs.rst).
 */
#include "workspace/scan.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/root.h"
#include "workspace/at.h"
#include "workspace/copy.h"
#include "workspace/own.h"

/* --------------------------------------------------------------- lists -- */

struct change *
scan_add(struct scan *s, const char *path, char op)
{
	struct changes *c = s->out;
	struct change *more, *one;

	if (c->count == c->cap) {
		size_t cap = c->cap == 0 ? 64 : c->cap * 2;

		more = arena_array(s->arena, cap, sizeof(*more));
		if (more == NULL)
			return NULL;
		if (c->count > 0)
			memcpy(more, c->items, c->count * sizeof(*more));
		c->items = more;
		c->cap = cap;
	}
	one = &c->items[c->count++];
	*one = (struct change){ .path = path, .op = op };
	return one;
}

int
scan_push(struct scan *s, const struct scan_dir *dir)
{
	struct scan_dir *more;

	if (s->count == s->cap) {
		s->cap = s->cap == 0 ? 64 : s->cap * 2;
		more = realloc(s->todo, s->cap * sizeof(*more));
		if (more == NULL)
			return ENOMEM;
		s->todo = more;
	}
	s->todo[s->count++] = *dir;
	return 0;
}

static char *
path_below(struct scan *s, const char *name)
{
	return s->dir->path[0] == '\0'
		? arena_copy(s->arena, name, strlen(name))
		: arena_join(s->arena, s->dir->path, "/", name);
}

/* ------------------------------------------------------ overlayfs's form -- */

ssize_t
scan_attribute(
	int dir, const char *name, const char *attribute, char *out, size_t cap)
{
	char path[64 + NAME_MAX];

	/* There is no getxattrat(2) before Linux 6.13. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, name);
	return lgetxattr(path, attribute, out, cap);
}

static bool
is_whiteout(struct scan *s, const char *name, const struct stat *st)
{
	char value[8];

	if (s->w->meta.backend == WORKSPACE_COPY)
		return false;
	if (S_ISCHR(st->st_mode))
		return st->st_rdev == makedev(0, 0);
	/* Since Linux 6.7 an empty file can be one, too. */
	return S_ISREG(st->st_mode) && st->st_size == 0 &&
		scan_attribute(s->upper, name, "user.overlay.whiteout", value,
			sizeof(value)) >= 0;
}

/* ----------------------------------------------------- one directory -- */

static int
stat_base(struct scan *s, const char *name, struct stat *st, bool *there)
{
	*there = s->base >= 0 &&
		fstatat(s->base, name, st, AT_SYMLINK_NOFOLLOW) == 0;
	return *there || s->base < 0 || errno == ENOENT ? 0 : errno;
}

static int
visit_upper(struct scan *s, const char *name)
{
	struct stat upper, base;
	const char *path;
	bool there;
	int number = stat_base(s, name, &base, &there);

	if (number != 0)
		return number;
	if (fstatat(s->upper, name, &upper, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : errno;
	path = path_below(s, name);
	if (path == NULL)
		return ENOMEM;
	if (is_whiteout(s, name, &upper))
		return there ? scan_compare(s, path, name, NULL, &base) : 0;
	return scan_compare(s, path, name, &upper, there ? &base : NULL);
}

/* What the base has and upper has not. */
static int
visit_base(struct scan *s, const char *name)
{
	struct stat base;
	const char *path;
	bool there;
	int number = stat_base(s, name, &base, &there);

	if (number != 0 || !there)
		return number;
	path = path_below(s, name);
	if (path == NULL)
		return ENOMEM;
	/* Of a copy: was it there to be deleted? */
	if (s->copied != NULL && !copy_list_has(s->copied, path))
		return 0;
	return scan_compare(s, path, name, NULL, &base);
}

static int
visit_names(struct scan *s)
{
	struct tree_names upper = { NULL, 0 }, base = { NULL, 0 };
	bool deletes = !s->dir->upper || s->dir->opaque || s->copied != NULL;
	int number = s->upper >= 0 ? tree_names(s->upper, &upper) : 0;

	if (number == 0 && s->base >= 0 && deletes)
		number = tree_names(s->base, &base);
	for (size_t i = 0; number == 0 && i < upper.count; i++)
		number = visit_upper(s, upper.items[i]);
	for (size_t i = 0; number == 0 && i < base.count; i++)
		if (!tree_names_have(&upper, base.items[i]))
			number = visit_base(s, base.items[i]);
	tree_names_release(&upper);
	tree_names_release(&base);
	return number;
}

static int
open_upper(struct scan *s, const char *path)
{
	const char *name;
	int parent, fd;

	if (path[0] == '\0')
		return at_open(s->w->upper, "", AT_DIRECTORY);
	parent = at_parent(s->w->upper, path, &name);
	if (parent < 0)
		return -1;
	fd = at_read(parent, name, O_RDONLY | O_DIRECTORY);
	fd_close(&parent);
	return fd;
}

static int
visit_dir(struct scan *s, struct scan_dir *dir)
{
	struct stat st;
	int number = 0;

	s->dir = dir;
	if (dir->upper && (s->upper = open_upper(s, dir->path)) < 0)
		return errno;
	if (dir->base) {
		s->base = at_open(s->w->base, dir->path, AT_DIRECTORY);
		if (s->base < 0 && errno == EXDEV)
			dir->refused = "another file system is mounted there, "
				       "which the session does not have";
		else if (s->base < 0)
			number = errno;
	}
	if (s->base >= 0 && fstat(s->base, &st) == 0)
		s->base_ctime_ns = own_ns(&st.st_ctim);
	if (number == 0)
		number = visit_names(s);
	fd_close(&s->upper);
	fd_close(&s->base);
	return number;
}

/* ----------------------------------------------------------- the whole -- */

static int
by_path(const void *left, const void *right)
{
	const struct change *a = left, *b = right;

	return strcmp(a->path, b->path);
}

/* The folder itself, whose mode is the upper's. */
static int
compare_top(struct scan *s)
{
	struct stat upper, base;
	struct change *c;

	if (fstat(s->w->upper, &upper) < 0 || fstat(s->w->base, &base) < 0)
		return errno;
	if (((upper.st_mode ^ base.st_mode) & 07777) == 0)
		return 0;
	c = scan_add(s, ".", 'M');
	if (c == NULL)
		return ENOMEM;
	c->now.kind = c->was.kind = CHANGE_DIRECTORY;
	c->now.mode = upper.st_mode & 07777;
	c->was.mode = base.st_mode & 07777;
	c->device = (uint64_t)base.st_dev;
	c->inode = (uint64_t)base.st_ino;
	if (own_ns(&base.st_ctim) >= s->w->meta.start_ns)
		c->conflict = "its mode was changed since the session began";
	return 0;
}

static int
walk(struct scan *s)
{
	const struct scan_dir top = { .path = "", .upper = true, .base = true };
	int number = compare_top(s);

	if (number == 0)
		number = scan_push(s, &top);
	while (number == 0 && s->count > 0) {
		struct scan_dir dir = s->todo[--s->count];

		number = visit_dir(s, &dir);
		s->dir = NULL;
		if (number != 0)
			snprintf(s->why, sizeof(s->why), "%.120s", dir.path);
	}
	return number;
}

/* Mounts below the folder, which overlayfs and a copy leave out. */
static int
note_mounts(struct scan *s)
{
	char link[32], base[PATH_MAX], line[PATH_MAX + 256], at[PATH_MAX];
	struct changes *c = s->out;
	ssize_t n;
	FILE *mounts;
	size_t cap = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->w->base);
	n = readlink(link, base, sizeof(base) - 1);
	mounts = n > 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
	if (mounts == NULL)
		return 0;
	base[n] = '\0';
	while (fgets(line, sizeof(line), mounts) != NULL) {
		if (sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1 ||
			strncmp(at, base, (size_t)n) != 0 || at[n] != '/')
			continue;
		if (c->note_count == cap) {
			const char **more =
				arena_array(s->arena, cap + 16, sizeof(*more));

			if (more == NULL)
				break;
			if (cap > 0)
				memcpy(more, c->notes, cap * sizeof(*more));
			c->notes = more;
			cap += 16;
		}
		c->notes[c->note_count] = arena_printf(s->arena,
			"%s is a mount: the session sees an empty directory",
			at + n + 1);
		if (c->notes[c->note_count++] == NULL)
			break;
	}
	fclose(mounts);
	return 0;
}

enum ss_err
changes_read(const struct workspace *w, const struct change_rule *rule,
	struct arena *arena, struct changes *out, struct ss_error *err)
{
	struct scan s = { .w = w,
		.rule = rule,
		.arena = arena,
		.out = out,
		.upper = -1,
		.base = -1 };
	int number = 0;

	*out = (struct changes){ 0 };
	if (w->meta.backend == WORKSPACE_COPY)
		number = copy_list_read(w, &s.copied);
	if (number == 0)
		number = walk(&s);
	if (number == 0) {
		scan_origins(&s);
		number = note_mounts(&s);
	}
	free(s.todo);
	copy_list_free(s.copied);
	if (number == 0 && out->count > 1)
		qsort(out->items, out->count, sizeof(*out->items), by_path);
	scan_count(out);
	if (number == 0 && !scan_digest(out))
		number = ENOMEM;
	return number == 0 ? SS_OK
			   : error_internal(err, number, "changes of %s: %s",
				     w->id, s.why);
}
