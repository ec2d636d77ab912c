/* SPDX-License-Identifier: MIT */
/*
 * A filter in the making.
 *
 * Its first part is written by hand: the calls that have one number on every
 * architecture.  Old versions of libseccomp do not know the newest of them, and
 * none lets a rule name a number for another machine than its own.  The second
 * part is libseccomp's.
 */
#ifndef SS_SANDBOX_FILTERS_PROGRAM_H
#define SS_SANDBOX_FILTERS_PROGRAM_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/filters/rules.h"

/* The kernel takes no longer one, bpf(4). */
#define PROGRAM_MAX 4096

struct program {
	struct sock_filter code[PROGRAM_MAX];
	size_t count;
	bool failed; /* too long, or a rule was not possible */
};

/*
 * Appends what refuses the common calls among these rules, for processes of the
 * architecture; others, and other calls, go on behind it.
 */
void program_refuse_common(struct program *p, uint32_t arch,
	const struct rule *from, size_t count, bool alone, bool mounts);

#endif
