/* SPDX-License-Identifier: MIT */
/*
 * Two ways to one answer.  The fast one asks openat2(2) for a path without any
 * symbolic link.  Where there is one (ELOOP), or where the kernel or a filter
 * has no openat2, the slow one walks: each component is opened in the directory
 * held so far with O_NOFOLLOW, links are read and put into the path as text,
 * and ".." takes the last name off and starts again at the root, so that a
 * directory that was moved meanwhile leads nowhere.
 */
#include "files/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/file_id.h"

#define PATH_CAP sizeof(((struct ss_document *)0)->path)
#define LINKS_MAX 40 /* as in path_resolution(7) */
/* Directories opened in one walk: a target "a/../a/../..." costs no more. */
#define STEPS_MAX 8192

#define OPEN_DIR (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* What a path led to; descriptors are -1 while there are none. */
struct found {
	int fd;
	int dir; /* where fd was opened; only when wanted */
	bool want_dir;
	bool linked;
	bool hidden; /* a link on the way names a dot entry */
	char real[PATH_CAP];
};

static void
found_close(struct found *f)
{
	fd_close(&f->fd);
	fd_close(&f->dir);
}

/* Copies with a NUL; false when it does not fit. */
static bool
copy_text(char *to, size_t cap, const char *from, size_t len)
{
	if (len >= cap)
		return false;
	memcpy(to, from, len);
	to[len] = '\0';
	return true;
}

/* ---------------------------------------------------------- by openat2 */

static int
open_beneath(int at, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS |
			RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, at, path, &how, sizeof(how));
}

static const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The directory that holds path, or a copy of the root for a bare name. */
static int
open_parent(const struct root *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	char parent[PATH_CAP];

	if (slash == NULL)
		return fcntl(r->fd, F_DUPFD_CLOEXEC, 3);
	if (!copy_text(parent, sizeof(parent), path, (size_t)(slash - path))) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return open_beneath(r->fd, parent, OPEN_DIR);
}

/* 0 or errno. */
static int
find_fast(const struct root *r, const char *path, int flags, struct found *f)
{
	int at = r->fd;

	if (!copy_text(f->real, sizeof(f->real), path, strlen(path)))
		return ENAMETOOLONG;
	if (f->want_dir) {
		if (f->dir < 0)
			f->dir = open_parent(r, path);
		if (f->dir < 0)
			return errno;
		at = f->dir;
		path = path_name(path);
	}
	f->fd = open_beneath(at, path, flags);
	return f->fd < 0 ? errno : 0;
}

/* -------------------------------------------------------------- the walk */

struct walk {
	const struct root *root;
	int dir; /* directory `real` names; -1: to be opened again */
	unsigned links, steps;
	bool linked, hidden;
	char name[256];      /* the current component */
	char todo[PATH_CAP]; /* what is left */
	char real[PATH_CAP]; /* where dir lies below the root */
};

/* The next component of *at, of *len bytes; false at the end. */
static bool
next_component(const char **at, size_t *len)
{
	*at += strspn(*at, "/");
	*len = strcspn(*at, "/");
	return *len > 0;
}

bool
root_hides(const char *path)
{
	size_t len;

	for (; next_component(&path, &len); path += len)
		if (path[0] == '.' && len > 1 && !(len == 2 && path[1] == '.'))
			return true;
	return false;
}

/* Steps down into a name of len bytes, never through a link.  0 or errno. */
static int
walk_into(struct walk *w, const char *name, size_t len)
{
	char one[sizeof(w->name)];
	int below;

	if (++w->steps > STEPS_MAX)
		return ELOOP;
	if (!copy_text(one, sizeof(one), name, len))
		return ENAMETOOLONG;
	below = openat(w->dir, one, OPEN_DIR | O_NOFOLLOW);
	if (below < 0)
		return errno;
	fd_close(&w->dir);
	w->dir = below;
	return 0;
}

/* Opens the directory `real` again, from the root down.  0 or errno. */
static int
walk_restart(struct walk *w)
{
	const char *at = w->real;
	size_t len;
	int e;

	if (w->dir >= 0)
		return 0;
	w->dir = fcntl(w->root->fd, F_DUPFD_CLOEXEC, 3);
	if (w->dir < 0)
		return errno;
	for (; next_component(&at, &len); at += len)
		if ((e = walk_into(w, at, len)) != 0)
			return e;
	return 0;
}

