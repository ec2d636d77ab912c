/* SPDX-License-Identifier: MIT */
/*
 * The web servers that can stand in front of `statespace serve`: which one is
 * there, and how it is started on a socket that is listening already.
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
	int stop;             /* the signal: finish what is in hand, then go */
	char program[PATH_MAX];
};

/*
 * The one that is wanted; lighttpd where nginx is wanted and not installed,
 * which is said.  SS_CONFIG with a sentence: none is there.
 */
enum ss_err
front_find(struct front *f, const char *wanted, struct ss_error *err);

/*
 * In a child: becomes the account and the server, with the listening socket
 * web.  A session of its own: a terminal's Ctrl-C and resizing (WINCH stops a
 * master of nginx from accepting) are not for it.  Does not return.
 */
void front_become(const struct front *f, const struct run_dir *run, int web,
	const sigset_t *mask) __attribute__((noreturn));

#endif
