/* SPDX-License-Identifier: MIT */
/*
 * Filling a struct ss_error, once, where the failure happens.  Every function
 * returns the code, so that a refusal is one line:
 *
 *	return error_set(err, SS_BAD_REQUEST, "the path holds a NUL byte");
 *
 * The message goes to the client: no path outside the site, no value of a
 * variable, nothing internal.  All accept err == NULL.
 */
#ifndef SS_BASE_ERROR_H
#define SS_BASE_ERROR_H

#include <errno.h>

#include "base/base.h"

enum ss_err error_set(struct ss_error *err, enum ss_err code,
	const char *message, ...) PRINTF_LIKE(3, 4);
/* What the client may do about it; added to a filled error. */
void error_hint(struct ss_error *err, const char *hint, ...) PRINTF_LIKE(2, 3);
/* For the operator only; added to a filled error. */
void
error_detail(struct ss_error *err, const char *detail, ...) PRINTF_LIKE(2, 3);
/* The line of the page that decided and what it says; 0: no line. */
void error_rule(struct ss_error *err, unsigned line, const char *rule, ...)
	PRINTF_LIKE(3, 4);
/*
 * The key of the configuration that decided, "grant.write", and what is to be
 * added to its list, or its value, to allow it; "": unknown.
 */
void error_setting(struct ss_error *err, const char *key, const char *value,
	...) PRINTF_LIKE(3, 4);
/*
 * SS_INTERNAL with a fixed sentence for the client; number is errno as it was
 * right after the call (0: none), detail names the call and its object.
 */
enum ss_err error_internal(struct ss_error *err, int number, const char *detail,
	...) PRINTF_LIKE(3, 4);
/* Inline: the compiler sees that it is no success. */
static inline enum ss_err
error_memory(struct ss_error *err)
{
	(void)error_internal(err, ENOMEM, "out of memory");
	return SS_INTERNAL;
}
void error_clear(struct ss_error *err);

#endif
