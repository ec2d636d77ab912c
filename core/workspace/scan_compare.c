/* SPDX-License-Identifier: MIT */
/* One path of a session and of its base: is it a change, and may it be one? */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/root.h"
#include "workspace/at.h"
#include "workspace/attrs.h"
#include "workspace/copy.h"
#include "workspace/own.h"
#include "workspace/scan.h"

static enum change_kind
kind_of(const struct stat *st)
{
	if (st == NULL)
		return CHANGE_NONE;
	if (S_ISREG(st->st_mode))
		return CHANGE_FILE;
	if (S_ISDIR(st->st_mode))
		return CHANGE_DIRECTORY;
	return S_ISLNK(st->st_mode) ? CHANGE_LINK : CHANGE_OTHER;
}

/* Of one side: what is read of it.  fd is a file's, else -1. */
struct side {
	struct change_side of;
	int fd;
};

static int
read_link(int dir, const char *name, struct change_side *side)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0)
		return errno;
	side->size = (uint64_t)n;
	digest_of(target, (size_t)n, side->digest);
	side->hashed = true;
	return 0;
}

/* own: it is the session's, which the account may always read. */
static int
read_side(int dir, const char *name, const struct stat *st, bool own,
	struct side *side)
{
	int number = 0;

	*side = (struct side){ .fd = -1 };
	side->of.kind = kind_of(st);
	if (st == NULL)
		return 0;
	side->of.mode = st->st_mode & 07777;
	if (side->of.kind == CHANGE_LINK) {
		side->of.mode = 0777;
		return read_link(dir, name, &side->of);
	}
	if (side->of.kind != CHANGE_FILE)
		return 0;
	side->of.size = (uint64_t)st->st_size;
	side->fd = own
		? at_read(dir, name, O_RDONLY | O_NONBLOCK)
		: openat(dir, name,
			  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (side->fd < 0)
		/* What cannot be read can still be deleted. */
		return !own && errno == EACCES ? 0 : errno;
	number = digest_file(side->fd, &side->of.size, side->of.digest);
	side->of.hashed = number == 0;
	return number;
}

/* ------------------------------------------------------------- verdicts -- */

/*
 * The mode bits that no tool may hand on.  A directory's set-group-ID bit is
 * inherited and gives no power.
 */
static mode_t
gives_power(const struct stat *upper, const struct stat *base)
{
	if (S_ISREG(upper->st_mode))
		return S_ISUID | S_ISGID;
	if (!S_ISDIR(upper->st_mode))
		return 0;
	return base != NULL ? S_ISUID & ~base->st_mode : S_ISUID;
}

static const char *
refusal(const struct scan *s, const char *path, const char *name,
	const struct stat *upper, const struct stat *base)
{
	char value[2];

	if (s->dir->refused != NULL)
		return s->dir->refused;
	if (root_hides(path))
		return "no tool may write to dot entries";
	if (s->rule != NULL && s->rule->refuse != NULL) {
		const char *why = s->rule->refuse(s->rule->ctx, path);

		if (why != NULL)
			return why;
	}
	if (upper == NULL)
		return NULL;
	if (kind_of(upper) == CHANGE_OTHER)
		return "it is a device, a pipe or a socket";
	if ((upper->st_mode & gives_power(upper, base)) != 0)
		return "it has the set-user-ID or set-group-ID bit";
	if (s->w->meta.backend != WORKSPACE_COPY &&
		(scan_attribute(s->upper, name, "user.overlay.redirect", value,
			 0) >= 0 ||
			scan_attribute(s->upper, name, "user.overlay.metacopy",
				value, 0) >= 0))
		return "it has an attribute of overlayfs that this session's "
		       "mount does not make";
	return NULL;
}

/* A directory's st_ctim changes with each name in it: that is no conflict. */
static const char *
conflict(const struct scan *s, const struct change *c, const struct stat *base)
{
	if (base == NULL || own_ns(&base->st_ctim) < s->w->meta.start_ns)
		return NULL;
	if (!S_ISDIR(base->st_mode))
		return "it was changed since the session began";
	if (c->now.kind == CHANGE_DIRECTORY)
		return "the directory was changed since the session began";
	return NULL;
}

static int
note_origin(struct scan *s, struct change *c, const char *name)
{
	char value[256];
	ssize_t n;

	if (s->base < 0 || s->w->meta.backend == WORKSPACE_COPY ||
		s->base_ctime_ns < s->w->meta.start_ns)
		return 0;
	n = scan_attribute(
		s->upper, name, "user.overlay.origin", value, sizeof(value));
	if (n <= 0)
		return 0;
	c->origin = arena_copy(s->arena, value, (size_t)n);
	c->origin_len = (size_t)n;
	return c->origin != NULL ? 0 : ENOMEM;
}

/* ------------------------------------------------------------ the change -- */

static int
report(struct scan *s, const char *path, const char *name,
	const struct stat *upper, const struct stat *base,
	const struct change *what)
{
	struct change *c = scan_add(s, path,
		upper == NULL          ? 'D'
			: base == NULL ? 'A'
				       : 'M');
	char op;

	if (c == NULL)
		return ENOMEM;
	op = c->op;
	*c = *what;
	c->path = path;
	c->op = op;
	c->refused = refusal(s, path, name, upper, base);
	c->conflict = conflict(s, c, base);
	if (base != NULL) {
		c->device = (uint64_t)base->st_dev;
		c->inode = (uint64_t)base->st_ino;
		c->ctime_ns = own_ns(&base->st_ctim);
		c->mtime_ns = own_ns(&base->st_mtim);
		if (S_ISREG(base->st_mode) && base->st_nlink > 1)
			c->note = "a hard link: its other names keep the old "
				  "content";
	}
	if (base == NULL && s->copied != NULL && copy_list_has(s->copied, path))
		c->conflict = "its original is gone";
	return base == NULL ? note_origin(s, c, name) : 0;
}

/* The directories that follow from this path. */
static int
descend(struct scan *s, const char *path, const char *name,
	const struct stat *upper, const struct stat *base)
{
	bool up = upper != NULL && S_ISDIR(upper->st_mode);
	bool down = base != NULL && S_ISDIR(base->st_mode);
	struct scan_dir dir = { .path = path,
		.upper = up,
		.base = down,
		.refused = s->dir->refused };
	char value = '\0';

	if (!up && !down)
		return 0;
	if (up && down && s->copied == NULL)
		dir.opaque = scan_attribute(s->upper, name,
				     "user.overlay.opaque", &value, 1) == 1 &&
			value == 'y';
	return scan_push(s, &dir);
}

static bool
attributes_differ(struct scan *s, const char *name, const struct side *now,
	const struct side *was)
{
	int left = now->fd, right = was->fd;
	bool differ;

	if (now->of.kind != was->of.kind)
		return false;
	if (now->of.kind == CHANGE_FILE)
		return left >= 0 && right >= 0 && !attrs_same(left, right);
	if (now->of.kind != CHANGE_DIRECTORY)
		return false;
	left = at_read(s->upper, name, O_RDONLY | O_DIRECTORY);
	right = openat(s->base, name, AT_DIRECTORY);
	differ = left >= 0 && right >= 0 && !attrs_same(left, right);
	fd_close(&left);
	fd_close(&right);
	return differ;
}

/* Was it not touched since the folder was copied? */
static bool
is_untouched(const struct scan *s, const char *path, const struct stat *upper)
{
	return s->copied != NULL && upper != NULL &&
		own_ns(&upper->st_ctim) < copy_list_stamp(s->copied) &&
		copy_list_is(s->copied, path, (uint64_t)upper->st_ino);
}

int
scan_compare(struct scan *s, const char *path, const char *name,
	const struct stat *upper, const struct stat *base)
{
	struct change c = { 0 };
	struct side now, was;
	int number;

	if (is_untouched(s, path, upper) && !S_ISDIR(upper->st_mode))
		return 0;
	number = read_side(s->upper, name, upper, true, &now);
	was = (struct side){ .fd = -1 };
	if (number == 0)
		number = read_side(s->base, name, base, false, &was);
	if (number == 0) {
		c.now = now.of;
		c.was = was.of;
		c.content = c.now.kind != c.was.kind ||
			c.now.size != c.was.size ||
			!c.now.hashed != !c.was.hashed ||
			memcmp(c.now.digest, c.was.digest, DIGEST_BYTES) != 0;
		c.attributes = base == NULL
			? now.fd >= 0 && attrs_has(now.fd)
			: attributes_differ(s, name, &now, &was);
		if (c.content || c.attributes || c.now.mode != c.was.mode)
			number = report(s, path, name, upper, base, &c);
	}
	fd_close(&now.fd);
	fd_close(&was.fd);
	return number == 0 ? descend(s, path, name, upper, base) : number;
}
