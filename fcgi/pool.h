/* SPDX-License-Identifier: MIT */
/*
 * The master of the workers.  It reads no client input and keeps whatever
 * account it was started with; a worker is a fork of it, confined by the
 * site, that takes connections from the shared listener one at a time.
 *
 * TERM, INT  finish the requests in hand (for [pool] stop_timeout), then leave
 * QUIT       the same without haste
 * HUP        read the configuration again; a bad one keeps everything as it is
 * USR1       open the log again
 */
#ifndef FCGI_POOL_H
#define FCGI_POOL_H

#include <signal.h>

#include "listen.h"
#include "options.h"
#include "served.h"

/* The second socket stands beside the first, its name with this added. */
#define POOL_STATUS_SUFFIX ".status"

/*
 * Blocks the master's signals, which it sees only while it waits; to be called
 * before the socket appears, since then somebody may send one.  open gets the
 * mask for waiting.
 */
void pool_signals(sigset_t *open);

/*
 * Runs until it is told to stop; returns the exit status.  Takes over
 * *served.  options are read again for a reload.  status is the socket for
 * health and figures; one without descriptor is none.
 */
int pool_run(struct served *served, const struct options *options,
	const struct listener *listener, const struct listener *status);

#endif
