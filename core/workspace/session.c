/* SPDX-License-Identifier: MIT */
/*
 * Sessions: made, opened, locked, closed.  A session gets its id by rename(2)
 * when it is whole; what has another name below workspaces/ is being made or
 * removed, and list.c collects it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/copy.h"
#include "workspace/meta.h"
#include "workspace/own.h"

static const char *const backends[] = {
	[WORKSPACE_OVERLAY] = "overlay",
	[WORKSPACE_COPY] = "copy",
	[WORKSPACE_AGENTFS] = "agentfs",
};

const char *
workspace_backend_name(enum workspace_backend backend)
{
	return backends[backend];
}

bool
workspace_backend_of(const char *name, enum workspace_backend *out)
{
	for (size_t i = 0; i < ARRAY_LEN(backends); i++) {
		if (strcmp(backends[i], name) != 0)
			continue;
		*out = (enum workspace_backend)i;
		return true;
	}
	return false;
}

/* --------------------------------------------------------------- time -- */

int64_t
own_ns(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/*
 * A time that is later than the st_ctim of all that was changed before the call
 * and not later than that of what is changed after it.  The kernel's stamps come
 * from a clock that ticks, so this waits for a tick.
 */
int
own_stamp(int lock, bool waits, int64_t *out)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	struct stat first, now;

	if (futimens(lock, NULL) < 0 || fstat(lock, &first) < 0)
		return errno;
	*out = own_ns(&first.st_ctim) + 1;
	while (waits) {
		if (futimens(lock, NULL) < 0 || fstat(lock, &now) < 0)
			return errno;
		*out = own_ns(&now.st_ctim);
		if (*out > own_ns(&first.st_ctim))
			return 0;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* ------------------------------------------------------------- refusals -- */

enum ss_err
own_unknown(struct ss_error *err)
{
	error_set(err, SS_NOT_FOUND, "there is no such workspace session");
	error_hint(err,
		"it is unknown, expired or another page's: create a new one, "
		"with POST /__workspaces/ or `statespace workspace create`");
	return SS_NOT_FOUND;
}

/* ---------------------------------------------------------------- parts -- */

/* The session's own directories and its lock file.  0 or errno. */
int
own_open_parts(struct workspace *w)
{
	w->upper = openat(w->dir, "upper", AT_DIRECTORY);
	if (w->upper < 0)
		return errno;
	w->work = openat(w->dir, "work", AT_DIRECTORY);
	return w->work < 0 ? errno : 0;
}

static int
make_parts(struct workspace *w)
{
	struct stat st;
	int number;

	if (fstat(w->base, &st) < 0 || mkdirat(w->dir, "upper", 0700) < 0 ||
		mkdirat(w->dir, "work", 0700) < 0)
		return errno;
	number = own_open_parts(w);
	/* The merged root has the upper's mode. */
	if (number == 0 && fchmod(w->upper, st.st_mode & 07777) < 0)
		number = errno;
	return number;
}

static int
take_lock(struct workspace *w, int flags)
{
	w->lock = openat(
		w->dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
	if (w->lock < 0)
		return errno;
	if (flock(w->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	flags = errno;
	fd_close(&w->lock);
	return flags;
}

/* The folder, opened beneath the site's root. */
static enum ss_err
open_base(struct workspace *w, int root, const char *folder, struct stat *st,
	struct ss_error *err)
{
	w->base = at_open_mounted(root, folder, AT_DIRECTORY);
	if (w->base < 0 &&
		(errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
			errno == EXDEV))
		return error_set(err, SS_NOT_FOUND,
			"the workspace's folder is not there: %s",
			folder[0] != '\0' ? folder : "/");
	if (w->base < 0 || fstat(w->base, st) < 0)
		return error_internal(err, errno, "open the folder %s", folder);
	return SS_OK;
}

/* --------------------------------------------------------------- create -- */

/* Everything of it but the lock, which is held. */
static enum ss_err
begin(struct workspace *w, struct ss_error *err)
{
	bool waits = !w->meta.temporary;
	int number = make_parts(w);
	enum ss_err code;

	if (number == 0)
		number = own_stamp(w->lock, waits, &w->meta.start_ns);
	if (number != 0)
		return error_internal(err, number, "make a workspace");
	if (w->meta.backend == WORKSPACE_COPY) {
		code = copy_fill(w, err);
		if (code != SS_OK)
			return code;
	}
	number = meta_write(w->dir, &w->meta);
	return number == 0 ? SS_OK : error_internal(err, number, "write meta");
}

enum ss_err
own_renew(struct workspace *w, struct ss_error *err)
{
	fd_close(&w->upper);
	fd_close(&w->work);
	if (w->meta.backend == WORKSPACE_AGENTFS &&
		state_put(w->dir, OWN_CLEAR, "", 0) != 0)
		return error_internal(err, errno, "write " OWN_CLEAR);
	if (!own_remove(w->dir, "upper") || !own_remove(w->dir, "work"))
		return error_internal(err, errno, "empty the workspace");
	return begin(w, err);
}

/* Fills it below a name that is no id. */
static enum ss_err
fill(struct workspace *w, struct ss_error *err)
{
	int number = take_lock(w, O_CREAT | O_EXCL);

	if (number != 0)
		return error_internal(err, number, "lock a workspace");
	w->meta.created_s = w->meta.used_s = (int64_t)time(NULL);
	return begin(w, err);
}

static enum ss_err
make(struct workspace *w, struct ss_error *err)
{
	char part[STATE_ID_CAP + 8];
	enum ss_err code;

	if (!state_make_id(w->id))
		return error_internal(err, errno, "getrandom");
	snprintf(part, sizeof(part), OWN_NEW "%s", w->id);
	if (mkdirat(w->store, part, 0700) < 0)
		return error_internal(err, errno, "mkdir of a workspace");
	w->dir = openat(w->store, part, AT_DIRECTORY);
	code = w->dir < 0 ? error_internal(err, errno, "open a workspace")
			  : fill(w, err);
	if (code == SS_OK &&
		(renameat(w->store, part, w->store, w->id) < 0 ||
			state_sync(w->store) != 0))
		code = error_internal(err, errno, "rename a workspace");
	if (code != SS_OK)
		own_remove(w->store, part);
	return code;
}

static const char *
copied(struct arena *arena, const char *text, bool *ok)
{
	char *copy = arena_copy(arena, text, strlen(text));

	*ok = *ok && copy != NULL;
	return copy;
}

enum ss_err
workspace_create(struct workspace *w, int store, int root,
	const struct workspace_meta *meta, struct arena *arena,
	struct ss_error *err)
{
	struct stat st;
	bool ok = true;
	enum ss_err code;

	*w = WORKSPACE_INIT;
	w->store = store;
	w->meta = *meta;
	w->meta.owner.root = copied(arena, meta->owner.root, &ok);
	w->meta.owner.page = copied(arena, meta->owner.page, &ok);
	w->meta.owner.caller = copied(arena, meta->owner.caller, &ok);
	w->meta.folder = copied(arena, meta->folder, &ok);
	code = ok ? open_base(w, root, meta->folder, &st, err)
		  : error_memory(err);
	if (code == SS_OK) {
		w->meta.device = (uint64_t)st.st_dev;
		w->meta.inode = (uint64_t)st.st_ino;
		code = make(w, err);
	}
	if (code == SS_INTERNAL && err != NULL &&
		(err->sys_errno == ENOSPC || err->sys_errno == EDQUOT))
		code = workspace_full(err, err->sys_errno, "make a workspace");
	if (code != SS_OK)
		workspace_close(w);
	return code;
}

/* ----------------------------------------------------------------- open -- */

static bool
is_of(const char *wanted, const char *seen)
{
	return wanted == NULL || strcmp(wanted, seen) == 0;
}

bool
own_is_of(const struct workspace_meta *m, const struct workspace_owner *who)
{
	return is_of(who->root, m->owner.root) &&
		is_of(who->page, m->owner.page) &&
		is_of(who->caller, m->owner.caller);
}

bool
own_is_expired(const struct workspace_meta *m, int64_t now_s)
{
	return m->idle_s > 0 && now_s > m->used_s + m->idle_s;
}

/* Its directory and meta; 0 or errno. */
int
own_look(struct workspace *w, int store, const char *id, struct arena *arena)
{
	struct stat used;
	int number;

	*w = WORKSPACE_INIT;
	w->store = store;
	if (!state_is_id(text_of(id)))
		return ENOENT;
	memcpy(w->id, id, sizeof(w->id));
	w->dir = openat(store, id, AT_DIRECTORY);
	if (w->dir < 0)
		return errno;
	number = meta_read(w->dir, arena, &w->meta);
	if (number != 0)
		return number;
	if (fstatat(w->dir, "lock", &used, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	w->meta.used_s = (int64_t)used.st_mtim.tv_sec;
	return 0;
}

static enum ss_err
open_folder(struct workspace *w, int root, struct ss_error *err)
{
	struct stat st;
	enum ss_err code = open_base(w, root, w->meta.folder, &st, err);

	if (code != SS_OK)
		return code;
	if (w->meta.device == (uint64_t)st.st_dev &&
		w->meta.inode == (uint64_t)st.st_ino)
		return SS_OK;
	error_set(err, SS_CONFLICT,
		"the workspace's folder was replaced by another one");
	error_hint(err, "discard the session and create a new one");
	return SS_CONFLICT;
}

/* Of an interrupted commit a part may be missing: it will be made anew. */
enum ss_err
own_open(struct workspace *w, int root, struct ss_error *err)
{
	int number = own_open_parts(w);

	if (number != 0 && !workspace_is_pending(w))
		return number == ENOENT
			? own_unknown(err)
			: error_internal(
				  err, number, "open the workspace %s", w->id);
	return root >= 0 ? open_folder(w, root, err) : SS_OK;
}

enum ss_err
workspace_open(struct workspace *w, int store, int root, const char *id,
	const struct workspace_owner *owner, struct arena *arena,
	struct ss_error *err)
{
	int number = own_look(w, store, id, arena);
	enum ss_err code;

	if (number == 0 &&
		(w->meta.temporary || !own_is_of(&w->meta, owner) ||
			own_is_expired(&w->meta, (int64_t)time(NULL))))
		number = ENOENT;
	if (number == 0)
		code = own_open(w, root, err);
	else if (number == ENOENT)
		code = own_unknown(err);
	else
		code = error_internal(err, number, "open the workspace %s", id);
	if (code != SS_OK)
		workspace_close(w);
	return code;
}

void
workspace_close(struct workspace *w)
{
	fd_close(&w->base);
	fd_close(&w->upper);
	fd_close(&w->work);
	fd_close(&w->lock);
	fd_close(&w->dir);
}

/* ----------------------------------------------------------------- lock -- */

enum ss_err
workspace_lock(struct workspace *w, struct ss_error *err)
{
	struct stat st;
	int number = w->lock >= 0 ? 0 : take_lock(w, 0);

	if (number == 0 && fstat(w->lock, &st) < 0)
		number = errno;
	if (number == 0 && st.st_nlink == 0)
		number = ENOENT;
	if (number == 0 && futimens(w->lock, NULL) < 0)
		number = errno;
	if (number == 0)
		return SS_OK;
	fd_close(&w->lock);
	if (number == ENOENT)
		return own_unknown(err);
	if (number != EWOULDBLOCK)
		return error_internal(err, number, "lock the workspace");
	error_set(err, SS_BUSY, "a tool is running in this workspace session");
	error_hint(err, "wait until it ended, or use another session");
	return SS_BUSY;
}

void
workspace_unlock(struct workspace *w)
{
	fd_close(&w->lock);
}

bool
workspace_is_pending(const struct workspace *w)
{
	struct stat st;

	return fstatat(w->dir, OWN_JOURNAL, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
		fstatat(w->dir, OWN_APPLIED, &st, AT_SYMLINK_NOFOLLOW) == 0;
}
