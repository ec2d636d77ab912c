/* SPDX-License-Identifier: MIT */
/*
 * A policy as a Landlock ruleset.  Libraries and data are readable.  Of the
 * program directories only files of the exec set get READ and EXECUTE: the
 * loader runs every program that it can read (`ld.so /bin/sh`), so READ on all
 * of them would undo the set.  In a view the loaders are covered by copies that
 * run nothing (loader.h); without a view programs among the libraries can be
 * run in this way.
 */
#include "sandbox/ruleset.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/root.h"
#include "sandbox/grant_path.h"
#include "sandbox/landlock.h"
#include "sandbox/other_sites.h"
#include "sandbox/sandbox.h"
#include "sandbox/view.h"
#include "sandbox/view_loaders.h"

#define DEPTH_MAX 128 /* directories from the site's root to a page */
#define RECENT 4      /* directories whose dot entries are remembered */

/* The file of a rule; a directory also has its time of change. */
struct ruleset_mark {
	const char *path;
	bool directory;
	dev_t device;
	ino_t inode;
	struct timespec changed;
};

struct building {
	struct arena *arena;
	const struct policy *policy;
	const struct sandbox *self;
	struct ruleset *out;
	size_t mark_cap;
	struct step step;
};

/* ------------------------------------------------------------- marks */

static bool
stat_is(const struct ruleset_mark *m)
{
	const char *path = m->path;
	int at = sandbox_at(&path);
	struct stat st;

	return fstatat(at, path, &st, 0) == 0 && st.st_dev == m->device &&
		st.st_ino == m->inode &&
		(!m->directory ||
			(st.st_ctim.tv_sec == m->changed.tv_sec &&
				st.st_ctim.tv_nsec == m->changed.tv_nsec));
}

bool
ruleset_is_fresh(const struct ruleset *r)
{
	for (size_t i = 0; i < r->mark_count; i++)
		if (!stat_is(&r->marks[i]))
			return false;
	return true;
}

void
ruleset_release(struct ruleset *r)
{
	fd_close(&r->fd);
	r->marks = NULL;
	r->mark_count = 0;
}

/* build_ruleset has allocated enough for all of them. */
static bool
add_mark(struct building *b, const char *path, int fd)
{
	struct ruleset_mark *m;
	struct stat st;
	const char *kept = arena_copy(b->arena, path, strlen(path));

	if (kept == NULL || b->out->mark_count == b->mark_cap) {
		errno = ENOMEM;
		return step_fail(&b->step, "remember %s", path);
	}
	if (fstat(fd, &st) < 0)
		return step_fail(&b->step, "stat %s", path);
	m = &b->out->marks[b->out->mark_count++];
	*m = (struct ruleset_mark){ kept, S_ISDIR(st.st_mode), st.st_dev,
		st.st_ino, st.st_ctim };
	/*
	 * Another change may have the same time (dotfiles.h): no time that the
	 * directory can have, so that the mark is never fresh.
	 */
	if (m->directory && !dotfiles_are_settled(&st))
		m->changed.tv_nsec = -1;
	return true;
}

/* ------------------------------------------------------------- rules */

static bool
allow_fd(struct building *b, int fd, const char *path, unsigned rights)
{
	errno = landlock_allow_fd(
		b->out->fd, b->self->landlock_abi, fd, rights);
	return errno == 0 || step_fail(&b->step, "allow %s", path);
}

/* The part of path below a directory that it is in; "" for the same. */
static const char *
path_below(const char *path, const char *directory)
{
	path += strlen(directory);
	return path + strspn(path, "/");
}

static int
open_place(const char *path, int flags)
{
	int at = sandbox_at(&path);

	return openat(at, path, O_PATH | O_CLOEXEC | flags);
}

static bool
is_of_other_site(const char *path, int fd)
{
	const struct other_sites others = other_sites_of_self();

	return other_sites_have(&others, path, fd);
}

static bool
allow_path(struct building *b, const char *path, unsigned rights)
{
	int fd = open_place(path, 0);
	bool done = fd >= 0 ? allow_fd(b, fd, path, rights)
			    : step_fail(&b->step, "open %s", path);

	fd_close(&fd);
	return done;
}

/* Passes over those that this machine does not have. */
static bool
allow_those_there(struct building *b, const char *const *paths, unsigned rights)
{
	for (; *paths != NULL; paths++)
		if (!allow_path(b, *paths, rights) &&
			b->step.number != ENOENT && b->step.number != EACCES)
			return false;
	return true;
}

