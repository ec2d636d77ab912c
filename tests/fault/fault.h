/* SPDX-License-Identifier: MIT */
/*
 * Calls that fail when a test wants them to.  The linker puts __wrap_NAME in
 * the place of each NAME that the test's first comment lists after "wrap:"
 * (ld --wrap); nothing of it is in the programs that are shipped.
 *
 *	FAULT(pipe2, int, -1, EMFILE, (int ends[2], int flags), (ends, flags))
 *
 * The counter is plain memory, so that it also counts in a child that shares
 * it until exec.
 */
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

static int fault_at;           /* the call that fails, from 1; 0: none */
static const char *fault_name; /* which one it was */

static bool
fault_now(const char *name)
{
	if (fault_at == 0 || --fault_at > 0)
		return false;
	fault_name = name;
	return true;
}

#define FAULT(name, type, value, number, params, args)                         \
	type __real_##name params;                                             \
	type __wrap_##name params;                                             \
	type __wrap_##name params                                              \
	{                                                                      \
		if (fault_now(#name)) {                                        \
			errno = number;                                        \
			return value;                                          \
		}                                                              \
		return __real_##name args;                                     \
	}

#endif
