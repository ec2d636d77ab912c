/* SPDX-License-Identifier: MIT */
#include "parked.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define QUEUE_BYTES (1 << 20) /* the kernel may give less */

struct message {
	uint64_t begun_us;
	uint32_t id, params_len, body_len;
};

union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(2 * sizeof(int))];
};

bool
parked_open(int ends[2])
{
	const int size = QUEUE_BYTES;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0, ends) < 0) {
		ends[0] = ends[1] = -1;
		return false;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	return true;
}

void
parked_close(int ends[2])
{
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
}

bool
parked_put(const int ends[2], const struct parked_request *r, int fd)
{
	struct message m = { .begun_us = r->begun_us,
		.id = r->id,
		.params_len = (uint32_t)r->params_len,
		.body_len = (uint32_t)r->body_len };
	struct iovec parts[] = { { &m, sizeof(m) },
		{ (void *)(uintptr_t)r->params, r->params_len },
		{ (void *)(uintptr_t)r->body, r->body_len } };
	int fds[2] = { fd, r->saved };
	size_t fds_len = (r->unfinished ? 2 : 1) * sizeof(int);
	union control control = { .bytes = { 0 } };
	struct msghdr msg = { .msg_iov = parts,
		.msg_iovlen = 3,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(fds_len) };

	if (r->params_len > PARKED_MAX || r->body_len > PARKED_MAX ||
		r->params_len + r->body_len > PARKED_MAX)
		return false;
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(fds_len);
	memcpy(CMSG_DATA(&control.head), fds, fds_len);
	return sendmsg(ends[0], &msg, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
}

/* One descriptor or two; -1: none. */
static void
descriptors_in(struct msghdr *msg, int fds[static 2])
{
	struct cmsghdr *head = CMSG_FIRSTHDR(msg);

	fds[0] = fds[1] = -1;
	if (head == NULL || head->cmsg_type != SCM_RIGHTS)
		return;
	if (head->cmsg_len == CMSG_LEN(2 * sizeof(int)))
		memcpy(fds, CMSG_DATA(head), 2 * sizeof(int));
	else if (head->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fds, CMSG_DATA(head), sizeof(int));
}

int
parked_take(const int ends[2], struct parked_request *r)
{
	static char bytes[PARKED_MAX];
	struct message m;
	struct iovec parts[] = { { &m, sizeof(m) }, { bytes, sizeof(bytes) } };
	union control control;
	struct msghdr msg = { .msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t n = recvmsg(ends[1], &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	int fds[2] = { -1, -1 };

	if (n > 0)
		descriptors_in(&msg, fds);
	if (fds[0] < 0)
		return -1;
	if ((size_t)n < sizeof(m) ||
		(size_t)n != sizeof(m) + m.params_len + m.body_len) {
		close(fds[0]);
		if (fds[1] >= 0)
			close(fds[1]);
		return -1;
	}
	*r = (struct parked_request){ .begun_us = m.begun_us,
		.id = m.id,
		.params = bytes,
		.params_len = m.params_len,
		.body = bytes + m.params_len,
		.body_len = m.body_len,
		.unfinished = fds[1] >= 0,
		.saved = fds[1] };
	return fds[0];
}

uint64_t
parked_oldest(const int ends[2])
{
	uint64_t begun_us;

	if (recv(ends[1], &begun_us, sizeof(begun_us),
		    MSG_PEEK | MSG_DONTWAIT) != (ssize_t)sizeof(begun_us))
		return 0;
	return begun_us;
}
