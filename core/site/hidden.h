/* SPDX-License-Identifier: MIT */
/*
 * The patterns of [http] hidden: which paths of the site no reader is shown.
 * Tools are not readers.
 */
#ifndef SS_SITE_HIDDEN_H
#define SS_SITE_HIDDEN_H

#include "base/arena.h"
#include "base/error.h"

/* Zero: nothing is hidden. */
struct hidden {
	const char **patterns; /* without braces */
	const char **folded;   /* the same in lower case */
	size_t count;
};

/* Does it begin with "/", and has it a part, and none that is "." or ".."? */
bool hidden_is_pattern(const char *text);
/*
 * All in arena; each pattern is one.
 * Errors  SS_CONFIG: they are too many; SS_INTERNAL.
 */
enum ss_err hidden_init(struct hidden *h, struct arena *arena,
	const char *const *patterns, size_t count, struct ss_error *err);

/* Does patterns[i] of h match the path, its page's name or a directory of it? */
bool hidden_matches(const struct hidden *h, size_t i, const char *path);
/*
 * Does any?  A pattern for a page may leave out its .md; upper and lower case
 * are the same, since some file systems find a file by both.
 */
bool hidden_has(const struct hidden *h, const char *path);

#endif
