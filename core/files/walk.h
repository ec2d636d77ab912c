/* SPDX-License-Identifier: MIT */
/*
 * Directories, read whole and sorted: one of them, or a tree beneath a root.
 * Names that begin with a dot are passed over, symbolic links are not followed,
 * and everything has a bound.
 */
#ifndef SS_FILES_WALK_H
#define SS_FILES_WALK_H

#include "base/arena.h"
#include "files/root.h"
#include "wire/path.h"

enum walk_type { WALK_FILE, WALK_DIRECTORY, WALK_LINK, WALK_OTHER };

struct walk_entry {
	const char *name;
	enum walk_type type;
};

struct walk_list {
	struct walk_entry *items; /* sorted, in the arena */
	size_t count;
	bool cut; /* there are more */
};

/* How one directory is read.  Zero: all of it, by name. */
struct walk_order {
	size_t most; /* of wanted entries, read; 0: any number */
	size_t keep; /* of them, the first so many; 0: all */
	/* Of struct walk_entry; with keep, one that looks at names alone. */
	int (*compare)(const void *left, const void *right);
	bool (*wanted)(void *ctx, const struct walk_entry *entry);
	void *ctx;
};

/*
 * Reads the directory that fd has open; takes fd, also when it fails.
 *
 * visits   how many names may be looked at, counted down; NULL: any number.
 * Returns  0 or errno.
 */
int walk_read(struct arena *arena, int fd, const struct walk_order *order,
	size_t *visits, struct walk_list *out);

struct walk_tree {
	const struct root *root;
	struct walk_order order; /* of each directory */
	size_t depth;            /* of directories below the first */
	size_t visits;           /* as for walk_read, of all together */
	/*
	 * Gets each entry, a directory before what is in it.  False: the walk
	 * ends.
	 */
	bool (*visit)(void *ctx, const char *path, enum walk_type type);
	void *ctx;
	bool cut;                      /* set when a bound was met */
	char path[PATH_BYTES_MAX + 1]; /* from the root to what is in hand */
};

/*
 * Walks the tree at t->path, "" for the root.  A directory that cannot be
 * opened is empty, and one with a longer path than a request may have is passed
 * over.
 * Errors  SS_INTERNAL: no memory.
 */
enum ss_err walk_each(struct walk_tree *t, struct ss_error *err);

#endif
