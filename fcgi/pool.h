/* SPDX-License-Identifier: MIT */
/*
 * The supervisor of the workers.  It reads no client input and keeps the
 * account it was started with.  A worker is a confined fork of it that accepts
 * connections from the shared listener, one at a time.
 *
 * TERM, INT  finish the requests that run (for [pool] stop_timeout), then leave
 * QUIT       the same without haste: [pool] drain first, then as long as they
 *            may take
 * HUP        read the configuration again; a bad one keeps everything as it is
 * USR1       open the log again
 */
#ifndef FCGI_POOL_H
#define FCGI_POOL_H

#include <signal.h>

#include "listen.h"
#include "options.h"
#include "served.h"

/* The path of the second socket is that of the first with this suffix. */
#define POOL_STATUS_SUFFIX ".status"

/*
 * Blocks the supervisor's signals, which arrive while it waits.  To be called
 * before the socket exists, since then somebody may send one.  open gets the
 * mask for waiting.
 */
void pool_signals(sigset_t *open);

/*
 * Runs until it is told to stop; returns the exit status.  Frees *served.
 * options are read again for a reload.  status is the socket for health and
 * figures; one without descriptor is none.
 */
int pool_run(struct served *served, const struct options *options,
	const struct listener *listener, const struct listener *status);

#endif