/*
 * A shared mapping of /dev/zero is memory that no limit counts, when the
 * device is open for writing (mmap_zero in drivers/char/mem.c).
 */
static bool
allow_devices(struct building *b)
{
	const char *one[2] = { NULL, NULL };
	bool done = true;

	for (size_t i = 0; view_devices[i] != NULL && done; i++) {
		one[0] = view_devices[i];
		done = allow_those_there(b, one,
			strcmp(one[0], "/dev/zero") == 0 ? LAND_READ
							 : LAND_DEVICE);
	}
	return done;
}

static bool
allow_list(struct building *b, const struct path_list *list, unsigned rights)
{
	for (size_t i = 0; i < list->count; i++)
		if (!allow_path(b, list->items[i], rights))
			return false;
	return true;
}

/*
 * Opens path beneath the grant `under`, and a grant within the site beneath the
 * site.  Links are followed only while they stay beneath it.
 */
static int
open_beneath(const struct building *b, const char *under, const char *path)
{
	const char *site = b->self->site;
	bool within = grant_path_is_below(under, site);
	struct root top = ROOT_INIT;
	int granted = -1, fd = -1;

	top.fd = open_place(within ? site : under, 0);
	if (top.fd < 0)
		return -1;
	if (!within && is_of_other_site(under, top.fd)) {
		root_close(&top);
		errno = EXDEV;
		return -1;
	}
	if (within)
		root_open_at(
			&top, path_below(under, site), O_PATH, &granted, NULL);
	else
		granted = fcntl(top.fd, F_DUPFD_CLOEXEC, 3);
	root_close(&top);
	top.fd = granted;
	if (granted >= 0 && strcmp(path, under) == 0)
		return granted;
	if (granted >= 0)
		root_open_at(&top, path_below(path, under), O_PATH, &fd, NULL);
	root_close(&top);
	errno = ENOENT;
	return fd;
}

/* Paths that the page asks for and the operator grants. */
static bool
allow_granted(struct building *b, const struct path_list *list,
	const struct path_list *under, unsigned rights)
{
	bool done = list->count == under->count;

	for (size_t i = 0; i < list->count && done; i++) {
		int fd = open_beneath(b, under->items[i], list->items[i]);

		done = fd >= 0 ? allow_fd(b, fd, list->items[i], rights)
			       : step_fail(&b->step, "open %s beneath %s",
					 list->items[i], under->items[i]);
		fd_close(&fd);
	}
	return done;
}

static bool view_stale;

bool
ruleset_view_is_stale(void)
{
	return view_stale;
}

static bool
loaders_hold(struct building *b)
{
	view_stale = b->self->level == SANDBOX_STRICT && !view_loaders_hold();
	errno = ESTALE;
	return !view_stale || step_fail(&b->step, "find the loader covered");
}

/*
 * Naming a file as a program must not make it readable: a file that is not
 * executable gets no rule.  Nor does a directory, unless it holds programs or
 * this process has a view, which contains only granted ones.
 */
static bool
is_program(const struct building *b, int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		return S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0;
	if (grant_path_is_below(path, b->self->site) ||
		strstr(path, "//") != NULL || strstr(path, "/.") != NULL)
		return false;
	for (const char *const *tree = view_program_trees; *tree != NULL;
		tree++)
		if (grant_path_is_below(path, *tree))
			return true;
	return b->self->level == SANDBOX_STRICT;
}

static bool
allow_programs(struct building *b)
{
	const struct path_list *exec = &b->policy->exec;
	int fd;
	bool done = true;

	if (b->policy->exec_any)
		return allow_those_there(b, view_program_trees,
			       LAND_READ | LAND_EXECUTE) &&
			(b->self->libexec[0] == '\0' ||
				allow_path(b, b->self->libexec,
					LAND_READ | LAND_EXECUTE));
	if (!loaders_hold(b) ||
		!allow_those_there(b, view_library_trees, LAND_READ))
		return false;
	for (size_t i = 0; i < exec->count && done; i++) {
		fd = open_place(exec->items[i], 0);
		if (fd < 0)
			continue; /* its execve(2) will fail */
		done = add_mark(b, exec->items[i], fd) &&
			(!is_program(b, fd, exec->items[i]) ||
				is_of_other_site(exec->items[i], fd) ||
				allow_fd(b, fd, exec->items[i],
					LAND_READ | LAND_EXECUTE));
		fd_close(&fd);
	}
	return done;
}