static int
walk_up(struct walk *w)
{
	char *slash = strrchr(w->real, '/');

	if (w->real[0] == '\0')
		return EXDEV;
	*(slash != NULL ? slash : w->real) = '\0';
	fd_close(&w->dir);
	return 0;
}

/* Adds the current component to `real`.  0 or errno. */
static int
walk_note(struct walk *w)
{
	size_t at = strlen(w->real), len = strlen(w->name);

	if (at + 1 + len >= sizeof(w->real))
		return ENAMETOOLONG;
	if (at > 0)
		w->real[at++] = '/';
	memcpy(w->real + at, w->name, len + 1);
	return 0;
}

/*
 * The current component could not be opened for `why`: if it is a link, its
 * target goes before what is left.  0 or errno.
 */
static int
walk_link(struct walk *w, int why)
{
	char target[PATH_CAP];
	ssize_t n = readlinkat(w->dir, w->name, target, sizeof(target) - 1);
	size_t left = strlen(w->todo) + 1;

	if (n < 0)
		return errno == EINVAL ? why : errno;
	target[n] = '\0';
	if (target[0] == '/')
		return EXDEV;
	if (++w->links > LINKS_MAX)
		return ELOOP;
	w->hidden = root_hides(target);
	if (w->hidden)
		return ENOENT;
	if ((size_t)n + 1 + left > sizeof(w->todo))
		return ENAMETOOLONG;
	memmove(w->todo + n + 1, w->todo, left);
	memcpy(w->todo, target, (size_t)n);
	w->todo[n] = '/';
	w->linked = true;
	return 0;
}

/*
 * With O_PATH and O_NOFOLLOW openat(2) opens a link itself, where other modes
 * fail with ELOOP: that is wanted only when the caller passed O_NOFOLLOW too.
 */
static int
open_last(int dir, const char *name, int flags)
{
	int fd = openat(dir, name, flags | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || !(flags & O_PATH) || (flags & O_NOFOLLOW))
		return fd;
	if (fstat(fd, &st) == 0 && !S_ISLNK(st.st_mode))
		return fd;
	close(fd);
	errno = ELOOP;
	return -1;
}

/* Opens the last component with the flags that the caller wants. */
static int
walk_last(struct walk *w, int flags, int *fd)
{
	*fd = open_last(w->dir, w->name, flags);
	if (*fd >= 0)
		return strcmp(w->name, ".") == 0 ? 0 : walk_note(w);
	if (errno == ELOOP || errno == ENOTDIR)
		return walk_link(w, errno);
	return errno;
}

/* One step down, into a directory or through a link.  0 or errno. */
static int
walk_down(struct walk *w)
{
	int e = walk_into(w, w->name, strlen(w->name));

	if (e == ENOTDIR || e == ELOOP)
		return w->steps > STEPS_MAX ? ELOOP : walk_link(w, e);
	return e != 0 ? e : walk_note(w);
}

/*
 * Makes the next component the current one.  At the end it is ".": a path that
 * ends with ".." opens the directory that it led to.
 */
static int
walk_take(struct walk *w, bool *last)
{
	const char *at = w->todo;
	size_t len;

	if (!next_component(&at, &len)) {
		*last = true;
		memcpy(w->name, ".", 2);
		return 0;
	}
	if (!copy_text(w->name, sizeof(w->name), at, len))
		return ENAMETOOLONG;
	at += len;
	at += strspn(at, "/");
	*last = *at == '\0' && strcmp(w->name, ".") != 0;
	memmove(w->todo, at, strlen(at) + 1);
	return 0;
}

/* 0 with *fd still -1 while there is more to walk; else errno. */
static int
walk_step(struct walk *w, int flags, int *fd)
{
	bool last;
	int e = walk_take(w, &last);

	if (e != 0)
		return e;
	if (strcmp(w->name, "..") == 0)
		return walk_up(w);
	if (!last && strcmp(w->name, ".") == 0)
		return 0;
	e = walk_restart(w);
	if (e != 0)
		return e;
	return last ? walk_last(w, flags, fd) : walk_down(w);
}

