/* SPDX-License-Identifier: MIT */
/*
 * What a page or a tool asks for: the keys that `sandbox:` and a tool's mapping
 * share (statespace-page(7), Tools and statespace.toml(5)).  Whether it is
 * granted is policy's to say.
 */
#ifndef SS_PAGE_WANTS_H
#define SS_PAGE_WANTS_H

#include "page/value.h"

#define WANTS_KEYS                                                             \
	"network", "read", "write", "exec", "unix", "proc", "timeout",         \
		"memory_bytes", "processes"

/* Reads those keys of a mapping whose keys were checked. */
enum ss_err
wants_read(const struct reading *r, const struct node *map, struct wants *out);

#endif
