/* SPDX-License-Identifier: MIT */
#include "workspace/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/meta.h"
#include "workspace/own.h"
#include "workspace/tree.h"

#define LIST_BYTES_MAX ((size_t)1 << 30)

int
copy_bytes(int from, int to)
{
	char chunk[65536];
	ssize_t n;
	int number = 0;

	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	while ((n = copy_file_range(from, NULL, to, NULL, 1 << 30, 0)) > 0)
		;
	if (n == 0)
		return 0;
	if (errno != EXDEV && errno != EINVAL && errno != ENOSYS &&
		errno != EOPNOTSUPP)
		return errno;
	while (number == 0 && (n = read(from, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		number = n < 0 ? errno : fd_write_all(to, chunk, (size_t)n);
	}
	return number;
}

struct copy {
	struct workspace *w;
	struct buf list;
	uint64_t bytes, files;
};

static int
copy_file(int dir, const char *name, const struct stat *st, int to)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	int from = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	int out = -1, number = 0;

	if (from < 0)
		return errno;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	number = out < 0 ? errno : copy_bytes(from, out);
	if (number == 0 &&
		(fchmod(out, st->st_mode & 07777) < 0 ||
			futimens(out, times) < 0))
		number = errno;
	fd_close(&from);
	fd_close(&out);
	return number;
}

static int
copy_link(int dir, const char *name, const struct stat *st, int to)
{
	const struct timespec times[2] = { st->st_atim, st->st_mtim };
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target) - 1);

	if (n < 0)
		return errno;
	target[n] = '\0';
	return symlinkat(target, to, name) < 0 ||
			utimensat(to, name, times, AT_SYMLINK_NOFOLLOW) < 0
		? errno
		: 0;
}

static int
note(struct copy *c, const char *path, int to, const char *name)
{
	struct stat st;

	if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : errno;
	meta_put_word(&c->list, path, strlen(path));
	buf_printf(&c->list, " %" PRId64, (int64_t)st.st_ino);
	return buf_char(&c->list, '\n') ? 0 : ENOMEM;
}

static int
copy_one(void *ctx, int dir, const char *path, const struct stat *st)
{
	struct copy *c = ctx;
	const struct workspace_meta *m = &c->w->meta;
	const char *name;
	int to, number = 0;

	c->files++;
	c->bytes += S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0;
	if ((m->bytes_max > 0 && c->bytes > m->bytes_max) ||
		(m->files_max > 0 && c->files > m->files_max))
		return EFBIG;
	to = at_parent(c->w->upper, path, &name);
	if (to < 0)
		return errno;
	if (S_ISDIR(st->st_mode))
		number = mkdirat(to, name, 0700) < 0 ? errno : 0;
	else if (S_ISREG(st->st_mode))
		number = copy_file(dir, name, st, to);
	else if (S_ISLNK(st->st_mode))
		number = copy_link(dir, name, st, to);
	if (number == 0)
		number = note(c, path, to, name);
	fd_close(&to);
	return number;
}

/* Directories get their modes when they are full. */
static int
set_mode(void *ctx, int dir, const char *path, const struct stat *st)
{
	const struct copy *c = ctx;
	const char *name;
	int to, number;

	(void)dir;
	if (!S_ISDIR(st->st_mode))
		return 0;
	to = at_parent(c->w->upper, path, &name);
	if (to < 0)
		return errno;
	number = fchmodat(to, name, st->st_mode & 07777, 0);
	fd_close(&to);
	return number < 0 ? errno : 0;
}

enum ss_err
copy_fill(struct workspace *w, struct ss_error *err)
{
	struct copy c = { .w = w, .list = BUF_INIT(LIST_BYTES_MAX) };
	int64_t stamp = 0;
	int number = tree_each(w->base, ".", false, copy_one, &c);

	if (number == 0)
		number = tree_each(w->base, ".", false, set_mode, &c);
	if (number == 0)
		number = own_stamp(w->lock, true, &stamp);
	buf_printf(&c.list, "%" PRId64 "\n", stamp);
	if (number == 0)
		number =
			state_put(w->dir, "base.list", c.list.data, c.list.len);
	buf_release(&c.list);
	if (number == 0)
		return SS_OK;
	if (number != EFBIG)
		return error_internal(err, number, "copy the folder");
	error_set(err, SS_BODY_TOO_LARGE,
		"the workspace's folder is too large to be copied");
	error_hint(err,
		"name a smaller folder, or let the operator use a kernel with "
		"overlayfs for this account");
	return SS_BODY_TOO_LARGE;
}

/* ----------------------------------------------------------------- list -- */

struct copied {
	const char *path; /* in text */
	int64_t inode;
};

struct copy_list {
	struct buf text;
	struct copied *items; /* sorted */
	size_t count;
	int64_t stamp_ns;
};

static int
by_path(const void *left, const void *right)
{
	return strcmp(((const struct copied *)left)->path,
		((const struct copied *)right)->path);
}

static int
parse(struct copy_list *l)
{
	char *at = l->text.data, *line;
	size_t lines = 0;

	for (size_t i = 0; i < l->text.len; i++)
		lines += l->text.data[i] == '\n';
	l->items = calloc(lines + 1, sizeof(*l->items));
	if (l->items == NULL)
		return ENOMEM;
	for (; lines > 1; lines--) {
		struct copied *one = &l->items[l->count];

		line = meta_line(&at);
		one->path = line != NULL ? meta_word(&line) : NULL;
		if (one->path == NULL || !meta_number(&line, &one->inode))
			return EPROTO;
		l->count++;
	}
	line = meta_line(&at);
	if (line == NULL || !meta_number(&line, &l->stamp_ns))
		return EPROTO;
	if (l->count > 1)
		qsort(l->items, l->count, sizeof(*l->items), by_path);
	return 0;
}

int
copy_list_read(const struct workspace *w, struct copy_list **out)
{
	struct copy_list *l = calloc(1, sizeof(*l));
	int fd, number;

	*out = l;
	if (l == NULL)
		return ENOMEM;
	l->text = BUF_INIT(LIST_BYTES_MAX);
	fd = openat(w->dir, "base.list", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	number = fd < 0 ? errno : fd_read_all(fd, &l->text);
	fd_close(&fd);
	return number == 0 ? parse(l) : number;
}

void
copy_list_free(struct copy_list *l)
{
	if (l == NULL)
		return;
	buf_release(&l->text);
	free(l->items);
	free(l);
}

static const struct copied *
find(const struct copy_list *l, const char *path)
{
	const struct copied key = { .path = path };

	return l->count > 0
		? bsearch(&key, l->items, l->count, sizeof(*l->items), by_path)
		: NULL;
}

bool
copy_list_has(const struct copy_list *l, const char *path)
{
	return find(l, path) != NULL;
}

bool
copy_list_is(const struct copy_list *l, const char *path, uint64_t inode)
{
	const struct copied *one = find(l, path);

	return one != NULL && (uint64_t)one->inode == inode;
}

int64_t
copy_list_stamp(const struct copy_list *l)
{
	return l->stamp_ns;
}
