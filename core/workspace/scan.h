/* SPDX-License-Identifier: MIT */
/* The parts of changes_read. */
#ifndef SS_WORKSPACE_SCAN_H
#define SS_WORKSPACE_SCAN_H

#include <sys/stat.h>

#include "workspace/changes.h"
#include "workspace/tree.h"

/* A directory to be compared. */
struct scan_dir {
	const char *path;
	bool upper;          /* the session has it */
	bool base;           /* the base has it, and it is visible */
	bool opaque;         /* what upper has not is deleted */
	const char *refused; /* of all below it; NULL */
};

struct scan {
	const struct workspace *w;
	const struct change_rule *rule;
	struct arena *arena;
	struct changes *out;
	struct scan_dir *todo; /* freed by scan.c */
	size_t count, cap;
	/* Of the copy backend. */
	struct copy_list *copied;
	/* Of the directory in hand; -1. */
	int upper, base;
	int64_t base_ctime_ns;
	const struct scan_dir *dir;
	char why[128]; /* what failed */
};

/* Adds a change with its path; NULL: no memory. */
struct change *scan_add(struct scan *s, const char *path, char op);
/* 0 or ENOMEM. */
int scan_push(struct scan *s, const struct scan_dir *dir);
/* One path of both sides; NULL: that side has none.  0 or errno. */
int scan_compare(struct scan *s, const char *path, const char *name,
	const struct stat *upper, const struct stat *base);
/* Finds the copies whose original is gone (scan_origin.c). */
void scan_origins(struct scan *s);
/* Counts conflicts and refusals. */
void scan_count(struct changes *c);
/* Fills the digest of the whole list; false: no memory. */
bool scan_digest(struct changes *c);
/* The value of an attribute of the session's overlayfs, or -1. */
ssize_t scan_attribute(int dir, const char *name, const char *attribute,
	char *out, size_t cap);

#endif
