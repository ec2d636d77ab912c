/* SPDX-License-Identifier: MIT */
/*
 * The web servers that `statespace serve` can start: which one is installed,
 * and how it is started on a socket that listens already.
 */
#ifndef FCGI_FRONT_H
#define FCGI_FRONT_H

#include <limits.h>
#include <signal.h>

#include "run_dir.h"

struct front {
	const char *name;
	const char *template; /* of its configuration, as installed */
	const char *file;     /* the one of a run, in its directory */
	int stop; /* the signal to finish open requests, then exit */
	char program[PATH_MAX];
};

/*
 * Finds the one that is wanted; lighttpd, with a line of log, where nginx is
 * wanted and not installed.  SS_CONFIG with a sentence: none is installed.
 */
enum ss_err
front_find(struct front *f, const char *wanted, struct ss_error *err);

/*
 * In a child: changes to the account and executes the server, with the
 * listening socket web, in a session of its own: it must not get a terminal's
 * SIGINT and SIGWINCH, at which nginx stops accepting.  Does not return.
 */
void front_become(const struct front *f, const struct run_dir *run, int web,
	const sigset_t *mask) __attribute__((noreturn));

#endif
