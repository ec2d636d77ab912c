/* SPDX-License-Identifier: MIT */
/* The sessions below workspaces/: listed, and collected when they are old. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/own.h"
#include "workspace/tree.h"

/* A maker holds its lock; one without a lock for so long was killed. */
#define MAKING_S 60
/* Between two walks of all sessions, and of their names at the limit. */
#define COLLECT_EVERY_S 10
#define EXPIRE_EVERY_S 1

static bool
is_running(int dir)
{
	int lock = openat(dir, "lock", O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	bool running;

	if (lock < 0)
		return false;
	running = flock(lock, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	fd_close(&lock);
	return running;
}

static int
by_use(const void *left, const void *right)
{
	const struct workspace_item *a = left, *b = right;

	if (a->meta.used_s != b->meta.used_s)
		return a->meta.used_s > b->meta.used_s ? -1 : 1;
	return strcmp(a->id, b->id);
}

enum ss_err
workspace_list(int store, const struct workspace_owner *owner,
	struct arena *arena, struct workspace_item **items, size_t *count,
	struct ss_error *err)
{
	struct tree_names names;
	int number = tree_names(store, &names);
	int64_t now = (int64_t)time(NULL);
	struct workspace_item *all = NULL;

	*count = 0;
	*items = NULL;
	if (number == 0) {
		all = arena_array(arena, names.count + 1, sizeof(*all));
		number = all != NULL ? 0 : ENOMEM;
	}
	for (size_t i = 0; number == 0 && i < names.count; i++) {
		struct workspace w;

		if (own_look(&w, store, names.items[i], arena) == 0 &&
			!w.meta.temporary && own_is_of(&w.meta, owner) &&
			!own_is_expired(&w.meta, now)) {
			struct workspace_item *item = &all[(*count)++];

			memcpy(item->id, w.id, sizeof(item->id));
			item->meta = w.meta;
			item->running = is_running(w.dir);
		}
		workspace_close(&w);
	}
	tree_names_release(&names);
	if (number != 0)
		return error_internal(err, number, "list the workspaces");
	if (*count > 1)
		qsort(all, *count, sizeof(*all), by_use);
	*items = all;
	return SS_OK;
}

/* ------------------------------------------------------------- collect -- */

/* Is what has no id left by a process that was killed? */
static bool
is_left(int store, const char *name)
{
	struct stat st;
	int dir;
	bool left;

	if (strncmp(name, OWN_GONE, sizeof(OWN_GONE) - 1) == 0)
		return true;
	if (strncmp(name, OWN_NEW, sizeof(OWN_NEW) - 1) != 0)
		return false;
	dir = openat(store, name, AT_DIRECTORY);
	if (dir < 0 || fstat(dir, &st) < 0)
		return false;
	left = faccessat(dir, "lock", F_OK, 0) == 0
		? !is_running(dir)
		: time(NULL) > st.st_mtim.tv_sec + MAKING_S;
	fd_close(&dir);
	return left;
}

/* Discards a session unless it runs or has a commit to finish. */
static bool
drop(int store, const char *id, struct arena *arena, bool if_expired)
{
	struct workspace w;
	bool dropped = false;

	if (own_look(&w, store, id, arena) == 0 &&
		(!if_expired || w.meta.temporary ||
			own_is_expired(&w.meta, (int64_t)time(NULL))) &&
		!workspace_is_pending(&w) && !is_running(w.dir)) {
		if (workspace_lock(&w, NULL) == SS_OK)
			dropped = workspace_discard(&w, NULL) == SS_OK;
	}
	workspace_close(&w);
	return dropped;
}

static enum ss_err
collect_over(int store, uint64_t most, struct arena *arena, size_t *removed,
	struct ss_error *err)
{
	const struct workspace_owner anybody = { NULL, NULL, NULL };
	struct workspace_item *items;
	struct workspace_usage used;
	uint64_t total = 0, *sizes;
	size_t count;
	enum ss_err code =
		workspace_list(store, &anybody, arena, &items, &count, err);

	if (code != SS_OK)
		return code;
	sizes = arena_array(arena, count + 1, sizeof(*sizes));
	if (sizes == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++) {
		struct workspace w;

		if (own_look(&w, store, items[i].id, arena) == 0 &&
			workspace_usage(&w, &used, NULL) == SS_OK)
			sizes[i] = used.bytes;
		workspace_close(&w);
		total += sizes[i];
	}
	/* The last one was used longest ago. */
	for (size_t i = count; i-- > 0 && total > most;)
		if (drop(store, items[i].id, arena, false)) {
			total -= sizes[i];
			*removed += 1;
		}
	return SS_OK;
}

enum ss_err
workspace_collect(
	int store, uint64_t bytes_most, size_t *removed, struct ss_error *err)
{
	struct tree_names names;
	struct arena arena;
	size_t gone = 0;
	int number = tree_names(store, &names);
	enum ss_err code = SS_OK;

	arena_init(&arena, 0);
	for (size_t i = 0; number == 0 && i < names.count; i++) {
		const char *name = names.items[i];

		if (state_is_id(text_of(name)))
			gone += drop(store, name, &arena, true);
		else if (is_left(store, name))
			gone += own_remove(store, name);
	}
	tree_names_release(&names);
	if (number != 0)
		code = error_internal(err, number, "list the workspaces");
	else if (bytes_most > 0)
		code = collect_over(store, bytes_most, &arena, &gone, err);
	arena_release(&arena);
	if (removed != NULL)
		*removed = gone;
	return code;
}

/* --------------------------------------------------------------- in turn -- */

/*
 * Is it time, and no other process at it?  Where the stamp cannot be had, on a
 * full disk, it always is.  *fd has the lock, or is -1.
 */
static bool
take_turn(int store, const char *stamp, int every_s, int *fd)
{
	struct stat st;
	time_t now = time(NULL);

	*fd = openat(store, stamp, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (*fd < 0) {
		*fd = openat(store, stamp,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		return true;
	}
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0 && fstat(*fd, &st) == 0 &&
		(now < st.st_mtim.tv_sec ||
			now >= st.st_mtim.tv_sec + every_s)) {
		futimens(*fd, NULL);
		return true;
	}
	fd_close(fd);
	return false;
}

enum ss_err
workspace_collect_due(
	int store, uint64_t bytes_most, size_t *removed, struct ss_error *err)
{
	enum ss_err code = SS_OK;
	int turn;

	if (removed != NULL)
		*removed = 0;
	if (take_turn(store, OWN_COLLECTED, COLLECT_EVERY_S, &turn))
		code = workspace_collect(store, bytes_most, removed, err);
	fd_close(&turn);
	return code;
}

/* Without opening one of them.  0 or errno. */
static int
count_sessions(int store, uint64_t *out)
{
	int own = openat(store, ".", AT_DIRECTORY), number;
	DIR *list = own < 0 ? NULL : fdopendir(own);
	const struct dirent *e;

	*out = 0;
	if (list == NULL) {
		number = errno;
		fd_close(&own);
		return number;
	}
	while (errno = 0, (e = readdir(list)) != NULL)
		*out += state_is_id(text_of(e->d_name)) ||
			strncmp(e->d_name, OWN_NEW, sizeof(OWN_NEW) - 1) == 0;
	number = errno;
	closedir(list);
	return number;
}

enum ss_err
workspace_room(int store, uint64_t most, struct ss_error *err)
{
	uint64_t count = 0;
	int turn, number = most > 0 ? count_sessions(store, &count) : 0;

	if (number == 0 && most > 0 && count >= most &&
		take_turn(store, OWN_EXPIRED, EXPIRE_EVERY_S, &turn)) {
		workspace_collect(store, 0, NULL, NULL);
		fd_close(&turn);
		number = count_sessions(store, &count);
	}
	if (number != 0)
		return error_internal(err, number, "count the workspaces");
	if (most == 0 || count < most)
		return SS_OK;
	error_set(err, SS_OVERLOADED,
		"there are as many workspace sessions as may be (%" PRIu64
		"); this one was not made",
		most);
	error_hint(err,
		"discard a session that is not needed, or try again when one "
		"has expired");
	return SS_OVERLOADED;
}
