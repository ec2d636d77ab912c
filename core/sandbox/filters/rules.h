/* SPDX-License-Identifier: MIT */
/*
 * Which system calls the filters refuse, and with which error.
 *
 * A list of refusals and not of permissions: lists of permissions broke with
 * every new libc (newfstatat, statx, clone3), and missing capabilities, the
 * view and Landlock bound what the other calls can do.  A refused call that is
 * new fails with ENOSYS, so that programs fall back; an old one with EPERM.
 */
#ifndef SS_SANDBOX_FILTERS_RULES_H
#define SS_SANDBOX_FILTERS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Since Linux 5.1 a new call has one number on every architecture. */
#define FIRST_COMMON_CALL 424

enum condition {
	ALWAYS,
	/* Of the argument: the bits of mask are value. */
	MASKED,
	/* All its 64 bits are value, or are not. */
	EQUAL,
	NOT_EQUAL
};

struct rule {
	const char *name; /* of the call */
	int number;       /* of a common call; 0: by the architecture */
	int error;
	enum condition condition;
	unsigned position; /* which argument */
	uint64_t mask, value;
	bool mounts; /* not refused to who has FILTER_MOUNTS */
};

extern const struct rule rules[];
extern const size_t rule_count;

/* For a process in a pid namespace of its own, beside the others. */
extern const struct rule rule_alone;

#endif
