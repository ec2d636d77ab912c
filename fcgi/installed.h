/* SPDX-License-Identifier: MIT */
/*
 * The files that are installed with the program.  installed.c has them from
 * their directory, one_files.c in the program itself (make static).
 */
#ifndef FCGI_INSTALLED_H
#define FCGI_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* A template of nginx/, open for reading; NULL: there is none. */
FILE *installed_template(const char *name);
/* The directory of error pages for lighttpd; false: there is none. */
bool installed_errors(char path[static PATH_MAX]);

/* Is there a site for `statespace new` to begin with? */
bool installed_starter(void);
/*
 * Copies it, all but names with a dot, into the directory to.  False: errno
 * says why, and what was copied is left.  Nothing is overwritten.
 */
bool installed_starter_copy(int to);

#endif
