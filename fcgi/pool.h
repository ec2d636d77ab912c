/* SPDX-License-Identifier: MIT */
/*
 * The master of the workers.  It reads no client input and keeps whatever
 * account it was started with; a worker is a fork of it, confined by the
 * site, that takes connections from the shared listener one at a time.
 *
 * TERM, INT  finish the requests in hand (for POOL_STOP_S), then leave
 * QUIT       the same without haste
 * HUP        read the configuration again; a bad one keeps everything as it is
 * USR1       open the log again
 */
#ifndef FCGI_POOL_H
#define FCGI_POOL_H

#include "listen.h"
#include "options.h"
#include "served.h"

#define POOL_STOP_S 5

/*
 * Runs until it is told to stop; returns the exit status.  Takes over
 * *served.  options are read again for a reload.
 */
int pool_run(struct served *served, const struct options *options,
	const struct listener *listener);

#endif