/* Every file in the /etc of a view may be read. */
static bool
allow_etc(struct building *b)
{
	static const char *const names[] = { "/etc/nsswitch.conf", NULL };

	if (b->self->level == SANDBOX_STRICT)
		return allow_path(b, "/etc", LAND_READ);
	return allow_those_there(b, view_etc_entries, LAND_READ) &&
		allow_those_there(b, names, LAND_READ) &&
		(!(b->policy->keeps & KEEP_NETWORK) ||
			allow_those_there(b, view_etc_network, LAND_READ));
}

/* On the merged tree: rules for the lower one do not count there. */
static bool
allow_workspace(struct building *b, unsigned run)
{
	struct root top = ROOT_INIT;
	int fd = -1;
	bool done;

	/* Without a view no mount masks dot entries: allow_site leaves them. */
	if (b->policy->workspace == NULL || b->self->level != SANDBOX_STRICT)
		return true;
	top.fd = open_place(b->self->site, O_DIRECTORY);
	if (top.fd >= 0)
		root_open_at(&top, b->policy->workspace, O_PATH | O_DIRECTORY,
			&fd, NULL);
	root_close(&top);
	done = fd >= 0 ? allow_fd(b, fd, "the workspace", LAND_WRITE | run)
		       : step_fail(&b->step, "open the workspace");
	fd_close(&fd);
	return done;
}

static bool
allow_grants(struct building *b)
{
	const struct policy *p = b->policy;
	unsigned run = p->exec_any ? LAND_READ | LAND_EXECUTE : LAND_READ;

	return allow_granted(b, &p->read, &p->read_under, run) &&
		allow_granted(b, &p->write, &p->write_under, LAND_WRITE) &&
		allow_workspace(b, run) &&
		(p->unix_sockets.count == 0 ||
			allow_list(b, &p->unix_sockets, LAND_CONNECT)) &&
		(!(p->keeps & KEEP_PROC) || allow_path(b, "/proc", LAND_READ));
}

/* -------------------------------------------------------------- the site */

struct looking {
	const struct building *building;
	int dir;
};

