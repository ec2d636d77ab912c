/* SPDX-License-Identifier: MIT */
/*
 * What readers can fetch that is hardly meant for them: databases, scripts,
 * keys and programs beside pages.  And which pattern of [http] hidden matches
 * no file, as one that is misspelled does.
 */
#ifndef SS_COMMANDS_CHECK_READERS_H
#define SS_COMMANDS_CHECK_READERS_H

#include "files/walk.h"
#include "page/lint.h"
#include "site/documents.h"

#define CHECK_READERS_SHOWN 3
#define CHECK_READERS_PATTERNS 16

struct check_readers {
	const struct documents *documents;
	struct arena arena;
	size_t count; /* files that can be fetched */
	const char *shown[CHECK_READERS_SHOWN];
	const char *patterns[CHECK_READERS_PATTERNS]; /* that would hide them */
	size_t pattern_count;
	bool *matched; /* by pattern of [http] hidden; NULL: no memory */
	bool no_memory;
};

void check_readers_init(struct check_readers *r, const struct documents *d);
/* Takes each entry of a walk over the site. */
void check_readers_take(
	struct check_readers *r, const char *path, enum walk_type type);
/* Tells what was found, each on line 0.  False: no memory. */
bool check_readers_tell(struct check_readers *r, lint_fn fn, void *ctx);
void check_readers_release(struct check_readers *r);

#endif
