/* SPDX-License-Identifier: MIT */
/*
 * Frames between two processes of one program, on a stream socket: a kind, a
 * length, and so many bytes, in this machine's byte order.  The kinds are the
 * users' (sandbox/launcher_wire.h, site/oneshot.c); neither end trusts a
 * length that the other sends.
 */
#ifndef SS_RUN_CHANNEL_H
#define SS_RUN_CHANNEL_H

#include "base/base.h"

/* Output is sent in pieces of at most so many bytes. */
#define CHANNEL_PIECE 65536

struct channel_head {
	uint32_t kind, len;
};

struct channel {
	int fd;
	/*
	 * Called before a read that would block; returns when there is
	 * something to read, false to give up.  NULL: the read blocks.
	 */
	bool (*wait)(void *ctx);
	void *ctx;
};

/* One frame, whole; no SIGPIPE.  0 or errno. */
int channel_send(
	const struct channel *c, unsigned kind, const void *data, size_t len);
/* The same in frames of at most CHANNEL_PIECE bytes; none for none. */
int channel_send_pieces(
	const struct channel *c, unsigned kind, const char *data, size_t len);

/*
 * The head of the next frame, whose bytes channel_read takes.  0; errno;
 * ECONNRESET when the other end has closed; ECANCELED when wait gave up;
 * EPROTO for more than `most` bytes.
 */
int channel_read_head(
	const struct channel *c, size_t most, struct channel_head *head);
int channel_read(const struct channel *c, void *out, size_t len);

#endif
