/* SPDX-License-Identifier: MIT */
/*
 * The dot entries of a directory, remembered.  Each new worker hides those of
 * the site's root and each ruleset asks for those above its page, while listing
 * 10,000 pages to find three names takes 2 ms.  This file hides nothing.
 *
 * A list is valid while the directory is the same one with the same times, and
 * it is kept only where every later change must change them.
 */
#ifndef SS_FILES_DOTFILES_H
#define SS_FILES_DOTFILES_H

#include <sys/stat.h>

#include "base/base.h"

#define DOTS_BYTES 1024 /* of names; more are not remembered */

/* No storage of its own: a copy holds the same.  Zero holds nothing. */
struct dotfiles {
	bool known;
	dev_t device;
	ino_t inode;
	struct timespec modified, changed;
	size_t len;
	char names[DOTS_BYTES]; /* each with its NUL */
};

/*
 * Reads a directory that is open for reading, unless d holds its dot entries
 * already.  False: they cannot be kept, for now or at all, and d holds nothing.
 */
bool dotfiles_keep(struct dotfiles *d, int dir);
/* Does d hold what the directory has now?  dir may be an O_PATH one. */
bool dotfiles_hold(const struct dotfiles *d, int dir);

/*
 * Calls fn for each name until it returns false: the names of d, for which
 * dotfiles_hold or dotfiles_keep has just returned true; with d NULL those of
 * the directory itself, open for reading.  1: all of them; 0: fn returned
 * false; -1 and errno: the directory cannot be listed.
 */
int dotfiles_each(const struct dotfiles *d, int dir,
	bool (*fn)(void *ctx, const char *name), void *ctx);

/*
 * Is the last change so long ago that another one cannot have the same time?
 * Then what is read from now on cannot change without a new time.
 */
bool dotfiles_are_settled(const struct stat *directory);

#endif