/* Did view_enter cover it by a file of the view's own root? */
static bool
is_masked(void *ctx, const char *name)
{
	const struct looking *l = ctx;
	struct stat entry, root;

	return l->building->self->level == SANDBOX_STRICT &&
		fstatat(l->dir, name, &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
		stat("/", &root) == 0 && entry.st_dev == root.st_dev;
}

static int
open_list(int dir)
{
	return openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Of the site's root, or of a recent directory; NULL: none is known. */
static const struct dotfiles *
known_dots(const struct building *b, int dir)
{
	static struct dotfiles recent[RECENT];
	static unsigned next;
	struct dotfiles *d = &recent[next];

	if (b->self->dotfiles != NULL && dotfiles_hold(b->self->dotfiles, dir))
		return b->self->dotfiles;
	for (size_t i = 0; i < RECENT; i++)
		if (dotfiles_hold(&recent[i], dir))
			return &recent[i];
	next = (next + 1) % RECENT;
	return dotfiles_keep(d, dir) ? d : NULL;
}

/* Has it dot entries that no mask covers?  -1: it cannot be listed. */
static int
has_open_dots(const struct building *b, int dir)
{
	struct looking l = { b, dir };
	int list = open_list(dir), all;

	if (list < 0)
		return -1;
	all = dotfiles_each(known_dots(b, list), list, is_masked, &l);
	fd_close(&list);
	return all < 0 ? -1 : !all;
}

/*
 * Landlock rules only add rights, so a directory with entries to hide is
 * granted entry by entry.  Links get no rule: what they lead to has its own.
 */
static bool
allow_entries(struct building *b, int dir, const char *except, unsigned rights)
{
	int opened = open_list(dir);
	DIR *list = opened < 0 ? NULL : fdopendir(opened);
	struct dirent *entry;
	bool done = list != NULL;
	int fd;

	while (done && (entry = readdir(list)) != NULL) {
		if (entry->d_name[0] == '.' || entry->d_type == DT_LNK ||
			(except != NULL && strcmp(entry->d_name, except) == 0))
			continue;
		fd = openat(
			dir, entry->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			continue; /* removed meanwhile */
		done = allow_fd(b, fd, entry->d_name, rights);
		fd_close(&fd);
	}
	if (list != NULL)
		closedir(list);
	else
		fd_close(&opened);
	return done || step_fail(&b->step, "list the page's directories");
}

/* The directories from the root down to the page's, open. */
struct way {
	int dirs[DEPTH_MAX];
	const char *names[DEPTH_MAX]; /* of the next one */
	size_t count;
	int deepest; /* the last one with dotfiles; -1: none */
};

/* Beneath the site, also when a link was put into the path meanwhile. */
static bool
way_open(struct building *b, struct way *w)
{
	char path[PATH_MAX];
	char *rest = arena_copy(
		b->arena, b->policy->page_dir, strlen(b->policy->page_dir));
	char *save, *part = rest == NULL ? NULL : strtok_r(rest, "/", &save);
	size_t len;
	int fd = open_place(b->self->site, O_DIRECTORY);
	const struct root top = { .fd = fd };

	snprintf(path, sizeof(path), "%s", b->self->site);
	for (; fd >= 0 && rest != NULL && w->count < DEPTH_MAX;
		part = strtok_r(NULL, "/", &save)) {
		w->dirs[w->count] = fd;
		w->names[w->count] = part;
		w->count++;
		if (!add_mark(b, path, fd))
			return false;
		if (has_open_dots(b, fd) != 0)
			w->deepest = (int)w->count - 1;
		if (part == NULL)
			return true;
		len = strlen(path);
		snprintf(path + len, sizeof(path) - len, "/%s", part);
		fd = -1;
		errno = ENOENT;
		root_open_at(&top, path_below(path, b->self->site),
			O_PATH | O_DIRECTORY, &fd, NULL);
	}
	fd_close(&fd);
	return step_fail(&b->step, "open the page's directory %s", path);
}

static bool
allow_site(struct building *b)
{
	unsigned rights =
		b->policy->exec_any ? LAND_READ | LAND_EXECUTE : LAND_READ;
	struct way w = { .deepest = -1 };
	bool done;
	int i;

	if (b->policy->workspace != NULL && b->self->level != SANDBOX_STRICT)
		rights |= LAND_WRITE; /* the site is the copy */

	if (b->self->site[0] == '\0')
		return true;
	done = way_open(b, &w);
	if (done && w.deepest >= 0)
		done = allow_fd(b, w.dirs[0], "the site", LAND_LIST);
	for (i = 0; done && i <= w.deepest; i++)
		done = allow_entries(b, w.dirs[i], w.names[i], rights);
	if (done && i < (int)w.count)
		done = allow_fd(b, w.dirs[i], "the site", rights);
	for (size_t k = 0; k < w.count; k++)
		fd_close(&w.dirs[k]);
	return done;
}

/* ------------------------------------------------------------- the whole */

static size_t
parts_of(const char *path)
{
	size_t count = path[0] != '\0';

	for (; *path != '\0'; path++)
		count += *path == '/';
	return count;
}

static bool
build_ruleset(struct building *b)
{
	b->mark_cap = b->policy->exec.count + 1 + parts_of(b->policy->page_dir);
	b->out->marks =
		arena_array(b->arena, b->mark_cap, sizeof(*b->out->marks));
	if (b->out->marks == NULL) {
		errno = ENOMEM;
		return step_fail(&b->step, "remember the files");
	}
	b->out->fd = landlock_new(
		b->self->landlock_abi, b->policy->keeps & KEEP_NETWORK);
	if (b->out->fd < 0)
		return step_fail(&b->step, "make a ruleset");
	if (!allow_programs(b) || !allow_etc(b) || !allow_devices(b))
		return false;
	/* The HTTP tool talks to the network: no rule lets it read the site. */
	return b->policy->http ||
		(allow_path(b, b->self->scratch, LAND_WRITE) && allow_site(b) &&
			allow_grants(b));
}

enum ss_err
ruleset_make(struct arena *arena, const struct policy *p, struct ruleset *out,
	struct ss_error *err)
{
	struct building b = {
		.arena = arena, .policy = p, .self = sandbox_self(), .out = out
	};

	*out = RULESET_INIT;
	/*
	 * A tool that needs what this process gave up runs in the launcher,
	 * which makes the ruleset itself.
	 */
	if (b.self->level < SANDBOX_LANDLOCK || b.self->landlock_abi < 3 ||
		(p->keeps & ~b.self->keeps) != 0)
		return SS_OK;
	if (build_ruleset(&b))
		return SS_OK;
	ruleset_release(out);
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"this tool's sandbox could not be built");
	error_detail(
		err, "landlock: %s: %s", b.step.name, strerror(b.step.number));
	return SS_SANDBOX_UNAVAILABLE;
}
