/* SPDX-License-Identifier: MIT */
#include "sandbox/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/dotfiles.h"
#include "sandbox/mount.h"
#include "sandbox/sandbox.h"
#include "sandbox/view_plan.h"

#define UMOUNT_DETACH 2            /* MNT_DETACH, umount2(2) */
#define UMOUNT_NO_LINK 8           /* UMOUNT_NOFOLLOW */
#define OVERLAYFS_MAGIC 0x794c7630 /* linux/magic.h */

bool overlay_uses_options;

/* ------------------------------------------------------ the layers' place */

static bool
bind_layer(int root, const char *from, unsigned number, struct step *s)
{
	char at[64];
	int fd = number == 0 ? open(from, O_PATH | O_DIRECTORY | O_CLOEXEC)
			     : fd_open_straight(from);
	int tree = fd < 0
		? -1
		: mount_copy(fd, "", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	bool done;

	snprintf(at, sizeof(at), VIEW_LAYERS "/%u", number);
	done = tree >= 0 && mount_place(root, tree, at);
	if (!done)
		step_fail(s, "bind %s for workspaces", from);
	fd_close(&tree);
	fd_close(&fd);
	return done;
}

/* The name must still lead to the directory that the parent opened. */
static bool
bind_store(int root, const struct view_plan *p, struct step *s)
{
	int tree = mount_copy(AT_FDCWD, p->store,
		MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	struct stat named, opened;
	bool done = tree >= 0 && fstat(tree, &named) == 0 &&
		fstat(p->store_fd, &opened) == 0;

	if (done &&
		(named.st_dev != opened.st_dev ||
			named.st_ino != opened.st_ino)) {
		errno = ESTALE;
		done = false;
	}
	done = (done &&
		       mount_place(
			       root, tree, VIEW_LAYERS "/" OVERLAY_STORE)) ||
		step_fail(s, "bind the state directory's workspaces");
	fd_close(&tree);
	return done;
}

/* A site of several that is not there does not take the others with it. */
bool
overlay_add_layers(int root, const struct view_plan *p, struct step *s)
{
	struct step one;

	if (mkdirat(root, &VIEW_LAYERS[1], 0755) < 0 ||
		mkdirat(root, &(VIEW_LAYERS "/dir")[1], 0000) < 0 ||
		mknodat(root, &(VIEW_LAYERS "/file")[1], S_IFREG | 0000, 0) < 0)
		return step_fail(s, "make " VIEW_LAYERS);
	if (p->root[0] != '\0' && !bind_layer(root, p->root, 0, s))
		return false;
	for (size_t i = 0; i < p->site_count; i++)
		bind_layer(root, p->sites[i].root, (unsigned)i + 1, &one);
	return bind_store(root, p, s);
}

int
overlay_take_layers(struct step *s)
{
	static const struct mount_option options[] = { { "mode", "0000" },
		{ "size", "4k" }, { "nr_inodes", "1" }, { NULL, NULL } };
	int layers = open(VIEW_LAYERS, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int cover = mount_new(
		"tmpfs", options, MOUNT_READ_ONLY | MOUNT_ATTR_NOEXEC);

	if (layers < 0 || cover < 0 || !mount_attach(cover, layers)) {
		step_fail(s, "cover " VIEW_LAYERS);
		fd_close(&layers);
	}
	fd_close(&cover);
	return layers;
}

/* ---------------------------------------------------------------- the mount */

/* A folder of the site whose layers, or place, dir has; no link is followed. */
static int
open_folder(int dir, const char *folder)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH };

	return (int)syscall(SYS_openat2, dir, folder[0] != '\0' ? folder : ".",
		&how, sizeof(how));
}

static int
open_lower(const char *folder)
{
	char number[16];
	int site, fd;

	snprintf(number, sizeof(number), "%u", sandbox_self()->number);
	site = openat(sandbox_self()->layers, number,
		O_PATH | O_DIRECTORY | O_CLOEXEC);
	fd = site < 0 ? -1 : open_folder(site, folder);
	fd_close(&site);
	return fd;
}

static int
open_place(const char *folder)
{
	int site = open(sandbox_self()->site, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd = site < 0 ? -1 : open_folder(site, folder);

	fd_close(&site);
	return fd;
}

static bool
set_option(int fs, unsigned kind, const char *key, const char *value, int fd)
{
	return syscall(SYS_fsconfig, fs, kind, key, value, fd) == 0;
}

/*
 * A volatile mount does not sync the session's whole disk when it ends, which
 * takes milliseconds; it leaves a mark that keeps the next one away.  After a
 * power cut a session may have lost what was written last; a commit is synced
 * by itself.
 */
static void
remove_volatile_mark(int work)
{
	static const char mark[] = "work/incompat/volatile";

	if (unlinkat(work, "work/incompat/volatile/dirty", 0) < 0 &&
		errno == ENOENT)
		return;
	unlinkat(work, mark, AT_REMOVEDIR);
	unlinkat(work, "work/incompat", AT_REMOVEDIR);
}

/* Linux 6.13 and newer take layers by descriptor. */
static int
mount_by_fd(const struct overlay *o, int lower)
{
	int fs = (int)syscall(SYS_fsopen, "overlay", FSOPEN_CLOEXEC);
	int fd = -1;

	if (fs >= 0 &&
		set_option(fs, FSCONFIG_SET_FLAG, "userxattr", NULL, 0) &&
		set_option(fs, FSCONFIG_SET_FLAG, "volatile", NULL, 0) &&
		set_option(fs, FSCONFIG_SET_STRING, "index", "off", 0) &&
		set_option(fs, FSCONFIG_SET_STRING, "xino", "off", 0) &&
		set_option(fs, FSCONFIG_SET_FD, "lowerdir+", NULL, lower) &&
		set_option(fs, FSCONFIG_SET_FD, "upperdir", NULL, o->upper) &&
		set_option(fs, FSCONFIG_SET_FD, "workdir", NULL, o->work) &&
		syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) ==
			0)
		fd = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC,
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	fd_close(&fs);
	return fd;
}

/* In the list of layers ":" and "," separate, and "\" escapes. */
static bool
put_escaped(char *out, size_t cap, size_t *len, const char *text)
{
	for (; *text != '\0'; text++) {
		if (*len + 2 >= cap)
			return false;
		if (strchr("\\:,", *text) != NULL)
			out[(*len)++] = '\\';
		out[(*len)++] = *text;
	}
	out[*len] = '\0';
	return true;
}

/*
 * mount(2) with option strings.  The layers have no path that starts at "/", so
 * the names are relative to their directory; only the folder's can hold
 * anything that must be escaped.
 */
static bool
mount_by_options(const struct overlay *o, int place)
{
	char options[4096], at[PATH_MAX];
	int n = snprintf(options, sizeof(options),
		"userxattr,volatile,index=off,xino=off,upperdir=" OVERLAY_STORE
		"/%s/upper,workdir=" OVERLAY_STORE "/%s/work,lowerdir=%u/",
		o->id, o->id, sandbox_self()->number);
	size_t len = (size_t)n;
	bool done;

	(void)place;
	n = snprintf(at, sizeof(at), "%s/%s", sandbox_self()->site, o->folder);
	errno = ENAMETOOLONG;
	if (n >= (int)sizeof(at) ||
		!put_escaped(options, sizeof(options), &len, o->folder) ||
		fchdir(sandbox_self()->layers) < 0)
		return false;
	done = syscall(SYS_mount, "overlay", at, "overlay",
		       MS_NOSUID | MS_NODEV, options) == 0;
	return chdir("/") == 0 && done;
}

static int
make_tree(const struct overlay *o, int lower)
{
	if (o->whole)
		return mount_copy(
			o->upper, "", MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	remove_volatile_mark(o->work);
	return overlay_uses_options ? -1 : mount_by_fd(o, lower);
}

static bool
mount_it(const struct overlay *o, struct step *s)
{
	int lower = open_lower(o->folder);
	int place = lower < 0 ? -1 : open_place(o->folder);
	int tree = place < 0 ? -1 : make_tree(o, lower);
	bool done = tree >= 0 && mount_attach(tree, place);

	if (place < 0)
		step_fail(s, "open the workspace's folder");
	else if (tree < 0 && !o->whole)
		done = mount_by_options(o, place);
	if (!done && place >= 0)
		step_fail(s, "mount the workspace");
	fd_close(&tree);
	fd_close(&place);
	fd_close(&lower);
	return done;
}

/* ----------------------------------------------------------------- the masks */

struct masking {
	int dir; /* of the merged tree */
	struct step *step;
};

/* As view.c masks those of the site's root. */
static bool
mask_entry(void *ctx, const char *name)
{
	const struct masking *m = ctx;
	int layers = sandbox_self()->layers, target, tree;
	struct stat st;
	bool done;

	if (fstatat(m->dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT || step_fail(m->step, "stat %s", name);
	if (S_ISLNK(st.st_mode))
		return true;
	target = openat(m->dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	tree = (int)syscall(SYS_open_tree, layers,
		S_ISDIR(st.st_mode) ? "dir" : "file",
		OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
	done = (target >= 0 && tree >= 0 && mount_attach(tree, target)) ||
		step_fail(m->step, "mask %s", name);
	fd_close(&tree);
	fd_close(&target);
	return done;
}

static bool
mask_dir(int top, const char *path, struct step *s)
{
	int dir = open_folder(top, path);
	int list = dir < 0
		? -1
		: openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct masking m = { dir, s };
	int all = list < 0 ? -1 : dotfiles_each(NULL, list, mask_entry, &m);

	if (all < 0)
		step_fail(s, "list %s", path);
	fd_close(&list);
	fd_close(&dir);
	return all == 1;
}

/* The page's directory as it lies below the folder; NULL: it does not. */
static const char *
below_folder(const char *page_dir, const char *folder)
{
	size_t n = strlen(folder);

	if (n == 0)
		return page_dir;
	if (strncmp(page_dir, folder, n) != 0)
		return NULL;
	return page_dir[n] == '/'     ? page_dir + n + 1
		: page_dir[n] == '\0' ? ""
				      : NULL;
}

/* A directory that the session removed has nothing to mask. */
static bool
mask_dots(const struct overlay *o, struct step *s)
{
	const char *way = below_folder(o->page_dir, o->folder), *slash;
	char path[PATH_MAX];
	int top = open_place(o->folder);
	bool done = top >= 0 && mask_dir(top, "", s);

	if (top < 0)
		return step_fail(s, "open the workspace");
	for (slash = way; done && slash != NULL && *slash != '\0';) {
		slash = strchr(slash, '/');
		snprintf(path, sizeof(path), "%.*s",
			slash != NULL ? (int)(slash - way) : PATH_MAX - 1, way);
		done = mask_dir(top, path, s) || s->number == ENOENT ||
			s->number == ENOTDIR;
		if (slash != NULL)
			slash++;
	}
	fd_close(&top);
	return done;
}

/* ------------------------------------------------------------------- the whole */

bool
overlay_is_possible(void)
{
	return sandbox_self()->layers >= 0;
}

/* What the kernel's EINVAL most often means. */
static void
explain_refusal(const struct overlay *o, struct step *s)
{
	struct statfs fs;

	if (fstatfs(o->upper, &fs) == 0 && fs.f_type == OVERLAYFS_MAGIC)
		snprintf(s->name, sizeof(s->name),
			"mount the workspace: the state directory lies on "
			"overlayfs");
}

bool
overlay_begin(const struct overlay *o, struct step *s)
{
	struct step failed;

	s->part = PART_VIEW;
	errno = ENOSYS;
	if (!overlay_is_possible())
		return step_fail(s, "mount a workspace at this level");
	if (!mount_it(o, s)) {
		explain_refusal(o, s);
		return false;
	}
	if (mask_dots(o, s))
		return true;
	failed = *s;
	overlay_end(o->folder);
	*s = failed;
	return false;
}

/* The masks lie on the overlay: the whole stack is detached. */
bool
overlay_end(const char *folder)
{
	char at[PATH_MAX];
	int n = snprintf(at, sizeof(at), "%s/%s", sandbox_self()->site, folder);

	return n < (int)sizeof(at) &&
		syscall(SYS_umount2, at, UMOUNT_DETACH | UMOUNT_NO_LINK) == 0;
}

uint64_t
overlay_capabilities(void)
{
	return 1ULL << CAP_SYS_ADMIN | 1ULL << CAP_DAC_OVERRIDE |
		1ULL << CAP_CHOWN | 1ULL << CAP_FOWNER | 1ULL << CAP_FSETID;
}

int
overlay_child_leave(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	return syscall(SYS_capset, &head, none) < 0 ? errno : 0;
}
