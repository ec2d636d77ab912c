/* SPDX-License-Identifier: MIT */
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sys.h"

#define FIRST_BYTES 65536

static bool
make_room(struct lines *l, size_t max)
{
	size_t cap = l->cap > 0 ? l->cap * 2 : FIRST_BYTES;
	char *more;

	if (l->len < l->cap)
		return true;
	if (l->cap >= max)
		return false;
	if (cap > max)
		cap = max;
	more = realloc(l->data, cap);
	if (more == NULL)
		return false;
	l->data = more;
	l->cap = cap;
	return true;
}

ssize_t
lines_read(struct lines *l, int fd, size_t max)
{
	ssize_t n;

	if (!make_room(l, max)) {
		errno = EMSGSIZE;
		return -1;
	}
	n = read(fd, l->data + l->len, l->cap - l->len);
	if (n > 0)
		l->len += (size_t)n;
	return n;
}

size_t
lines_first(const char *data, size_t len)
{
	const char *end = len > 0 ? memchr(data, '\n', len) : NULL;

	return end != NULL ? (size_t)(end - data) + 1 : 0;
}

void
lines_drop(struct lines *l, size_t n)
{
	if (n > 0)
		memmove(l->data, l->data + n, l->len - n);
	l->len -= n;
}

void
lines_release(struct lines *l)
{
	free(l->data);
	*l = (struct lines){ .data = NULL };
}

bool
lines_write(int fd, const char *message, size_t len)
{
	return sys_write_all(fd, message, len) && sys_write_all(fd, "\n", 1);
}
