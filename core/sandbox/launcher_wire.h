/* SPDX-License-Identifier: MIT */
/*
 * What worker and launcher send each other.  Each run has a connection of its
 * own, whose other end goes over the launcher's socket with the relayed
 * standard input.  On it the worker sends one frame, the command and its
 * policy; the launcher sends output while it comes, then how it ended or why it
 * was refused.  The worker cancels a run by closing its sending side.
 *
 *	worker					launcher
 *	  connection and input, SCM_RIGHTS --->
 *	  LAUNCHER_COMMAND		   --->
 *	  <---				LAUNCHER_OUT, _ERR, _PROGRESS, ...
 *	  <---				LAUNCHER_END or LAUNCHER_REFUSED
 */
#ifndef SS_SANDBOX_LAUNCHER_WIRE_H
#define SS_SANDBOX_LAUNCHER_WIRE_H

#include "base/arena.h"
#include "run/channel.h"
#include "sandbox/policy.h"

/* The first two are the numbers of the streams. */
enum launcher_frame {
	LAUNCHER_OUT = 1,
	LAUNCHER_ERR = 2,
	LAUNCHER_END = 3,
	LAUNCHER_REFUSED = 4,
	LAUNCHER_COMMAND = 5,
	LAUNCHER_PROGRESS = 6,
	LAUNCHER_WORKSPACE = 7 /* pieces of what is told of it */
};

#define LAUNCHER_COMMAND_MAX ((size_t)24 << 20) /* 1 MiB of words, and input */

/*
 * Values as bytes.  put appends and returns false when out is full; get reads
 * texts into arena and returns false for what is malformed.
 */
bool launcher_put_command(
	struct buf *out, const struct policy *p, const struct spawn *s);
bool launcher_get_command(struct arena *arena, const char *data, size_t len,
	struct policy *p, struct spawn *s);

/* clean: the launcher can run another command. */
bool
launcher_put_end(struct buf *out, const struct spawn_result *r, bool clean);
bool launcher_get_end(
	const char *data, size_t len, struct spawn_result *r, bool *clean);

bool launcher_put_refusal(struct buf *out, const struct ss_error *err);
bool launcher_get_refusal(const char *data, size_t len, struct ss_error *err);

/* The descriptors of a run, beside one byte; input may be -1. */
bool launcher_send_run(int socket, int connection, int input);
/* False: the other end has closed.  fds: connection, input or -1. */
bool launcher_receive_run(int socket, int fds[2]);

#endif
