/* SPDX-License-Identifier: MIT */
#include "unfinished.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/uio.h>
#include <unistd.h>

#define DEFAULT_BYTES 65536 /* of a pipe: pipe(7) */
#define PARAMS offsetof(struct record_reader, params)
#define AFTER_PARAMS (PARAMS + RECORD_PARAMS_MAX)

int
unfinished_save(
	struct unfinished *u, const struct record_reader *r, const char *body)
{
	const struct iovec parts[] = { { u, sizeof(*u) },
		{ (void *)(uintptr_t)r, PARAMS + r->params_len },
		{ (char *)(uintptr_t)r + AFTER_PARAMS,
			sizeof(*r) - AFTER_PARAMS },
		{ (void *)(uintptr_t)body, u->body_len } };
	ssize_t all = 0;
	int ends[2];
	bool whole;

	u->params_len = r->params_len;
	for (int i = 0; i < 4; i++)
		all += (ssize_t)parts[i].iov_len;
	if (all > INT32_MAX || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return -1;
	whole = (all <= DEFAULT_BYTES ||
			fcntl(ends[1], F_SETPIPE_SZ, (int)all) >= 0) &&
		writev(ends[1], parts, u->body_len > 0 ? 4 : 3) == all;
	close(ends[1]);
	if (whole)
		return ends[0];
	close(ends[0]);
	return -1;
}

static bool
read_whole(int fd, void *data, size_t len)
{
	return len == 0 || read(fd, data, len) == (ssize_t)len;
}

bool
unfinished_load(int fd, struct unfinished *u, struct record_reader *r)
{
	return read_whole(fd, u, sizeof(*u)) &&
		u->params_len <= RECORD_PARAMS_MAX &&
		read_whole(fd, r, PARAMS + u->params_len) &&
		read_whole(fd, (char *)r + AFTER_PARAMS,
			sizeof(*r) - AFTER_PARAMS) &&
		u->params_len == r->params_len && record_check(r);
}

bool
unfinished_load_body(int fd, char *body, size_t len)
{
	return read_whole(fd, body, len);
}

size_t
unfinished_bytes(int fd)
{
	int bytes = fcntl(fd, F_GETPIPE_SZ);

	return bytes > 0 ? (size_t)bytes : 0;
}
