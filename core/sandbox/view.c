/* SPDX-License-Identifier: MIT */
#include "sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/loader.h"

/* By number: glibc has had wrappers only since 2.36. */
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#define UMOUNT_DETACH 2 /* MNT_DETACH, umount2(2) */

#define READ_ONLY (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)
#define WRITABLE (MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC)
#define DEVICE (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC)

const char *const view_library_trees[] = { "/usr/lib", "/usr/lib32",
	"/usr/lib64", "/usr/libx32", "/usr/share", "/usr/include",
	"/usr/local/lib", "/usr/local/lib64", "/usr/local/share",
	"/usr/local/include", "/lib", "/lib32", "/lib64", "/libx32", NULL };

const char *const view_program_trees[] = { "/usr", "/bin", "/sbin", "/lib",
	"/lib32", "/lib64", "/libx32", NULL };

/* What programs need to find libraries, certificates, zones, terminals. */
const char *const view_etc_entries[] = { "/etc/ld.so.cache", "/etc/ld.so.conf",
	"/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime",
	"/etc/timezone", "/etc/mime.types", "/etc/magic", "/etc/terminfo",
	"/etc/os-release", "/etc/protocols", "/etc/services", "/etc/ssl/certs",
	"/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs",
	"/etc/pki/ca-trust/extracted", "/etc/crypto-policies", "/etc/fonts",
	NULL };

const char *const view_etc_network[] = { "/etc/resolv.conf", "/etc/hosts",
	"/etc/gai.conf", "/etc/host.conf", NULL };

const char *const view_devices[] = { "/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", NULL };

bool
step_fail(struct step *s, const char *name, ...)
{
	va_list args;

	s->number = errno;
	va_start(args, name);
	vsnprintf(s->name, sizeof(s->name), name, args);
	va_end(args);
	return false;
}

/* ------------------------------------------------------------- paths */

bool
view_is_below(const char *path, const char *directory)
{
	size_t n = directory != NULL ? strlen(directory) : 0;

	if (n == 0)
		return false; /* a host without a site */
	if (n == 1 && directory[0] == '/')
		return path[0] == '/';
	return strncmp(path, directory, n) == 0 &&
		(path[n] == '\0' || path[n] == '/');
}

/* Takes "./", doubled and last slashes off; ".." is for the caller. */
static bool
clean(char *path)
{
	char *in = path, *out = path, *start;
	size_t n;

	while (*in != '\0') {
		in += strspn(in, "/");
		n = strcspn(in, "/");
		start = in;
		in += n;
		if (n == 0 || (n == 1 && start[0] == '.'))
			continue;
		if (n == 2 && start[0] == '.' && start[1] == '.')
			return false;
		*out++ = '/';
		memmove(out, start, n);
		out += n;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
	return true;
}

bool
view_outside(const char *path, const char *root, char *out, size_t cap,
	bool *optional)
{
	size_t len = strlen(path);
	int n;

	*optional = len > 1 && path[len - 1] == '?';
	len -= *optional;
	if (path[0] != '/' && (root == NULL || root[0] == '\0'))
		return false;
	/* A slash in front for clean(), which begins each part with one. */
	n = path[0] == '/'
		? snprintf(out, cap, "%.*s", (int)len, path)
		: snprintf(out, cap, "%s/%.*s", root, (int)len, path);
	return n > 0 && (size_t)n < cap && clean(out);
}

bool
view_inside(const char *path, const char *root, const char *site, char *out,
	size_t cap, bool *optional)
{
	char whole[PATH_MAX];
	const char *rest = whole;
	int n;

	if (!view_outside(path, root, whole, sizeof(whole), optional))
		return false;
	if (!view_is_below(whole, root))
		site = "";
	else
		rest += strlen(root);
	n = snprintf(out, cap, "%s%s", site, rest);
	return n > 0 && (size_t)n < cap;
}

/* ------------------------------------------------------ mounting, bare */

static int
open_root_path(int root, const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/*
 * A detached copy of what lies at a path of the old root, with its mounts; it
 * was never attached with more rights than attr leaves.  -1 and errno.
 */
static int
copy_tree(int dir, const char *path, uint64_t attr)
{
	struct mount_attr set = { .attr_set = attr };
	int fd = (int)syscall(SYS_open_tree, dir, path,
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE |
			(path[0] == '\0' ? AT_EMPTY_PATH : 0));

	if (fd >= 0 &&
		syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH | AT_RECURSIVE,
			&set, sizeof(set)) < 0)
		fd_close(&fd);
	return fd;
}

static bool
attach(int tree, int target)
{
	return syscall(SYS_move_mount, tree, "", target, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
}

struct option {
	const char *key, *value;
};

/* A new filesystem, detached; options end with an empty one. */
static int
new_mount(const char *type, const struct option *options, uint64_t attr)
{
	int fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs < 0)
		return -1;
	for (; options->key != NULL; options++)
		if (syscall(SYS_fsconfig, fs, FSCONFIG_SET_STRING, options->key,
			    options->value, 0) < 0)
			goto out;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, attr);
out:
	fd_close(&fs);
	return fd;
}

