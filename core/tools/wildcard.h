/* SPDX-License-Identifier: MIT */
/*
 * Patterns for names: `*` and `?` within one part of a path, `**` across
 * parts, classes in brackets, lists in braces, a backslash for text.  Only
 * a pattern with a leading dot matches a name that begins with a dot.
 *
 * Source   POSIX 2.13 for the parts, bash's globstar for `**`.
 * Pure     and bounded: time is at most pattern times text.
 */
#ifndef SS_TOOLS_WILDCARD_H
#define SS_TOOLS_WILDCARD_H

#include "base/arena.h"
#include "base/error.h"

#define WILDCARD_BYTES 4096 /* of one pattern */
#define WILDCARD_LISTS 64   /* patterns that its braces may become */

/*
 * Expands braces: "a.{c,h}" becomes "a.c" and "a.h".  A brace without
 * a comma, or without an end, is text.  All in arena.
 * Errors  SS_BAD_REQUEST for a pattern that is empty, too long or becomes too
 *         many; SS_INTERNAL.
 */
enum ss_err wildcard_expand(struct arena *arena, const char *pattern,
	const char *out[static WILDCARD_LISTS], size_t *count,
	struct ss_error *err);

/* One part against one name, neither with a slash. */
bool wildcard_part(
	const char *part, size_t part_len, const char *name, size_t name_len);
/* Does the part have no wildcards? */
bool wildcard_is_text(const char *part, size_t len);
/* Removes the backslashes of such a part, in place. */
size_t wildcard_unescape(char *part, size_t len);
/* "**", alone in its part. */
bool wildcard_is_deep(const char *part, size_t len);

/*
 * Does the expanded pattern match the path?  Slashes at both ends do not count.
 */
bool wildcard_path(const char *pattern, const char *path);

#endif
