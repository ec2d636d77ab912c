/* SPDX-License-Identifier: MIT */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

void
fd_close(int *fd)
{
	int kept = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = kept;
}

int
fd_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) == 0)
		return 0;
	ends[0] = ends[1] = -1;
	return errno;
}

int
fd_open_straight(const char *path)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open("/", flags), next;
	char part[NAME_MAX + 1];
	size_t len;

	for (; fd >= 0 && *path != '\0'; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len == 0)
			continue;
		if (len > NAME_MAX) {
			fd_close(&fd);
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(part, path, len);
		part[len] = '\0';
		next = openat(fd, part, flags);
		fd_close(&fd);
		fd = next;
	}
	return fd;
}

int
fd_write_all(int fd, const char *data, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while (len > 0) {
		n = write(fd, data, len);
		if (n >= 0) {
			data += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			if (poll(&p, 1, -1) < 0 && errno != EINTR)
				return errno;
		} else if (errno != EINTR) {
			return errno;
		}
	}
	return 0;
}

int
fd_read_all(int fd, struct buf *out)
{
	char chunk[16384];
	ssize_t n;

	for (;;) {
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			return 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (!buf_add(out, chunk, (size_t)n))
			return out->full ? 0 : ENOMEM;
	}
}

int
fd_raise(int fd, int least)
{
	int high;

	if (fd >= least)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, least);
	if (high >= 0)
		close(fd);
	return high;
}
