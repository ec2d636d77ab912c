/* SPDX-License-Identifier: MIT */
/*
 * The one static program of `make static` is its helper programs too.  Its
 * main.c and core/site/site.c are compiled with -DSS_ONE_PROGRAM: site.c then
 * has no directory of helpers, but this program, which is started by a helper's
 * name.
 */
#ifndef FCGI_ONE_PROGRAM_H
#define FCGI_ONE_PROGRAM_H

#include <stdbool.h>

/*
 * Before anything else in main: accounts and hosts are looked up in files and
 * by DNS from here on.  The C library would load the modules that
 * nsswitch.conf(5) names, which fit no static program.
 */
void one_program_begin(void);

/* False: argv[0] names no helper program.  Else it ran, *status is its exit. */
bool one_program_helper(int argc, char **argv, int *status);

#endif
