/* SPDX-License-Identifier: MIT */
/*
 * Listening sockets: made here, or inherited.  All are close-on-exec and
 * non-blocking; none ever reaches a tool.
 */
#ifndef FCGI_LISTEN_H
#define FCGI_LISTEN_H

#include <stdbool.h>
#include <sys/types.h>

#include "statespace.h"

#define LISTEN_PATH_MAX 108 /* of a Unix socket: sun_path with its NUL */

struct listener {
	int fd;                     /* -1: none */
	char path[LISTEN_PATH_MAX]; /* "": nothing of ours in the file system */
	dev_t device;
	ino_t inode;
};

#define LISTENER_INIT ((struct listener){ .fd = -1 })

/* Who may connect to a Unix socket. */
struct listen_access {
	mode_t mode;
	uid_t owner; /* (uid_t)-1: as it is */
	gid_t group;
};

/*
 * Makes a Unix socket.  One left behind by a process that ended is replaced;
 * one that a process listens on, or a file that is no socket, is refused.
 * Nobody can connect before owner and mode are right.
 * Errors: SS_CONFIG with a sentence for the operator.
 */
enum ss_err listen_unix(struct listener *l, const char *path, int backlog,
	const struct listen_access *access, struct ss_error *err);

/*
 * Binds a TCP port; port 0 takes any free one.  address gets the real one as
 * a front server writes it, "127.0.0.1:8000" or "[::1]:8000".
 * Errors: SS_CONFIG; a taken port says so.
 */
enum ss_err listen_tcp(struct listener *l, const char *host, unsigned port,
	int backlog, char address[static 128], struct ss_error *err);

/*
 * Takes over the socket that systemd passed (LISTEN_FDS, whose variables are
 * then removed) or that is descriptor 0; a second one of systemd's is
 * for the status.  False: there is none.
 */
bool listen_inherit(struct listener *l, struct listener *status);

/* Closes it and removes the path if the file there is still ours. */
void listen_close(struct listener *l);

#endif
