/* SPDX-License-Identifier: MIT */
/*
 * Which signed agreements of a person were used: a table in shared memory, so
 * that of all workers one runs the tool.  A site that starts anew for each
 * request, as under plain CGI, has an empty one.
 */
#ifndef SS_SITE_ONCE_H
#define SS_SITE_ONCE_H

#include "base/base.h"

struct once;

/* Shared with every process that is forked afterwards; NULL: no memory. */
struct once *once_open(void);
void once_close(struct once *o);
/*
 * Notes the first six bytes of a signature that is valid until expires, in
 * seconds since 1970.  False: it was used before, or the table is full.
 */
bool once_use(struct once *o, const uint8_t *signature, int64_t expires);

#endif
