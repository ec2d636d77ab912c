/* SPDX-License-Identifier: MIT */
#include "workspace/tree.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "workspace/at.h"

/* -------------------------------------------------------------- names -- */

static int
by_bytes(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static int
add_name(struct tree_names *n, size_t *cap, const char *name)
{
	char **more;

	if (n->count == *cap) {
		*cap = *cap == 0 ? 64 : *cap * 2;
		more = realloc(n->items, *cap * sizeof(*more));
		if (more == NULL)
			return ENOMEM;
		n->items = more;
	}
	n->items[n->count] = strdup(name);
	return n->items[n->count++] != NULL ? 0 : ENOMEM;
}

int
tree_names(int dir, struct tree_names *out)
{
	int own = openat(dir, ".", AT_DIRECTORY), number = 0;
	DIR *list = own >= 0 ? fdopendir(own) : NULL;
	struct dirent *e;
	size_t cap = 0;

	*out = (struct tree_names){ NULL, 0 };
	if (list == NULL) {
		number = errno;
		fd_close(&own);
		return number;
	}
	while (number == 0 && (errno = 0, e = readdir(list)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			number = add_name(out, &cap, e->d_name);
	if (number == 0)
		number = errno;
	closedir(list);
	if (out->count > 1)
		qsort(out->items, out->count, sizeof(*out->items), by_bytes);
	return number;
}

void
tree_names_release(struct tree_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	*n = (struct tree_names){ NULL, 0 };
}

bool
tree_names_have(const struct tree_names *n, const char *name)
{
	return n->count > 0 &&
		bsearch(&name, n->items, n->count, sizeof(*n->items),
			by_bytes) != NULL;
}

/* --------------------------------------------------------------- walk -- */

struct walk {
	int top;
	bool own;
	dev_t device;
	char **todo; /* directories, the next one last */
	size_t count, cap;
	int (*fn)(void *ctx, int dir, const char *path, const struct stat *st);
	void *ctx;
};

static int
push(struct walk *w, const char *path)
{
	char **more;

	if (w->count == w->cap) {
		w->cap = w->cap == 0 ? 64 : w->cap * 2;
		more = realloc(w->todo, w->cap * sizeof(*more));
		if (more == NULL)
			return ENOMEM;
		w->todo = more;
	}
	w->todo[w->count] = strdup(path);
	return w->todo[w->count++] != NULL ? 0 : ENOMEM;
}

/* One name of the open directory at path. */
static int
visit(struct walk *w, int dir, const char *path, const char *name)
{
	char whole[PATH_MAX];
	struct stat st;
	int n = snprintf(whole, sizeof(whole), "%s%s%s", path,
		path[0] != '\0' ? "/" : "", name);
	int number;

	if (n < 0 || (size_t)n >= sizeof(whole))
		return ENAMETOOLONG;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : errno;
	number = w->fn(w->ctx, dir, whole, &st);
	if (number != 0 || !S_ISDIR(st.st_mode) || st.st_dev != w->device)
		return number;
	return push(w, whole);
}

static int
open_below(struct walk *w, const char *path)
{
	const char *name;
	int parent, fd;

	if (path[0] == '\0')
		return at_open(w->top, "", AT_DIRECTORY);
	parent = at_parent(w->top, path, &name);
	if (parent < 0)
		return -1;
	fd = w->own ? at_read(parent, name, O_RDONLY | O_DIRECTORY)
		    : openat(parent, name, AT_DIRECTORY);
	fd_close(&parent);
	return fd;
}

static int
read_one(struct walk *w, const char *path)
{
	struct tree_names names = { NULL, 0 };
	int dir = open_below(w, path), number;

	if (dir < 0)
		return errno == ENOENT ? 0 : errno;
	number = tree_names(dir, &names);
	for (size_t i = 0; number == 0 && i < names.count; i++)
		number = visit(w, dir, path, names.items[i]);
	tree_names_release(&names);
	fd_close(&dir);
	return number;
}

int
tree_each(int dir, const char *top, bool own,
	int (*fn)(void *ctx, int dir, const char *path, const struct stat *st),
	void *ctx)
{
	struct walk w = { .top = openat(dir, top, AT_DIRECTORY),
		.own = own,
		.fn = fn,
		.ctx = ctx };
	struct stat st;
	int number = 0;

	if (w.top < 0 || fstat(w.top, &st) < 0) {
		number = errno;
		fd_close(&w.top);
		return number;
	}
	w.device = st.st_dev;
	number = push(&w, "");
	while (number == 0 && w.count > 0) {
		char *path = w.todo[--w.count];

		number = read_one(&w, path);
		free(path);
	}
	while (w.count > 0)
		free(w.todo[--w.count]);
	free(w.todo);
	fd_close(&w.top);
	return number;
}
