/* SPDX-License-Identifier: MIT */
/* What a worker gives up at its start, so that only a launcher has it. */
#ifndef SS_SANDBOX_KEEPS_H
#define SS_SANDBOX_KEEPS_H

enum {
	KEEP_NETWORK = 1 << 0,  /* the host's network */
	KEEP_UNIX = 1 << 1,     /* sockets that the operator granted */
	KEEP_PROC = 1 << 2,     /* a /proc of its own pid namespace */
	KEEP_WORKSPACE = 1 << 3 /* mounts, and the sessions of workspaces */
};

#endif
