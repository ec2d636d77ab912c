/* SPDX-License-Identifier: MIT */
/*
 * What a page or a tool asks for: the keys that `sandbox:` and a tool's mapping
 * share (statespace-page(7), Tools and statespace.toml(5)).  sandbox/policy.c
 * decides what is granted.
 */
#ifndef SS_PAGE_WANTS_H
#define SS_PAGE_WANTS_H

#include "page/value.h"

enum network_kind { NETWORK_UNSET, NETWORK_OFF, NETWORK_LISTED, NETWORK_ALL };

/* The page's `workspace:`: what its tools change while they run. */
enum workspace_kind {
	WORKS_UNSET,
	WORKS_HOST, /* the site itself, where [grant] write lets them */
	WORKS_OVERLAY,
	WORKS_AGENTFS
};

struct workspace_want {
	enum workspace_kind kind;
	const char *folder;            /* as written; NULL: the whole site */
	uint64_t max_bytes, max_files; /* 0: unset */
	double idle;                   /* seconds; 0: unset */
	struct node_place at, folder_at;
};

/* Do the tools run in a copy? */
static inline bool
workspace_is_wanted(const struct workspace_want *w)
{
	return w->kind == WORKS_OVERLAY || w->kind == WORKS_AGENTFS;
}

struct wants {
	struct name_list read, write, exec, unix_sockets;
	bool exec_any; /* exec: any */
	enum network_kind network;
	struct name_list network_targets;
	bool proc, proc_set;
	double timeout;                  /* seconds; 0: unset */
	uint64_t memory_bytes;           /* 0: unset */
	uint64_t processes;              /* 0: unset */
	struct workspace_want workspace; /* a page's alone */
	/* Of the keys that are no lists. */
	struct node_place exec_at, network_at, proc_at, timeout_at, memory_at,
		processes_at;
};

#define WANTS_KEYS                                                             \
	"network", "read", "write", "exec", "unix", "proc", "timeout",         \
		"memory_bytes", "processes"

/* Reads a `sandbox:` mapping. */
enum ss_err
wants_parse(const struct reading *r, const struct node *map, struct wants *out);
/* Reads a page's `workspace:`, a word or a mapping. */
enum ss_err workspace_want_parse(const struct reading *r, const struct node *n,
	struct workspace_want *out);
/* Reads those keys of a tool's mapping, whose keys were checked. */
enum ss_err
wants_read(const struct reading *r, const struct node *map, struct wants *out);

#endif
