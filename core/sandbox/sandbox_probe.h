/* SPDX-License-Identifier: MIT */
/* What this kernel and account can confine, for `statespace doctor`. */
#ifndef SS_SANDBOX_SANDBOX_PROBE_H
#define SS_SANDBOX_SANDBOX_PROBE_H

#include "sandbox/sandbox_plan.h"

struct sandbox_probe {
	const char *name; /* "user namespace", "landlock", ... */
	bool works;
	bool needed; /* for the best level of the mode */
	char detail[160];
	const char *remedy; /* NULL: none, or that of another probe */
};

/*
 * Tries every layer in children that are then ended; returns how many of the
 * cap probes were filled.  plan was prepared by sandbox_prepare.
 */
size_t sandbox_probe(
	const struct sandbox_plan *plan, struct sandbox_probe *out, size_t cap);

#endif
