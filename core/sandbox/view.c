/* SPDX-License-Identifier: MIT */
#include "sandbox/view.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/mount.h"
#include "sandbox/overlay.h"
#include "sandbox/view_grants.h"
#include "sandbox/view_loaders.h"

#define UMOUNT_DETACH 2 /* MNT_DETACH, umount2(2) */

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

/* Mounts an outside path at the same path inside, if this machine has it. */
static bool
bind_tree(int root, const char *path, uint64_t attr, struct step *s)
{
	int tree = mount_copy(AT_FDCWD, path, attr);
	bool done;

	if (tree < 0 &&
		(errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return true;
	done = (tree >= 0 && mount_place(root, tree, path)) ||
		step_fail(s, "bind %s", path);
	fd_close(&tree);
	return done;
}

/*
 * The root of one of several sites.  Its path had no links when the sites were
 * compared (sites_check.h): with one it may lead to another site.
 */
static bool
bind_root(int root, const char *from, const char *to, struct step *s)
{
	int fd = fd_open_straight(from);
	int tree = fd < 0 ? -1 : mount_copy(fd, "", MOUNT_READ_ONLY);
	bool done = tree >= 0 && mount_place_new(root, tree, to, true);

	if (!done)
		step_fail(s, "bind %s at %s", from, to);
	fd_close(&tree);
	fd_close(&fd);
	return done;
}

/* A directory at a place that is not there yet. */
static bool
bind_directory(int root, const char *from, const char *to, struct step *s)
{
	int tree = mount_copy(AT_FDCWD, from, MOUNT_READ_ONLY);
	bool done = (tree >= 0 && mount_place_new(root, tree, to, true)) ||
		step_fail(s, "bind %s at %s", from, to);

	fd_close(&tree);
	return done;
}

/* Into /usr: such a symbolic link stays a link. */
static bool
leads_into_usr(const char *link)
{
	return strncmp(link, "usr/", 4) == 0 ||
		strncmp(link, "/usr/", 5) == 0 ||
		strncmp(link, "../usr/", 7) == 0;
}

/* A link that leads elsewhere is followed. */
static bool
bind_link(int root, const char *path, uint64_t attr, struct step *s)
{
	char link[PATH_MAX];
	ssize_t n = readlink(path, link, sizeof(link) - 1);

	link[n > 0 ? n : 0] = '\0';
	if (!leads_into_usr(link))
		return bind_tree(root, path, attr, s);
	return symlinkat(link, root, path + 1) == 0 ||
		(errno == ENOENT && mount_make_parents(root, path) &&
			symlinkat(link, root, path + 1) == 0) ||
		step_fail(s, "link %s", path);
}

/*
 * Mounts a path of the lists below at the same path inside, if this machine has
 * it.  Nothing in the lists lies below another path of them.
 */
static bool
bind_if_there(int root, const char *path, uint64_t attr, struct step *s)
{
	struct stat st;
	int tree;
	bool done;

	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
			step_fail(s, "stat %s", path);
	if (S_ISLNK(st.st_mode))
		return bind_link(root, path, attr, s);
	tree = mount_copy(AT_FDCWD, path, attr);
	if (tree < 0)
		return errno == ENOENT || errno == ENOTDIR || errno == EACCES ||
			step_fail(s, "copy %s", path);
	done = mount_place_new(root, tree, path, S_ISDIR(st.st_mode)) ||
		step_fail(s, "bind %s", path);
	fd_close(&tree);
	return done;
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
	int fd = mount_make_file(root, path), error;

	if (fd < 0)
		return step_fail(s, "make %s", path);
	error = fd_write_all(fd, text, strlen(text));
	fd_close(&fd);
	errno = error;
	return error == 0 || step_fail(s, "write %s", path);
}

/* --------------------------------------------- what every view holds */

/*
 * Without Landlock /dev/zero could be opened for writing, and a shared mapping
 * of it is memory that no limit counts: then it is left out.
 */
static bool
add_devices(int root, const struct view_plan *p, struct step *s)
{
	for (size_t i = 0; view_devices[i] != NULL; i++)
		if ((p->writes || strcmp(view_devices[i], "/dev/zero") != 0) &&
			!bind_if_there(root, view_devices[i], MOUNT_DEVICE, s))
			return false;
	return true;
}

static bool
add_system(int root, const struct view_plan *p, struct step *s)
{
	return bind_all(root, view_program_trees, MOUNT_READ_ONLY, s) &&
		add_devices(root, p, s);
}

/* Two accounts, names from files only, and the public files of the host. */
static bool
add_etc(int root, const struct view_plan *p, unsigned keeps, struct step *s)
{
	char text[512];

	snprintf(text, sizeof(text),
		"root:x:0:0:root:/:/usr/sbin/nologin\n"
		"%s:x:%u:%u:tool:/tmp:/bin/sh\n",
		p->account->name, p->account->uid, p->account->gid);
	if (!write_file(root, "/etc/passwd", text, s))
		return false;
	snprintf(text, sizeof(text), "root:x:0:\n%s:x:%u:\n", p->account->name,
		p->account->gid);
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
	return bind_all(root, view_etc_entries, MOUNT_READ_ONLY, s) &&
		(!(keeps & KEEP_NETWORK) ||
			bind_all(root, view_etc_network, MOUNT_READ_ONLY, s));
}

static bool
add_scratch(int root, const struct view_plan *p, struct step *s)
{
	char size[24], inodes[24], uid[16], gid[16];
	const struct mount_option options[] = { { "mode", "0700" },
		{ "size", size }, { "nr_inodes", inodes }, { "uid", uid },
		{ "gid", gid }, { NULL, NULL } };
	int fd;
	bool done;

	snprintf(size, sizeof(size), "%llu",
		(unsigned long long)p->scratch_bytes);
	/* One inode is the root directory's. */
	snprintf(inodes, sizeof(inodes), "%llu",
		(unsigned long long)p->scratch_files + 1);
	snprintf(uid, sizeof(uid), "%u", p->account->uid);
	snprintf(gid, sizeof(gid), "%u", p->account->gid);
	fd = mount_new("tmpfs", options, MOUNT_WRITABLE);
	done = fd >= 0 && mount_place_new(root, fd, VIEW_SCRATCH, true);
	if (!done)
		step_fail(s, "mount the scratch");
	fd_close(&fd);
	return done;
}

/*
 * A /proc of this pid namespace that shows a tool only its own processes,
 * proc(5) hidepid.  In a container with masked parts of /proc the kernel
 * refuses the mount: then there is none.
 */
static void
add_proc(int root, unsigned *keeps)
{
	static const struct mount_option options[] = { { "subset", "pid" },
		{ "hidepid", "invisible" }, { NULL, NULL } };
	int fd = mount_new("proc", options,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);

	if (fd < 0 || !mount_place_new(root, fd, "/proc", true))
		*keeps &= ~(unsigned)KEEP_PROC;
	fd_close(&fd);
}

static bool
make_masks(int root)
{
	return mkdirat(root, "mask", 0755) == 0 &&
		mkdirat(root, "mask/dir", 0000) == 0 &&
		mknodat(root, "mask/file", S_IFREG | 0000, 0) == 0;
}

/* Empty, and without rights; made for the first that needs one. */
static int
copy_mask(int root, bool directory)
{
	const char *path = directory ? "mask/dir" : "mask/file";
	const uint64_t attr = MOUNT_READ_ONLY | MOUNT_ATTR_NOEXEC;
	int tree = mount_copy(root, path, attr);

	if (tree < 0 && errno == ENOENT && make_masks(root))
		tree = mount_copy(root, path, attr);
	return tree;
}

struct masked_site {
	int root, site;
	struct step *step;
};

/* Covers one dot entry of the site's root by an empty file or directory. */
static bool
mask_entry(void *ctx, const char *name)
{
	const struct masked_site *m = ctx;
	struct stat st;
	int target = -1, tree = -1;
	bool done = false;

	if (fstatat(m->site, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || step_fail(m->step, "stat %s", name);
	/* A link leads to what is reachable anyway, or to another dot entry. */
	if (S_ISLNK(st.st_mode))
		return true;
	target = openat(m->site, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = copy_mask(m->root, S_ISDIR(st.st_mode));
	if (target >= 0 && tree >= 0)
		done = mount_attach(tree, target);
	if (!done)
		step_fail(m->step, "mask %s", name);
	fd_close(&tree);
	fd_close(&target);
	return done;
}

static bool
mask_dots(int root, const char *at, struct dotfiles *dotfiles, struct step *s)
{
	int site = mount_open_in(root, at, O_RDONLY | O_DIRECTORY);
	struct masked_site m = { root, site, s };
	int seen;

	if (site < 0)
		return step_fail(s, "read the site");
	seen = dotfiles_each(dotfiles != NULL && dotfiles_keep(dotfiles, site)
			? dotfiles
			: NULL,
		site, mask_entry, &m);
	if (seen < 0)
		step_fail(s, "list the site");
	fd_close(&site);
	return seen == 1;
}

/* A site whose dot entries cannot be masked is covered whole. */
static bool
cover_site(int root, const char *at, struct step *s)
{
	int tree = copy_mask(root, true);
	bool done = (tree >= 0 && mount_place(root, tree, at)) ||
		step_fail(s, "cover a site");

	fd_close(&tree);
	return done;
}

/*
 * A site that is not there, or that cannot be read, is left out or covered, so
 * that it does not take the others with it.  VIEW_SITES itself cannot be
 * listed, also by its owner: the names in it are not to be learned.
 */
static bool
add_sites(int root, const struct view_plan *p, struct step *s)
{
	struct step one = { .name = "" };

	if (p->site_count > 0 && mkdirat(root, &VIEW_SITES[1], 0111) < 0)
		return step_fail(s, "make " VIEW_SITES);
	for (size_t i = 0; i < p->site_count; i++) {
		const struct view_site *v = &p->sites[i];

		if (bind_root(root, v->root, v->at, &one) &&
			!mask_dots(root, v->at, NULL, &one) &&
			!cover_site(root, v->at, s))
			return false;
	}
	return true;
}

static bool
add_site(int root, const struct view_plan *p, struct step *s)
{
	if (p->root[0] == '\0') {
		if (mkdirat(root, &VIEW_SITE[1], 0555) < 0)
			return step_fail(s, "make " VIEW_SITE);
	} else if (!(p->site_count > 0 ? bind_root(root, p->root, VIEW_SITE, s)
				       : bind_directory(root, p->root,
						 VIEW_SITE, s)) ||
		!mask_dots(root, VIEW_SITE, p->dotfiles, s)) {
		return false;
	}
	return p->libexec == NULL ||
		bind_directory(root, p->libexec, VIEW_LIBEXEC, s);
}

/* -------------------------------------------------------------- entering */

/*
 * Mounts the new root on top of "/".  The root of this process stays the old
 * one until pivot_root(2), so that outside paths can still be copied.
 * MS_PRIVATE: no mount propagates to the host, mount_namespaces(7).
 */
static int
new_root(size_t site_count, struct step *s)
{
	char inodes[24];
	const struct mount_option options[] = { { "mode", "0755" },
		{ "size", "8m" }, { "nr_inodes", inodes }, { NULL, NULL } };
	int root;

	snprintf(inodes, sizeof(inodes), "%zu", 4096 + site_count);

	if (syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) <
		0) {
		step_fail(s, "make the mounts private");
		return -1;
	}
	root = mount_new("tmpfs", options,
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

/*
 * pivot_root(2), NOTES: with "." twice the old root ends up on top of the new
 * one, and is detached from there.
 */
static bool
pivot_to(int root, struct step *s)
{
	struct mount_attr set = { .attr_set =
					  MOUNT_READ_ONLY | MOUNT_ATTR_NOEXEC };

	if (unlinkat(root, "mask/file", 0) == 0) {
		unlinkat(root, "mask/dir", AT_REMOVEDIR);
		unlinkat(root, "mask", AT_REMOVEDIR);
	}
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
 * A /proc of this pid namespace that is mounted nowhere, for usage.h.  Made
 * before the pivot: a user namespace may mount proc only while its mount
 * namespace shows a whole one (mount_too_revealing in fs/namespace.c).
 */
static int own_proc = -1;

static void
make_own_proc(void)
{
	static const struct mount_option options[] = { { "subset", "pid" },
		{ NULL, NULL } };

	fd_close(&own_proc);
	own_proc = mount_new("proc", options,
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

/* The mount exists as long as its descriptor, which stays open. */
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
	int root = new_root(p->site_count, s);
	bool done = false;

	if (root < 0)
		goto out;
	if (*keeps & KEEP_PROC)
		add_proc(root, keeps);
	if (p->watches)
		make_own_proc();
	done = add_system(root, p, s) && add_etc(root, p, *keeps, s) &&
		add_site(root, p, s) && add_sites(root, p, s) &&
		(p->store == NULL || overlay_add_layers(root, p, s)) &&
		view_grants_bind(root, p, *keeps, s) &&
		view_loaders_cover(root, s) && add_scratch(root, p, s) &&
		pivot_to(root, s) && (!(*keeps & KEEP_PROC) || copy_view(s));
out:
	fd_close(&root);
	umask(before);
	return done;
}
