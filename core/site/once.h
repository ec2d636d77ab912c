/* SPDX-License-Identifier: MIT */
/*
 * Which signatures were used: a table in shared memory, so that only one of all
 * workers accepts one.  Plain CGI starts the program for each request, so there
 * the table is always empty.
 */
#ifndef SS_SITE_ONCE_H
#define SS_SITE_ONCE_H

#include "base/base.h"

struct once;

/* Shared with every process that is forked later; NULL: mmap(2) failed. */
struct once *once_open(void);
void once_close(struct once *o);
/*
 * Notes the first six bytes of a signature that is valid until expires, in
 * seconds since 1970.  False: it was used before, or the table is full.
 */
bool once_use(struct once *o, const uint8_t *signature, int64_t expires);

#endif
