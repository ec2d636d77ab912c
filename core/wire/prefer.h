/* SPDX-License-Identifier: MIT */
/* The header Prefer (RFC 7240).  Pure. */
#ifndef SS_WIRE_PREFER_H
#define SS_WIRE_PREFER_H

#include "base/base.h"

/*
 * The value of a preference, as "10" for wait=10; empty for one without a value,
 * which is in quotes or not.  False: header does not name it; NULL: nothing.
 */
bool prefer_find(const char *header, const char *name, struct ss_text *value);
/* wait=SECONDS in milliseconds, at most a day; 0: none, or no number. */
uint32_t prefer_wait_ms(const char *header);

#endif
