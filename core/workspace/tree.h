/* SPDX-License-Identifier: MIT */
/*
 * Everything below a directory, each directory before what is in it, by one
 * open directory at a time.  Links are not followed, mounts are not entered.
 */
#ifndef SS_WORKSPACE_TREE_H
#define SS_WORKSPACE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * fn gets an open directory, the path below the walk's top whose last component
 * is in that directory, and its stat; it returns 0 to go on or an errno.
 *
 * own      it is a session's: what a tool made unreadable is read (at_read).
 * Returns  0 or errno; ENAMETOOLONG: a path is longer than PATH_MAX.
 */
int tree_each(int dir, const char *top, bool own,
	int (*fn)(void *ctx, int dir, const char *path, const struct stat *st),
	void *ctx);

/* The names of an open directory, sorted by bytes. */
struct tree_names {
	char **items; /* freed by tree_names_release */
	size_t count;
};

/* 0 or errno; dir is borrowed and read from its start. */
int tree_names(int dir, struct tree_names *out);
void tree_names_release(struct tree_names *n);
bool tree_names_have(const struct tree_names *n, const char *name);

#endif
