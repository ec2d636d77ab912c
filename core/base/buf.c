/* SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

char buf_empty[1];

void
buf_release(struct buf *b)
{
	if (b->cap > 0)
		free(b->data);
	*b = BUF_INIT(b->max);
}

void
buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = b->full = false;
	if (b->cap > 0)
		b->data[0] = '\0';
}

bool
buf_ok(const struct buf *b)
{
	return !b->failed && !b->full;
}

struct ss_text
buf_view(const struct buf *b)
{
	return (struct ss_text){ b->data, b->len };
}

char *
buf_reserve(struct buf *b, size_t len)
{
	size_t need, cap;
	char *data;

	if (!buf_ok(b))
		return NULL;
	if (len > b->max - b->len) {
		b->full = true;
		return NULL;
	}
	need = b->len + len + 1;
	if (need <= b->cap)
		return b->data + b->len;
	cap = b->cap < 256 ? 256 : b->cap;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	data = realloc(b->cap > 0 ? b->data : NULL, cap);
	if (data == NULL) {
		b->failed = true;
		return NULL;
	}
	b->data = data;
	b->cap = cap;
	return b->data + b->len;
}

bool
buf_add(struct buf *b, const char *data, size_t len)
{
	char *space = buf_reserve(b, len);

	if (space == NULL)
		return false;
	if (len > 0)
		memcpy(space, data, len);
	space[len] = '\0';
	b->len += len;
	return true;
}

bool
buf_text(struct buf *b, const char *cstring)
{
	return buf_add(b, cstring, strlen(cstring));
}

bool
buf_char(struct buf *b, char c)
{
	return buf_add(b, &c, 1);
}

bool
buf_number(struct buf *b, int64_t value)
{
	char digits[NUMBER_MAX];
	size_t len = text_number(digits, value);

	return buf_add(b, digits, len);
}

bool
buf_printf(struct buf *b, const char *format, ...)
{
	va_list args;
	char small[128], *space;
	int n;

	va_start(args, format);
	n = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	if (n < 0) {
		b->failed = true;
		return false;
	}
	if ((size_t)n < sizeof(small))
		return buf_add(b, small, (size_t)n);
	space = buf_reserve(b, (size_t)n);
	if (space == NULL)
		return false;
	va_start(args, format);
	vsnprintf(space, (size_t)n + 1, format, args);
	va_end(args);
	b->len += (size_t)n;
	return true;
}
