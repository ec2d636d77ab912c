/* SPDX-License-Identifier: MIT */
#include "files/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"

/* One directory while it is read. */
struct directory {
	struct arena *arena;
	const struct walk_order *order;
	struct walk_list *list;
	size_t cap;
	bool full; /* the first `keep` are sorted: more cannot come before */
};

static int
by_name(const void *left, const void *right)
{
	const struct walk_entry *a = left, *b = right;

	return strcmp(a->name, b->name);
}

static int
compare(const struct walk_order *order, const struct walk_entry *a,
	const struct walk_entry *b)
{
	return order->compare != NULL ? order->compare(a, b) : by_name(a, b);
}

/* readdir(3): some file systems do not tell the type. */
static enum walk_type
type_of(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	switch (entry->d_type) {
	case DT_REG: return WALK_FILE;
	case DT_DIR: return WALK_DIRECTORY;
	case DT_LNK: return WALK_LINK;
	case DT_UNKNOWN: break;
	default: return WALK_OTHER;
	}
	if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return WALK_OTHER;
	return S_ISREG(st.st_mode)    ? WALK_FILE
		: S_ISDIR(st.st_mode) ? WALK_DIRECTORY
		: S_ISLNK(st.st_mode) ? WALK_LINK
				      : WALK_OTHER;
}

static void
sort_entries(struct directory *d)
{
	const struct walk_order *order = d->order;
	struct walk_list *list = d->list;

	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items),
			order->compare != NULL ? order->compare : by_name);
	if (order->keep == 0 || list->count <= order->keep)
		return;
	list->count = order->keep;
	list->cut = d->full = true;
}

/* Most names of a large directory cost no more than this. */
static bool
comes_too_late(const struct directory *d, const char *name)
{
	struct walk_entry e = { .name = name };

	return d->full &&
		compare(d->order, &e, &d->list->items[d->order->keep - 1]) > 0;
}

/* The list doubles; what it leaves in the arena is as much again. */
static bool
add_entry(struct directory *d, struct walk_entry e)
{
	struct walk_list *list = d->list;
	struct walk_entry *grown;

	if (d->order->keep > 0 && list->count == 2 * d->order->keep)
		sort_entries(d);
	if (list->count == d->cap) {
		d->cap = d->cap != 0 ? d->cap * 2 : 32;
		grown = arena_array(d->arena, d->cap, sizeof(*grown));
		if (grown == NULL)
			return false;
		if (list->count > 0)
			memcpy(grown, list->items,
				list->count * sizeof(*grown));
		list->items = grown;
	}
	e.name = arena_copy(d->arena, e.name, strlen(e.name));
	list->items[list->count++] = e;
	return e.name != NULL;
}

/* False: no memory. */
static bool
read_entries(struct directory *d, DIR *dir, size_t *visits)
{
	const struct walk_order *order = d->order;
	size_t seen = 0;
	struct dirent *entry;

	while ((entry = readdir(dir)) != NULL) {
		struct walk_entry e = { .name = entry->d_name };

		if (e.name[0] == '.')
			continue;
		if ((order->most > 0 && seen == order->most) ||
			(visits != NULL && *visits == 0)) {
			d->list->cut = true;
			break;
		}
		if (visits != NULL)
			--*visits;
		if (comes_too_late(d, e.name)) {
			seen++;
			continue;
		}
		e.type = type_of(dir, entry);
		if (order->wanted != NULL && !order->wanted(order->ctx, &e))
			continue;
		seen++;
		if (!add_entry(d, e))
			return false;
	}
	sort_entries(d);
	return true;
}

int
walk_read(struct arena *arena, int fd, const struct walk_order *order,
	size_t *visits, struct walk_list *out)
{
	struct directory d = { .arena = arena, .order = order, .list = out };
	DIR *dir = fdopendir(fd);
	int number = errno;

	*out = (struct walk_list){ 0 };
	if (dir == NULL) {
		fd_close(&fd);
		return number;
	}
	number = read_entries(&d, dir, visits) ? 0 : ENOMEM;
	closedir(dir);
	return number;
}

/* ------------------------------------------------------------------ a tree */

/* Appends name to t->path; false: it would be too long. */
static bool
enter_path(struct walk_tree *t, size_t len, const char *name)
{
	size_t n = strlen(name);
	bool below = len > 0;

	if (len + below + n > PATH_BYTES_MAX)
		return false;
	if (below)
		t->path[len++] = '/';
	memcpy(t->path + len, name, n + 1);
	return true;
}

static int read_tree(struct walk_tree *t, size_t depth, bool *ended);

static int
visit_entries(struct walk_tree *t, const struct walk_list *list, size_t depth,
	bool *ended)
{
	size_t len = strlen(t->path);
	int number = 0;

	for (size_t i = 0; number == 0 && !*ended && i < list->count; i++) {
		const struct walk_entry *e = &list->items[i];

		if (!enter_path(t, len, e->name))
			continue;
		*ended = !t->visit(t->ctx, t->path, e->type);
		if (!*ended && e->type == WALK_DIRECTORY)
			number = read_tree(t, depth + 1, ended);
		t->path[len] = '\0';
	}
	return number;
}

/* Each directory has its own memory, given back before its parent goes on. */
static int
read_tree(struct walk_tree *t, size_t depth, bool *ended)
{
	struct walk_list list = { 0 };
	struct arena arena;
	int fd, number;

	if (depth > t->depth) {
		t->cut = true;
		return 0;
	}
	if (root_find(t->root, t->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
		    &fd) != 0)
		return 0;
	arena_init(&arena, 0);
	number = walk_read(&arena, fd, &t->order, &t->visits, &list);
	t->cut |= list.cut;
	if (number == 0)
		number = visit_entries(t, &list, depth, ended);
	arena_release(&arena);
	return number;
}

enum ss_err
walk_each(struct walk_tree *t, struct ss_error *err)
{
	bool ended = false;
	int number = read_tree(t, 0, &ended);

	return number == 0 ? SS_OK
			   : error_internal(err, number, "read a directory");
}
