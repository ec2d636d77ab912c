/* SPDX-License-Identifier: MIT */
/*
 * Calls that fail when a test wants them to.  The linker puts __wrap_NAME in
 * the place of each NAME that the test's first comment lists after "wrap:"
 * (ld --wrap); nothing of it is in the programs that are shipped.
 *
 *	FAULT(pipe2, int, -1, EMFILE, (int ends[2], int flags), (ends, flags))
 *
 * The counter is plain memory, so that it also counts in a child that shares
 * it until exec; a test whose children are copies of it maps a shared one.
 */
#ifndef FAULT_H
#define FAULT_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct fault {
	int at;           /* the call that fails, from 1; 0: none */
	const char *name; /* which one it was */
};

static struct fault fault_own, *fault = &fault_own;
#define fault_at (fault->at)
#define fault_name (fault->name)

static bool
fault_now(const char *name)
{
	if (fault_at == 0 ||
		__atomic_sub_fetch(&fault_at, 1, __ATOMIC_RELAXED) != 0)
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

/*
 * The words of a call with a variable end, as many as any such call has: also
 * words that nobody gave, so that its wrapper is FAULT_UNCHECKED.
 */
#define FAULT_UNCHECKED __attribute__((no_sanitize_address))
#define FAULT_WORDS(words, last)                                               \
	do {                                                                   \
		va_list more;                                                  \
                                                                               \
		va_start(more, last);                                          \
		for (size_t i = 0; i < sizeof(words) / sizeof(*(words)); i++)  \
			(words)[i] = va_arg(more, long);                       \
		va_end(more);                                                  \
	} while (0)

/* HTTP's 500 or JSON-RPC's internal error. */
static inline bool
is_internal(int status, const char *body)
{
	return status == 500 || strstr(body, "-32603") != NULL;
}

/*
 * An answer under a fault.
 * whole    what it is without one.
 * least    what an answer of the same status must hold at least; NULL: all.
 */
static inline bool
is_honest(int status, const char *body, int expected, const char *whole,
	const char *least)
{
	if (is_internal(status, body))
		return true;
	if (status != expected)
		return false;
	return least != NULL ? strstr(body, least) != NULL
			     : strcmp(body, whole) == 0;
}

#endif
