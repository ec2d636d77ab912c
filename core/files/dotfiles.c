/* SPDX-License-Identifier: MIT */
#include "files/dotfiles.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"

/* File times have steps of up to 10 ms, and of a second on old ext4. */
#define TICK_NS 20000000
#define WHOLE_NS INT64_C(3000000000)

#define ZFS_MAGIC 0x2fc12fc1

static bool
is_dot_entry(const char *name)
{
	return name[0] == '.' && strcmp(name, ".") != 0 &&
		strcmp(name, "..") != 0;
}

static bool
is_same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

bool
dotfiles_are_settled(const struct stat *directory)
{
	const struct timespec *changed = &directory->st_ctim;
	struct timespec now;
	int64_t age;

	clock_gettime(CLOCK_REALTIME, &now);
	age = (int64_t)(now.tv_sec - changed->tv_sec) * 1000000000 +
		now.tv_nsec - changed->tv_nsec;
	return age > (changed->tv_nsec == 0 ? WHOLE_NS : TICK_NS);
}

/*
 * File systems where this kernel makes each change and sets the time.  A
 * network file system may show a change late, and FUSE shows any time it likes.
 */
static bool
has_true_times(int dir)
{
	static const unsigned long those[] = { EXT4_SUPER_MAGIC,
		XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, ZFS_MAGIC,
		TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC };
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(those); i++)
		if ((unsigned long)fs.f_type == those[i])
			return true;
	return false;
}

static int
list_entries(int dir, bool (*fn)(void *ctx, const char *name), void *ctx)
{
	_Alignas(struct fd_entry) char buffer[32768];
	long n;

	if (lseek(dir, 0, SEEK_SET) < 0)
		return -1;
	while ((n = syscall(SYS_getdents64, dir, buffer, sizeof(buffer))) > 0)
		for (long at = 0; at < n;) {
			const struct fd_entry *e = (const void *)(buffer + at);

			at += e->length;
			if (is_dot_entry(e->name) && !fn(ctx, e->name))
				return 0;
		}
	return n == 0 ? 1 : -1;
}

static bool
add_name(void *ctx, const char *name)
{
	struct dotfiles *d = ctx;
	size_t size = strlen(name) + 1;

	if (size > sizeof(d->names) - d->len)
		return false;
	memcpy(d->names + d->len, name, size);
	d->len += size;
	return true;
}

bool
dotfiles_hold(const struct dotfiles *d, int dir)
{
	struct stat st;

	return d->known && fstat(dir, &st) == 0 && st.st_dev == d->device &&
		st.st_ino == d->inode &&
		is_same_time(&st.st_mtim, &d->modified) &&
		is_same_time(&st.st_ctim, &d->changed);
}

/*
 * Keeps the times from before the reading: a change meanwhile makes the list
 * differ from the directory.
 */
bool
dotfiles_keep(struct dotfiles *d, int dir)
{
	struct stat st;

	if (dotfiles_hold(d, dir))
		return true;
	d->known = false;
	d->len = 0;
	if (fstat(dir, &st) < 0 || !dotfiles_are_settled(&st) ||
		!has_true_times(dir))
		return false;
	d->device = st.st_dev;
	d->inode = st.st_ino;
	d->modified = st.st_mtim;
	d->changed = st.st_ctim;
	d->known = list_entries(dir, add_name, d) == 1;
	return d->known;
}

int
dotfiles_each(const struct dotfiles *d, int dir,
	bool (*fn)(void *ctx, const char *name), void *ctx)
{
	if (d == NULL)
		return list_entries(dir, fn, ctx);
	for (size_t at = 0; at < d->len; at += strlen(d->names + at) + 1)
		if (!fn(ctx, d->names + at))
			return 0;
	return 1;
}
