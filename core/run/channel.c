/* SPDX-License-Identifier: MIT */
#include "run/channel.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

static int
send_all(int fd, const char *data, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = send(fd, data, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EPIPE;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* In one call: the reader wakes once, and finds the frame whole. */
int
channel_send(
	const struct channel *c, unsigned kind, const void *data, size_t len)
{
	struct channel_head head = { kind, (uint32_t)len };
	struct iovec parts[2] = { { &head, sizeof(head) },
		{ (void *)(uintptr_t)data, len } };
	const struct msghdr whole = { .msg_iov = parts, .msg_iovlen = 2 };
	size_t sent;
	ssize_t n;
	int e;

	if (len > UINT32_MAX)
		return EMSGSIZE;
	do
		n = sendmsg(c->fd, &whole, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? errno : EPIPE;
	sent = (size_t)n;
	if (sent >= sizeof(head)) {
		sent -= sizeof(head);
		return send_all(c->fd, (const char *)data + sent, len - sent);
	}
	e = send_all(c->fd, (const char *)&head + sent, sizeof(head) - sent);
	return e != 0 ? e : send_all(c->fd, data, len);
}

int
channel_send_pieces(
	const struct channel *c, unsigned kind, const char *data, size_t len)
{
	int e = 0;

	while (len > 0 && e == 0) {
		size_t n = len < CHANNEL_PIECE ? len : CHANNEL_PIECE;

		e = channel_send(c, kind, data, n);
		data += n;
		len -= n;
	}
	return e;
}

/* wait is asked before the first read: most frames are still to come. */
static int
read_all(const struct channel *c, char *out, size_t len, bool expect_wait)
{
	int flags = c->wait != NULL ? MSG_DONTWAIT : 0;
	ssize_t n;

	while (len > 0) {
		if (expect_wait && c->wait != NULL && !c->wait(c->ctx))
			return ECANCELED;
		expect_wait = false;
		n = recv(c->fd, out, len, flags);
		if (n < 0 && errno == EAGAIN)
			expect_wait = true;
		else if (n == 0)
			return ECONNRESET;
		else if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0) {
			out += n;
			len -= (size_t)n;
		}
	}
	return 0;
}

int
channel_read_head(
	const struct channel *c, size_t most, struct channel_head *head)
{
	int e = read_all(c, (char *)head, sizeof(*head), true);

	return e == 0 && head->len > most ? EPROTO : e;
}

int
channel_read(const struct channel *c, void *out, size_t len)
{
	return read_all(c, out, len, false);
}
