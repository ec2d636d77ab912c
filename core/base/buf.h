/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow up to the ceiling that BUF_INIT sets.  A failure (no memory,
 * or the ceiling is reached) sticks: append what there is, then ask buf_ok
 * once.
 */
#ifndef SS_BASE_BUF_H
#define SS_BASE_BUF_H

#include "base/base.h"

struct buf {
	char *data; /* never NULL, NUL-terminated */
	size_t len;
	size_t cap;
	size_t max;  /* of len */
	bool failed; /* out of memory */
	bool full;   /* something did not fit under max */
};

/* What data points at before the first byte; nothing writes to it. */
extern char buf_empty[1];

#define BUF_INIT(ceiling) ((struct buf){ .data = buf_empty, .max = (ceiling) })

void buf_release(struct buf *b); /* leaves it empty, max kept */
void buf_clear(struct buf *b);   /* keeps the memory */
bool buf_ok(const struct buf *b);
/* The bytes in it, until the next change. */
struct ss_text buf_view(const struct buf *b);
bool buf_add(struct buf *b, const char *data, size_t len);
bool buf_text(struct buf *b, const char *cstring);
bool buf_char(struct buf *b, char c);
/* In decimal digits. */
bool buf_number(struct buf *b, int64_t value);
bool buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
/* Space for len more bytes at data + b->len; NULL when there is none. */
char *buf_reserve(struct buf *b, size_t len);

#endif
