/* SPDX-License-Identifier: MIT */
#include "workspace/apply.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/attrs.h"
#include "workspace/own.h"

/* A step's descriptors and names; all paths of the base beneath it. */
struct at {
	int stage, dir;
	const char *name;
	char slot[24], old[32];
};

static uint64_t
inode_of(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0
		? (uint64_t)st.st_ino
		: 0;
}

static int
move(int from_dir, const char *from, int to_dir, const char *to, unsigned how)
{
	if (renameat2(from_dir, from, to_dir, to, how) == 0)
		return 0;
	/* NFS and others know no flags; the stage is ours alone. */
	if (how == RENAME_NOREPLACE && errno == EINVAL &&
		inode_of(to_dir, to) == 0)
		return renameat(from_dir, from, to_dir, to) < 0 ? errno : 0;
	return errno;
}

/* Is what came out of the base what the conflict check saw? */
static int
check_old(const struct at *a, const char *slot, const struct step *s)
{
	struct stat st;

	if (fstatat(a->stage, slot, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	return (uint64_t)st.st_ino == s->old_inode &&
			own_ns(&st.st_mtim) == s->old_mtime_ns
		? 0
		: ESTALE;
}

static bool
is_staged(const struct at *a, const struct step *s)
{
	return inode_of(a->stage, a->slot) == s->inode;
}

/* ------------------------------------------------------------- forward -- */

static int
do_put(const struct at *a, const struct step *s)
{
	int number;

	if (!is_staged(a, s))
		return 0;
	number = move(a->stage, a->slot, a->dir, a->name, RENAME_NOREPLACE);
	return number == EEXIST ? ESTALE : number;
}

static int
do_swap(const struct at *a, const struct step *s)
{
	int number = 0;

	if (is_staged(a, s) && inode_of(a->stage, a->old) == 0) {
		number = move(
			a->stage, a->slot, a->dir, a->name, RENAME_EXCHANGE);
		if (number == ENOENT)
			return ESTALE;
		if (number != 0 && number != EINVAL && number != ENOSYS &&
			number != EOPNOTSUPP)
			return number;
		if (number != 0)
			number = move(a->dir, a->name, a->stage, a->old,
				RENAME_NOREPLACE);
		if (number != 0)
			return number;
	}
	/* Without an exchange: the second half. */
	if (inode_of(a->stage, a->old) != 0) {
		if (is_staged(a, s))
			number = move(a->stage, a->slot, a->dir, a->name,
				RENAME_NOREPLACE);
		return number == 0 ? check_old(a, a->old, s) : number;
	}
	return check_old(a, a->slot, s);
}

static int
do_drop(const struct at *a, const struct step *s)
{
	if (inode_of(a->stage, a->slot) == 0) {
		int number = move(
			a->dir, a->name, a->stage, a->slot, RENAME_NOREPLACE);

		if (number != 0)
			return number == ENOENT ? ESTALE : number;
	}
	return check_old(a, a->slot, s);
}

/* Only of the very file or directory, and never through a link. */
static int
set_mode(const struct at *a, const struct step *s, uint32_t mode)
{
	struct stat st;

	if (fstatat(a->dir, a->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? ESTALE : errno;
	if ((uint64_t)st.st_ino != s->inode || S_ISLNK(st.st_mode))
		return ESTALE;
	if ((st.st_mode & 07777) == mode)
		return 0;
	return fchmodat(a->dir, a->name, mode, 0) < 0 ? errno : 0;
}

/* Where it is gone, a later step was done, or will find that out. */
static int
set_mode_if(const struct at *a, const struct step *s, uint32_t mode)
{
	int number = set_mode(a, s, mode);

	return number == ESTALE ? 0 : number;
}

static int
set_attrs(const struct at *a, const char *slot)
{
	int from = openat(a->stage, slot, AT_DIRECTORY);
	int to = openat(a->dir, a->name, AT_DIRECTORY);
	int number = from < 0 || to < 0 ? errno : attrs_copy(from, to);

	fd_close(&from);
	fd_close(&to);
	return number;
}

static int
forward(const struct at *a, const struct step *s)
{
	switch (s->kind) {
	case STEP_PUT: return do_put(a, s);
	case STEP_SWAP: return do_swap(a, s);
	case STEP_DROP: return do_drop(a, s);
	case STEP_RIGHTS: return set_mode_if(a, s, s->mode);
	case STEP_MODE: return set_mode(a, s, s->mode);
	case STEP_ATTRS: return set_attrs(a, a->slot);
	}
	return EPROTO;
}

/* ---------------------------------------------------------------- back -- */

static int
undo_swap(const struct at *a, const struct step *s)
{
	int number = 0;

	if (inode_of(a->stage, a->old) != 0) {
		if (!is_staged(a, s))
			number = move(a->dir, a->name, a->stage, a->slot,
				RENAME_NOREPLACE);
		if (number == 0)
			number = move(a->stage, a->old, a->dir, a->name,
				RENAME_NOREPLACE);
		return number;
	}
	if (is_staged(a, s))
		return 0;
	return move(a->stage, a->slot, a->dir, a->name, RENAME_EXCHANGE);
}

static int
back(const struct at *a, const struct step *s)
{
	switch (s->kind) {
	case STEP_PUT:
		if (is_staged(a, s) || inode_of(a->dir, a->name) != s->inode)
			return 0;
		return move(
			a->dir, a->name, a->stage, a->slot, RENAME_NOREPLACE);
	case STEP_SWAP: return undo_swap(a, s);
	case STEP_DROP:
		if (inode_of(a->stage, a->slot) == 0)
			return 0;
		return move(
			a->stage, a->slot, a->dir, a->name, RENAME_NOREPLACE);
	case STEP_RIGHTS:
	case STEP_MODE: return set_mode_if(a, s, s->old_mode);
	case STEP_ATTRS: return set_attrs(a, a->old);
	}
	return EPROTO;
}

/* ----------------------------------------------------------------- all -- */

static int
run(int base, int stage, const struct step *s,
	int (*way)(const struct at *a, const struct step *s))
{
	struct at a = { .stage = stage };
	int number;

	a.dir = at_parent(base, s->path, &a.name);
	if (a.dir < 0)
		return errno == ENOENT || errno == ELOOP || errno == ENOTDIR
			? ESTALE
			: errno;
	snprintf(a.slot, sizeof(a.slot), "%u", s->slot);
	snprintf(a.old, sizeof(a.old), "%u.old", s->slot);
	number = way(&a, s);
	fd_close(&a.dir);
	return number;
}

int
apply_all(int base, int stage, const struct journal *j)
{
	int number = 0;

	for (size_t i = 0; number == 0 && i < j->count; i++)
		number = run(base, stage, &j->steps[i], forward);
	return number;
}

int
apply_undo(int base, int stage, const struct journal *j)
{
	int first = 0;

	for (size_t i = j->count; i-- > 0;) {
		int number = run(base, stage, &j->steps[i], back);

		/* Its directory is not there: nothing was put into it. */
		if (number != 0 && number != ESTALE && first == 0)
			first = number;
	}
	return first;
}
