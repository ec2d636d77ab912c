/* SPDX-License-Identifier: MIT */
/*
 * Memory that is freed all at once: one arena for each request, one for each
 * page.  Every allocation may return NULL; none is freed alone.
 */
#ifndef SS_BASE_ARENA_H
#define SS_BASE_ARENA_H

#include "base/base.h"

struct arena_block;

struct arena {
	struct arena_block *blocks; /* newest first */
	size_t used;                /* in the newest */
	size_t total;               /* bytes held by all blocks */
	size_t limit;               /* total may not pass this; 0: no limit */
};

void arena_init(struct arena *a, size_t limit);
/* Frees all but one block of ordinary size: ready for the next request. */
void arena_clear(struct arena *a);
void arena_release(struct arena *a);

/* Zeroed, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size);
/* count * size, refused on overflow. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* A NUL-terminated copy. */
char *arena_copy(struct arena *a, const char *data, size_t len);
/* A copy of left, between and right, one after the other. */
char *arena_join(struct arena *a, const char *left, const char *between,
	const char *right);
char *arena_printf(struct arena *a, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
