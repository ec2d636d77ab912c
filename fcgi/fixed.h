/* SPDX-License-Identifier: MIT */
/*
 * Settings that only a restart changes: those of the pool's socket.  A reload
 * logs each one that has another value now.
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