/* Without an initialiser: zeroing the paths would cost more than the walk. */
static void
walk_begin(struct walk *w, const struct root *r)
{
	w->root = r;
	w->dir = -1;
	w->links = w->steps = 0;
	w->linked = w->hidden = false;
	w->name[0] = w->todo[0] = w->real[0] = '\0';
}

/* 0 or errno. */
static int
find_walk(const struct root *r, const char *path, int flags, struct found *f)
{
	struct walk w;
	int e;

	walk_begin(&w, r);
	e = copy_text(w.todo, sizeof(w.todo), path, strlen(path))
		? 0
		: ENAMETOOLONG;
	while (e == 0 && f->fd < 0)
		e = walk_step(&w, flags, &f->fd);
	if (e == 0 && f->want_dir) {
		f->dir = w.dir;
		w.dir = -1;
	}
	fd_close(&w.dir);
	f->linked = w.linked;
	f->hidden = w.hidden;
	memcpy(f->real, w.real, strlen(w.real) + 1);
	return e;
}

/* -------------------------------------------------------------- both ways */

/*
 * openat2 answers EPERM under some seccomp filters and ELOOP for a symbolic
 * link; after these, and ENOSYS, the path is walked.  0 or errno.
 */
static int
find_any(const struct root *r, const char *path, int flags, struct found *f)
{
	int e = ELOOP;

	f->fd = -1;
	f->linked = f->hidden = false;
	flags |= O_CLOEXEC; /* openat2 refuses most others with O_PATH */
	if (!(flags & O_PATH))
		flags |= O_NONBLOCK | O_NOCTTY;
	if (path[0] == '\0')
		path = ".";
	if (!r->walk)
		e = find_fast(r, path, flags, f);
	if (e != ELOOP && e != ENOSYS && e != EPERM)
		return e;
	found_close(f);
	return find_walk(r, path, flags, f);
}

/* One sentence for all of them, so that a client learns nothing of files. */
static enum ss_err
refuse_path(struct ss_error *err, int number, const char *path)
{
	enum ss_err code = SS_NOT_FOUND;

	switch (number) {
	case EXDEV:
		code = error_set(
			err, SS_PATH_REFUSED, "the path leaves the site");
		break;
	case ENOENT:
	case ENOTDIR:
	case EISDIR:
	case ENAMETOOLONG:
	case EACCES:
	case EPERM:
	case ELOOP:
	case ENXIO:
	case ENODEV:
	case EAGAIN: /* a process holds a lease, fcntl(2) */
		error_set(err, code, "no such page or file");
		break;
	default: return error_internal(err, number, "opening \"%s\"", path);
	}
	if (err != NULL)
		err->sys_errno = number;
	error_detail(err, "\"%s\"", path);
	return code;
}

static void
fill_document(struct ss_document *doc, const char *path, struct found *f,
	const struct stat *st)
{
	struct file_id id = file_id_of_stat(st);

	doc->size = sizeof(*doc);
	memcpy(doc->path, path, strlen(path) + 1);
	memcpy(doc->real, f->real, strlen(f->real) + 1);
	doc->linked = f->linked;
	doc->fd = f->fd;
	doc->dir_fd = f->dir;
	doc->data = NULL;
	doc->handle = NULL;
	doc->length = id.length;
	doc->device = id.device;
	doc->inode = id.inode;
	doc->mtime_ns = id.mtime_ns;
	doc->ctime_ns = id.ctime_ns;
	f->fd = f->dir = -1;
}

/*
 * Opens one candidate for reading.  0; EISDIR for a directory, also for one
 * that may be entered but not listed; ENXIO for a device or pipe; errno.
 */
static int
open_file(const struct root *r, const char *path, struct found *f,
	struct stat *st)
{
	int e = find_any(r, path, O_RDONLY, f);

