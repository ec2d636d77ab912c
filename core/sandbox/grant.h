/* SPDX-License-Identifier: MIT */
/* What the operator grants: [grant] and [limits], statespace.toml(5). */
#ifndef SS_SANDBOX_GRANT_H
#define SS_SANDBOX_GRANT_H

#include "page/wants.h"
#include "run/spawn.h"

struct path_list {
	const char *const *items;
	size_t count;
};

/*
 * The operator's ceiling: [grant] and [limits] of the configuration.  Paths
 * are relative to the site, or absolute; one that ends with '?' may be absent.
 * Borrowed by whoever is given it.
 */
struct grant {
	const char *root; /* the site, absolute: what relative paths mean */
	struct path_list read, write, unix_sockets;
	bool exec_any; /* else only the programs of exec */
	struct path_list exec;
	enum network_kind network; /* UNSET counts as OFF */
	struct path_list network_targets;
	bool http, proc;
	struct path_list workspace; /* folders of the site */
	uint64_t workspace_bytes,
		workspace_files; /* default and ceiling; 0: none */
	uint32_t workspace_idle_s;
	struct spawn_limits limits; /* the defaults, and the ceiling where */
	uint32_t timeout_ms;        /* these three are 0 */
	uint64_t memory_bytes, processes;
};

#endif