/* --------------------------------------------------------- the skeleton */

/* Makes every directory above the last part of an absolute path. */
static bool
make_parents(int root, const char *path)
{
	char part[PATH_MAX];
	const char *slash = path;
	int fd;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		fd = open_root_path(root, part, O_PATH);
		if (fd < 0 && mkdirat(root, part + 1, 0755) < 0)
			return false;
		fd_close(&fd);
	}
	return true;
}

/* A new file of the new root, with what is above it.  -1 and errno. */
static int
make_file(int root, const char *path)
{
	struct open_how how = { .flags =
					O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		.mode = 0444,
		.resolve = RESOLVE_IN_ROOT };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));

	if (fd < 0 && errno == ENOENT && make_parents(root, path))
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd;
}

/* A place of the new root to mount on, made if it is not there. */
static int
mount_point(int root, const char *path, bool directory)
{
	int fd = directory ? -1 : make_file(root, path);

	if (fd >= 0)
		return fd;
	fd = open_root_path(root, path, O_PATH);
	if (fd >= 0 || !directory || !make_parents(root, path) ||
		mkdirat(root, path + 1, 0755) < 0)
		return fd;
	return open_root_path(root, path, O_PATH);
}

/* Mounts a detached tree at an absolute path of the new root. */
static bool
place(int root, int tree, const char *path)
{
	struct stat st;
	int target;
	bool done;

	if (fstat(tree, &st) < 0)
		return false;
	target = mount_point(root, path, S_ISDIR(st.st_mode));
	if (target < 0)
		return false;
	done = attach(tree, target);
	fd_close(&target);
	return done;
}

