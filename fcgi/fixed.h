/* SPDX-License-Identifier: MIT */
/*
 * Settings that are in force from the start of a pool to its end: those of its
 * socket.  A reload names each one whose new value has to wait for a restart.
 */
#ifndef FCGI_FIXED_H
#define FCGI_FIXED_H

#include "statespace.h"

#define FIXED_KEYS 5

struct fixed {
	char *values[FIXED_KEYS]; /* NULL: not watched */
};

/* Copies the values of site, at the start. */
void fixed_note(struct fixed *f, const struct ss_site *site);
/* One log line for each key that has another value in site. */
void fixed_tell(const struct fixed *f, const struct ss_site *site);
void fixed_release(struct fixed *f);

#endif
