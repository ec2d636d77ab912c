/* SPDX-License-Identifier: MIT */
/*
 * What the paths of the configuration and of pages mean: absolute ones as they
 * are, relative ones beneath the site.  Text only; nothing is looked up.
 */
#ifndef SS_SANDBOX_GRANT_PATH_H
#define SS_SANDBOX_GRANT_PATH_H

#include "base/base.h"

/*
 * The path on the host, absolute, clean, in out.  root is the site's.
 * *optional: it ended with '?'.  False: ".." in it, too long, or relative
 * where there is no site.
 */
bool grant_path_outside(const char *path, const char *root, char *out,
	size_t cap, bool *optional);
/* The same as a confined process sees it: what is beneath root is at site. */
bool grant_path_inside(const char *path, const char *root, const char *site,
	char *out, size_t cap, bool *optional);
/* Is path the directory itself or below it?  Both clean. */
bool grant_path_is_below(const char *path, const char *directory);
/* Of any of them?  NULL ends the list. */
bool grant_path_is_below_any(const char *path, const char *const *directories);

#endif
