/* SPDX-License-Identifier: MIT */
/* Lines that are read from a descriptor, and lines that are written to one. */
#ifndef FCGI_LINES_H
#define FCGI_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct lines {
	char *data;
	size_t len, cap;
};

/*
 * One read(2) behind what is there.  0: the end; -1: errno, with EMSGSIZE when
 * max bytes are there or memory ran out.
 */
ssize_t lines_read(struct lines *l, int fd, size_t max);
/* Length of the first line with its line break; 0: there is none yet. */
size_t lines_first(const char *data, size_t len);
/* Drops n bytes at the start. */
void lines_drop(struct lines *l, size_t n);
void lines_release(struct lines *l);

/* The message and a line break, to a descriptor that blocks. */
bool lines_write(int fd, const char *message, size_t len);

#endif
