/* SPDX-License-Identifier: MIT */
/*
 * Bytes that grow, up to a ceiling given at birth.  A failure (no memory, or
 * the ceiling) sticks: write on, ask once with buf_ok.
 */
#ifndef SS_BASE_BUF_H
#define SS_BASE_BUF_H

#include "base/base.h"

struct buf {
	char *data; /* NUL-terminated whenever not NULL */
	size_t len;
	size_t cap;
	size_t max;  /* len never passes this */
	bool failed; /* out of memory */
	bool full;   /* something did not fit under max */
};

#define BUF_INIT(ceiling) ((struct buf){ .max = (ceiling) })

void buf_release(struct buf *b); /* leaves it empty, max kept */
void buf_clear(struct buf *b);   /* keeps the memory */
bool buf_ok(const struct buf *b);
/* What it holds; never NULL, lives until the next change. */
struct ss_text buf_view(const struct buf *b);
bool buf_add(struct buf *b, const char *data, size_t len);
bool buf_text(struct buf *b, const char *cstring);
bool buf_char(struct buf *b, char c);
/* In decimal digits. */
bool buf_number(struct buf *b, int64_t value);
bool buf_printf(struct buf *b, const char *format, ...) PRINTF_LIKE(2, 3);
/* Room for at least len more bytes at data + len; NULL if there is none. */
char *buf_reserve(struct buf *b, size_t len);

#endif
