/* SPDX-License-Identifier: MIT */
#include "shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010 /* Linux 5.1, fcntl(2) */
#endif

static void *
map_shared(size_t size, int protection, int fd)
{
	void *at = mmap(NULL, size, protection, MAP_SHARED, fd, 0);

	return at != MAP_FAILED ? at : NULL;
}

/*
 * After F_SEAL_FUTURE_WRITE a new mapping can be read only, for good; before
 * Linux 5.1 one of a descriptor that was opened for reading, which takes /proc.
 */
static void *
map_readable(size_t size, int fd)
{
	char path[64];
	void *at;

	if (fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) == 0)
		return map_shared(size, PROT_READ, fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	at = map_shared(size, PROT_READ, fd);
	close(fd);
	return at;
}

bool
shared_memory_map(
	const char *name, size_t size, void **writable, void **readable)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int error;

	*writable = *readable = NULL;
	if (fd < 0)
		return false;
	if (ftruncate(fd, (off_t)size) == 0)
		*writable = map_shared(size, PROT_READ | PROT_WRITE, fd);
	if (*writable != NULL)
		*readable = map_readable(size, fd);
	error = errno;
	if (*writable != NULL && *readable == NULL) {
		munmap(*writable, size);
		*writable = NULL;
	}
	close(fd);
	errno = error;
	return *readable != NULL;
}