	if (e == EACCES) {
		found_close(f);
		e = find_any(r, path, O_PATH | O_DIRECTORY, f);
		return e == 0 ? EISDIR : EACCES;
	}
	if (e != 0)
		return e;
	if (fstat(f->fd, st) != 0)
		return errno;
	if (S_ISDIR(st->st_mode))
		return EISDIR;
	return S_ISREG(st->st_mode) ? 0 : ENXIO;
}

/*
 * The same for path with `more` appended, written to name.  For "path.md" the
 * directory that was opened for path is used again.
 */
static int
open_longer(const struct root *r, const char *path, const char *more,
	char name[static PATH_CAP], struct found *f, struct stat *st)
{
	size_t len = strlen(path), add = strlen(more);

	if (len + add >= PATH_CAP)
		return ENAMETOOLONG;
	memcpy(name, path, len);
	memcpy(name + len, more, add + 1);
	fd_close(&f->fd);
	if (more[0] != '.')
		fd_close(&f->dir);
	return open_file(r, name, f, st);
}

enum ss_err
root_resolve(const struct root *r, const char *path, enum root_want want,
	struct ss_document *doc, struct ss_error *err)
{
	struct found f = {
		.fd = -1, .dir = -1, .want_dir = want == ROOT_FILE_AND_DIR
	};
	char name[PATH_CAP];
	struct stat st;
	int e = EISDIR;

	doc->fd = doc->dir_fd = -1;
	if (!copy_text(name, sizeof(name), path, strlen(path)))
		return refuse_path(err, ENAMETOOLONG, path);
	if (path[0] != '\0')
		e = open_file(r, path, &f, &st);
	if (e == EISDIR)
		e = open_longer(r, path, path[0] ? "/README.md" : "README.md",
			name, &f, &st);
	else if (e == ENOENT)
		e = open_longer(r, path, ".md", name, &f, &st);
	if (e == ENOENT && path[0] == '\0')
		e = open_longer(r, path, "API.md", name, &f, &st);
	if (e == 0)
		fill_document(doc, name, &f, &st);
	found_close(&f);
	return e == 0 ? SS_OK : refuse_path(err, e, name);
}

int
root_find(const struct root *r, const char *path, int flags, int *fd)
{
	struct found f = { .fd = -1, .dir = -1 };
	int e = find_any(r, path, flags, &f);

	*fd = e == 0 ? f.fd : -1;
	return e;
}

bool
root_leads_hidden(const struct root *r, const char *path)
{
	struct found f = { .fd = -1, .dir = -1 };

	find_any(r, path, O_PATH, &f);
	found_close(&f);
	return f.hidden;
}

enum ss_err
root_open_at(const struct root *r, const char *path, int flags, int *fd,
	struct ss_error *err)
{
	int e = root_find(r, path, flags, fd);

	return e == 0 ? SS_OK : refuse_path(err, e, path);
}

static enum ss_err
root_take(struct root *r, int fd, const char *path, struct ss_error *err)
{
	struct stat st;
	int e = 0, probe;

	*r = ROOT_INIT;
	r->fd = fd;
	if (r->fd < 0 || fstat(r->fd, &st) != 0 ||
		faccessat(r->fd, ".", R_OK | X_OK, AT_EACCESS) != 0) {
		e = errno;
		root_close(r);
		return error_set(err, SS_CONFIG,
			"the site \"%s\" cannot be served: %s", path,
			strerrordesc_np(e));
	}
	r->device = (uint64_t)st.st_dev;
	r->inode = (uint64_t)st.st_ino;
	probe = open_beneath(r->fd, ".", OPEN_DIR);
	r->walk = probe < 0 && (errno == ENOSYS || errno == EPERM);
	fd_close(&probe);
	return SS_OK;
}

enum ss_err
root_open(struct root *r, const char *path, struct ss_error *err)
{
	return root_take(r, open(path, OPEN_DIR), path, err);
}

enum ss_err
root_reopen(struct root *r, int fd, const char *name, struct ss_error *err)
{
	return root_take(r, openat(fd, ".", OPEN_DIR), name, err);
}

void
root_close(struct root *r)
{
	fd_close(&r->fd);
}

void
root_close_document(struct ss_document *doc)
{
	fd_close(&doc->fd);
	fd_close(&doc->dir_fd);
}