/* From an outside path to one inside; `optional` may be missing outside. */
static bool
bind_tree(int root, const char *from, const char *to, uint64_t attr,
	bool optional, struct step *s)
{
	int tree = copy_tree(AT_FDCWD, from, attr);
	bool done;

	if (tree < 0 && optional &&
		(errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return true;
	done = tree >= 0 && place(root, tree, to);
	if (!done)
		step_fail(s, "bind %s at %s", from, to);
	fd_close(&tree);
	return done;
}

static bool
bind(int root, const char *from, const char *to, uint64_t attr, struct step *s)
{
	return bind_tree(root, from, to, attr, false, s);
}

/*
 * The same for something that this machine need not have: what cannot be seen
 * is left out.  A link into /usr stays a link.
 */
static bool
bind_if_there(int root, const char *path, uint64_t attr, struct step *s)
{
	char link[PATH_MAX];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	if (n > 0) {
		link[n] = '\0';
		if (strncmp(link, "usr/", 4) == 0 ||
			strncmp(link, "/usr/", 5) == 0 ||
			strncmp(link, "../usr/", 7) == 0)
			return (make_parents(root, path) &&
				       symlinkat(link, root, path + 1) == 0) ||
				step_fail(s, "link %s", path);
	}
	return bind_tree(root, path, path, attr, true, s);
}

static bool
bind_all(int root, const char *const *paths, uint64_t attr, struct step *s)
{
	for (; *paths != NULL; paths++)
		if (!bind_if_there(root, *paths, attr, s))
			return false;
	return true;
}

static bool
write_file(int root, const char *path, const char *text, struct step *s)
{
	int fd = make_file(root, path), error;

	if (fd < 0)
		return step_fail(s, "make %s", path);
	error = fd_write_all(fd, text, strlen(text));
	fd_close(&fd);
	errno = error;
	return error == 0 || step_fail(s, "write %s", path);
}

/* ------------------------------------------------------- its furniture */

/*
 * Where no Landlock keeps /dev/zero from being written it is left out: a
 * shared mapping of it is memory that no limit counts.
 */
static bool
add_devices(int root, const struct view_plan *p, struct step *s)
{
	for (size_t i = 0; view_devices[i] != NULL; i++)
		if ((p->writes || strcmp(view_devices[i], "/dev/zero") != 0) &&
			!bind_if_there(root, view_devices[i], DEVICE, s))
			return false;
	return true;
}

static bool
add_system(int root, const struct view_plan *p, struct step *s)
{
	static const char *const trees[] = { "/usr", "/bin", "/sbin", "/lib",
		"/lib32", "/lib64", "/libx32", NULL };

	return bind_all(root, trees, READ_ONLY, s) && add_devices(root, p, s);
}

/* Two accounts, names from files only, and what is public of the rest. */
static bool
add_etc(int root, const struct view_plan *p, unsigned keeps, struct step *s)
{
	char text[512];

	snprintf(text, sizeof(text),
		"root:x:0:0:root:/:/usr/sbin/nologin\n"
		"%s:x:%u:%u:tool:/tmp:/bin/sh\n",
		p->account, p->uid, p->gid);
	if (!write_file(root, "/etc/passwd", text, s))
		return false;
	snprintf(text, sizeof(text), "root:x:0:\n%s:x:%u:\n", p->account,
		p->gid);
	if (!write_file(root, "/etc/group", text, s))
		return false;
	if (!write_file(root, "/etc/nsswitch.conf",
		    keeps & KEEP_NETWORK
			    ? "passwd: files\ngroup: files\nhosts: files dns\n"
			    : "passwd: files\ngroup: files\nhosts: files\n",
		    s))
		return false;
	if (!(keeps & KEEP_NETWORK) &&
		!write_file(root, "/etc/hosts",
			"127.0.0.1 localhost\n::1 localhost\n", s))
		return false;
	return bind_all(root, view_etc_entries, READ_ONLY, s) &&
		(!(keeps & KEEP_NETWORK) ||
			bind_all(root, view_etc_network, READ_ONLY, s));
}

static bool
add_scratch(int root, const struct view_plan *p, struct step *s)
{
	char size[24], inodes[24], uid[16], gid[16];
	const struct option options[] = { { "mode", "0700" }, { "size", size },
		{ "nr_inodes", inodes }, { "uid", uid }, { "gid", gid },
		{ NULL, NULL } };
	int fd;
	bool done;

	snprintf(size, sizeof(size), "%llu",
		(unsigned long long)p->scratch_bytes);
	/* One is the root's own. */
	snprintf(inodes, sizeof(inodes), "%llu",
		(unsigned long long)p->scratch_files + 1);
	snprintf(uid, sizeof(uid), "%u", p->uid);
	snprintf(gid, sizeof(gid), "%u", p->gid);
	fd = new_mount("tmpfs", options, WRITABLE);
	done = fd >= 0 && place(root, fd, VIEW_SCRATCH);
	if (!done)
		step_fail(s, "mount the scratch");
	fd_close(&fd);
	return done;
}

/*
 * A /proc of this pid namespace with nothing but the tool's own processes.
 * Containers that mask parts of theirs refuse it: then there is none.
 */
static void
add_proc(int root, unsigned *keeps)
{
	static const struct option options[] = { { "subset", "pid" },
		{ "hidepid", "invisible" }, { NULL, NULL } };
	int fd = new_mount("proc", options,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	if (fd < 0 || !place(root, fd, "/proc"))
		*keeps &= ~(unsigned)KEEP_PROC;
	fd_close(&fd);
}

struct masking {
	int root, site;
	struct step *step;
};

/* Covers one dot entry of the site's root with nothing. */
static bool
mask(void *ctx, const char *name)
{
	const struct masking *m = ctx;
	struct stat st;
	int target = -1, tree = -1;
	bool done = false;

	if (fstatat(m->site, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ||
			step_fail(m->step, "look at %s", name);
	/* A link shows what is reachable anyway, or a dot entry of here. */
	if (S_ISLNK(st.st_mode))
		return true;
	target = openat(m->site, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = copy_tree(m->root,
		S_ISDIR(st.st_mode) ? "mask/dir" : "mask/file",
		READ_ONLY | MOUNT_ATTR_NOEXEC);
	if (target >= 0 && tree >= 0)
		done = attach(tree, target);
	if (!done)
		step_fail(m->step, "mask %s", name);
	fd_close(&tree);
	fd_close(&target);
	return done;
}

static bool
mask_dots(int root, struct dotfiles *dotfiles, struct step *s)
{
	int site = open_root_path(root, VIEW_SITE, O_RDONLY | O_DIRECTORY);
	struct masking m = { root, site, s };
	int seen;

	if (site < 0)
		return step_fail(s, "read the site");
	if (mkdirat(root, "mask", 0755) < 0 ||
		mkdirat(root, "mask/dir", 0000) < 0 ||
		mknodat(root, "mask/file", S_IFREG | 0000, 0) < 0) {
		fd_close(&site);
		return step_fail(s, "make the masks");
	}
	seen = dotfiles_each(dotfiles_keep(dotfiles, site) ? dotfiles : NULL,
		site, mask, &m);
	if (seen < 0)
		step_fail(s, "list the site");
	fd_close(&site);
	return seen == 1;
}

static bool
add_site(int root, const struct view_plan *p, struct step *s)
{
	if (p->root[0] == '\0') {
		if (mkdirat(root, &VIEW_SITE[1], 0555) < 0)
			return step_fail(s, "make " VIEW_SITE);
	} else if (!bind(root, p->root, VIEW_SITE, READ_ONLY, s) ||
		!mask_dots(root, p->dotfiles, s)) {
		return false;
	}
	return p->libexec == NULL ||
		bind(root, p->libexec, VIEW_LIBEXEC, READ_ONLY, s);
}

/* ---------------------------------------------------------- the grants */

struct bound {
	char *from, *to;
	uint64_t attr;
};

struct bound_list {
	struct bound *items;
	size_t count;
	const struct path_list *writable;
};

/*
 * What lies in a place that tools may write is there with it.  By a mount of
 * its own it would be looked up by name, and they may have put a link there.
 */
static bool
is_in_writable(
	const struct bound_list *list, const char *path, const char *root)
{
	char upper[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < list->writable->count; i++)
		if (view_outside(list->writable->items[i], root, upper,
			    sizeof(upper), &optional) &&
			view_is_below(path, upper) && strcmp(path, upper) != 0)
			return true;
	return false;
}

static bool
bound_add(struct bound_list *list, const struct path_list *paths,
	const char *root, uint64_t attr)
{
	char from[PATH_MAX], to[PATH_MAX];
	struct bound *b;
	bool optional;

	for (size_t i = 0; i < paths->count; i++) {
		if (!view_outside(paths->items[i], root, from, sizeof(from),
			    &optional) ||
			!view_inside(paths->items[i], root, VIEW_SITE, to,
				sizeof(to), &optional) ||
			is_in_writable(list, from, root))
			continue;
		b = &list->items[list->count++];
		*b = (struct bound){ strdup(from), strdup(to), attr };
		if (b->from == NULL || b->to == NULL)
			return false;
	}
	return true;
}

/* Upper directories first; of the same one the writable mount last. */
static int
bound_order(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;
	size_t n = strlen(x->to), m = strlen(y->to);

	if (n != m)
		return n < m ? -1 : 1;
	return (x->attr == WRITABLE) - (y->attr == WRITABLE);
}

/*
 * A grant within the site is looked up beneath it: the author's links cannot
 * lead the operator's grant elsewhere.
 */
static int
copy_grant(const struct bound *b, const char *site)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	const char *rest = b->from + strlen(site);
	int root, fd, tree;

	if (!view_is_below(b->from, site))
		return copy_tree(AT_FDCWD, b->from, b->attr);
	root = open(site, O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = root < 0
		? -1
		: (int)syscall(SYS_openat2, root,
			  rest[0] == '/' ? rest + 1 : ".", &how, sizeof(how));
	tree = fd < 0 ? -1 : copy_tree(fd, "", b->attr);
	fd_close(&fd);
	fd_close(&root);
	return tree;
}

/*
 * What is not there (any more), or cannot be seen, is left out here:
 * ruleset_make names it to the page that needs it.
 */
static bool
bind_grants(int root, struct bound_list *list, const char *site, struct step *s)
{
	const struct bound *b;
	bool done = true;
	int tree;

	qsort(list->items, list->count, sizeof(*list->items), bound_order);
	for (size_t i = 0; i < list->count && done; i++) {
		b = &list->items[i];
		tree = copy_grant(b, site);
		if (tree < 0 &&
			(errno == ENOENT || errno == EACCES || errno == EXDEV ||
				errno == ELOOP))
			continue;
		done = (tree >= 0 && place(root, tree, b->to)) ||
			step_fail(s, "bind %s at %s", b->from, b->to);
		fd_close(&tree);
	}
	return done;
}

/* Programs that are named by a path; bare names are looked up, not mounted. */
static bool
bound_add_programs(struct bound_list *list, const struct path_list *paths,
	const char *root)
{
	struct path_list one;

	for (size_t i = 0; i < paths->count; i++) {
		one = (struct path_list){ &paths->items[i], 1 };
		if (strchr(paths->items[i], '/') != NULL &&
			!bound_add(list, &one, root, READ_ONLY))
			return false;
	}
	return true;
}

static bool
add_grants(int root, const struct view_plan *p, unsigned keeps, struct step *s)
{
	static const struct path_list none = { NULL, 0 };
	const struct grant *g = p->grant;
	struct bound_list list = { NULL, 0, &none };
	bool done;

	if (g == NULL)
		return true;
	if (p->writes)
		list.writable = &g->write;
	list.items = calloc(g->read.count + g->write.count + g->exec.count +
			g->unix_sockets.count + 1,
		sizeof(*list.items));
	if (list.items == NULL)
		return step_fail(s, "list the grants");
	done = (bound_add(&list, &g->read, p->root, READ_ONLY) &&
		       bound_add_programs(&list, &g->exec, p->root) &&
		       bound_add(&list, list.writable, p->root, WRITABLE) &&
		       bound_add(&list,
			       keeps & KEEP_UNIX ? &g->unix_sockets : &none,
			       p->root, READ_ONLY)) ||
		step_fail(s, "list the grants");
	done = done && bind_grants(root, &list, p->root, s);
	for (size_t i = 0; i < list.count; i++) {
		free(list.items[i].from);
		free(list.items[i].to);
	}
	free(list.items);
	return done;
}

/* --------------------------------------------------------- the loaders */

/* Those of loader_paths that this view has covered, by their place there. */
static uint64_t covered;

/*
 * The copy is a file of the root's own, where nothing else may be executed.
 * It has no name of its own afterwards.
 */
static bool
cover(int root, int from, int target, bool *needless)
{
	struct mount_attr runs = { .attr_clr = MOUNT_ATTR_NOEXEC };
	int to = openat(
		root, "loader", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0555);
	int error = to < 0 ? errno : loader_copy(from, to);
	int tree = -1;

	fd_close(&to);
	*needless = error == ENOEXEC;
	if (error == 0 &&
		((tree = copy_tree(root, "loader", READ_ONLY)) < 0 ||
			syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH,
				&runs, sizeof(runs)) < 0 ||
			!attach(tree, target)))
		error = errno;
	fd_close(&tree);
	unlinkat(root, "loader", 0);
	errno = error;
	return error == 0;
}

/* True also when there is no such loader, or none that needs a cover. */
static bool
cover_one(int root, size_t i)
{
	int from = open(loader_paths[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	int target =
		from < 0 ? -1 : open_root_path(root, loader_paths[i], O_PATH);
	bool needless = target < 0 && (errno == ENOENT || errno == ENOTDIR);
	bool done = target >= 0 && cover(root, from, target, &needless);

	if (done)
		covered |= (uint64_t)1 << i;
	fd_close(&target);
	fd_close(&from);
	return done || needless;
}

/* Last, since a grant may show /usr/lib once more. */
static bool
cover_loaders(int root, struct step *s)
{
	covered = 0;
	for (size_t i = 0; loader_paths[i] != NULL; i++)
		if (!cover_one(root, i))
			return step_fail(s, "cover %s", loader_paths[i]);
	return true;
}

bool
view_loaders_hold(void)
{
	struct stat root, st;

	if (covered == 0)
		return true;
	if (stat("/", &root) < 0)
		return false;
	for (size_t i = 0; loader_paths[i] != NULL; i++)
		if ((covered >> i & 1) != 0 &&
			(stat(loader_paths[i], &st) < 0 ||
				st.st_dev != root.st_dev))
			return false;
	return true;
}

/* -------------------------------------------------------------- entering */

/*
 * The new root lies on top of "/": a process's own "/" stays the old one
 * until it pivots, so that every outside path can still be copied from.
 */
static int
new_root(struct step *s)
{
	static const struct option options[] = { { "mode", "0755" },
		{ "size", "8m" }, { "nr_inodes", "4096" }, { NULL, NULL } };
	int root;

	if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) <
		0) {
		step_fail(s, "make the mounts private");
		return -1;
	}
	root = new_mount("tmpfs", options,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	if (root < 0) {
		step_fail(s, "make a root");
		return -1;
	}
	if (syscall(SYS_move_mount, root, "", AT_FDCWD, "/",
		    MOVE_MOUNT_F_EMPTY_PATH) < 0) {
		step_fail(s, "mount a root");
		fd_close(&root);
	}
	return root;
}

/* pivot_root(2), "pivot_root(".", ".")". */
static bool
pivot(int root, struct step *s)
{
	struct mount_attr set = { .attr_set = READ_ONLY | MOUNT_ATTR_NOEXEC };

	unlinkat(root, "mask/file", 0);
	unlinkat(root, "mask/dir", AT_REMOVEDIR);
	unlinkat(root, "mask", AT_REMOVEDIR);
	if (syscall(SYS_mount_setattr, root, "", AT_EMPTY_PATH, &set,
		    sizeof(set)) < 0)
		return step_fail(s, "make the root read-only");
	if (fchdir(root) < 0 || syscall(SYS_pivot_root, ".", ".") < 0)
		return step_fail(s, "pivot_root");
	if (syscall(SYS_umount2, ".", UMOUNT_DETACH) < 0 || chdir("/") < 0)
		return step_fail(s, "leave the old root");
	return true;
}

/*
 * A /proc of this pid namespace that lies nowhere, for usage.h.  Before the
 * pivot: without one in sight the kernel gives none (mount_too_revealing).
 */
static int own_proc = -1;

static void
make_own_proc(void)
{
	static const struct option options[] = { { "subset", "pid" },
		{ NULL, NULL } };

	fd_close(&own_proc);
	own_proc = new_mount("proc", options,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

int
view_take_proc(void)
{
	int fd = own_proc;

	own_proc = -1;
	return fd;
}

/* A detached copy of the view; -1: not needed. */
static int copy = -1;

static bool
copy_view(struct step *s)
{
	fd_close(&copy);
	copy = (int)syscall(SYS_open_tree, AT_FDCWD, "/",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
	return copy >= 0 || step_fail(s, "copy the view");
}

/* The copy lives as long as its descriptor, which stays open. */
bool
view_hide_mounts(struct step *s)
{
	return copy < 0 || (fchdir(copy) == 0 && chroot(".") == 0) ||
		step_fail(s, "enter the copy of the view");
}

bool
view_enter(const struct view_plan *p, unsigned *keeps, struct step *s)
{
	mode_t before = umask(0);
	int root = new_root(s);
	bool done = false;

	if (root < 0)
		goto out;
	if (*keeps & KEEP_PROC)
		add_proc(root, keeps);
	if (p->watches)
		make_own_proc();
	done = add_system(root, p, s) && add_etc(root, p, *keeps, s) &&
		add_site(root, p, s) && add_grants(root, p, *keeps, s) &&
		cover_loaders(root, s) && add_scratch(root, p, s) &&
		pivot(root, s) && (!(*keeps & KEEP_PROC) || copy_view(s));
out:
	fd_close(&root);
	umask(before);
	return done;
}
