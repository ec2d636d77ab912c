/* SPDX-License-Identifier: MIT */
/*
 * Descriptors: close-on-exec, closed once, read and written whole.
 */
#ifndef SS_BASE_FD_H
#define SS_BASE_FD_H

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

/* Closes *fd if it is open and sets it to -1; errno is kept. */
void fd_close(int *fd);
/* A pipe, close-on-exec; ends[0] reads.  0 or errno. */
int fd_pipe(int ends[2]);
/* Writes everything, waiting as often as needed.  0 or errno. */
int fd_write_all(int fd, const char *data, size_t len);
/*
 * Appends until the end of the file or until out's ceiling is reached (then
 * out->full is set).  0 or errno.
 */
int fd_read_all(int fd, struct buf *out);
/*
 * A directory by its absolute path, with O_PATH.  -1 and errno, ENOTDIR also
 * when a part of the path is a symbolic link.
 */
int fd_open_straight(const char *path);
/* Moves fd to a number of at least `least`, close-on-exec; -1 and errno. */
int fd_raise(int fd, int least);

/* What getdents64(2) fills in; older libcs have no wrapper of it. */
struct fd_entry {
	ino64_t inode;
	off64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

#endif
