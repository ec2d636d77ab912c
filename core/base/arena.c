/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define BLOCK_SIZE ((size_t)16 * 1024 - 64)

struct arena_block {
	struct arena_block *older;
	size_t size;
	_Alignas(max_align_t) char data[];
};

void
arena_init(struct arena *a, size_t limit)
{
	*a = (struct arena){ .limit = limit };
}

void
arena_clear(struct arena *a)
{
	struct arena_block *kept = NULL, *older;

	for (struct arena_block *b = a->blocks; b != NULL; b = older) {
		older = b->older;
		if (kept == NULL && b->size == BLOCK_SIZE)
			kept = b;
		else
			free(b);
	}
	a->blocks = kept;
	a->used = 0;
	a->total = kept != NULL ? kept->size : 0;
	if (kept != NULL)
		kept->older = NULL;
}

void
arena_release(struct arena *a)
{
	struct arena_block *older;

	for (struct arena_block *b = a->blocks; b != NULL; b = older) {
		older = b->older;
		free(b);
	}
	arena_init(a, a->limit);
}

static bool
add_block(struct arena *a, size_t size)
{
	size_t want = size > BLOCK_SIZE ? size : BLOCK_SIZE;
	struct arena_block *b;

	if (want > SIZE_MAX - sizeof(*b))
		return false;
	if (a->limit != 0 &&
		(a->total > a->limit || want > a->limit - a->total))
		return false;
	b = malloc(sizeof(*b) + want);
	if (b == NULL)
		return false;
	b->size = want;
	b->older = a->blocks;
	a->blocks = b;
	a->used = 0;
	a->total += want;
	return true;
}

void *
arena_alloc(struct arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	void *p;

	if (size > SIZE_MAX - align)
		return NULL;
	size = (size + align - 1) / align * align;
	if (a->blocks == NULL || a->blocks->size - a->used < size)
		if (!add_block(a, size))
			return NULL;
	p = a->blocks->data + a->used;
	a->used += size;
	memset(p, 0, size);
	return p;
}

void *
arena_array(struct arena *a, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return arena_alloc(a, bytes);
}

char *
arena_copy(struct arena *a, const char *data, size_t len)
{
	char *p = len < SIZE_MAX ? arena_alloc(a, len + 1) : NULL;

	if (p != NULL && len > 0)
		memcpy(p, data, len);
	return p;
}

char *
arena_join(struct arena *a, const char *left, const char *between,
	const char *right)
{
	size_t n = strlen(left), m = strlen(between), k = strlen(right);
	char *p = arena_alloc(a, n + m + k + 1);

	if (p == NULL)
		return NULL;
	memcpy(p, left, n);
	memcpy(p + n, between, m);
	memcpy(p + n + m, right, k);
	return p;
}

char *
arena_printf(struct arena *a, const char *format, ...)
{
	va_list args;
	char small[128], *p;
	int n;

	va_start(args, format);
	n = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (n >= 0 && (size_t)n < sizeof(small))
		return arena_copy(a, small, (size_t)n);
	if (n < 0 || (p = arena_alloc(a, (size_t)n + 1)) == NULL)
		return NULL;
	va_start(args, format);
	vsnprintf(p, (size_t)n + 1, format, args);
	va_end(args);
	return p;
}
