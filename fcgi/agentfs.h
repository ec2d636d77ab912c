/* SPDX-License-Identifier: MIT */
/* The parts of statespace-agentfs. */
#ifndef FCGI_AGENTFS_H
#define FCGI_AGENTFS_H

#include <sys/stat.h>

#include "workspace/helper.h"

#define CHUNK 4096

/* Of the session, which is the current directory. */
struct agentfs {
	int session, upper;
	int base; /* the folder; descriptor 3 */
};

/* A call of a tool, for tool_calls. */
struct call {
	const char *name, *parameters; /* JSON */
	int64_t returncode, started_s, duration_ms;
};

/* Makes upper of the file.  0 or errno. */
int agentfs_load(struct agentfs *a);
/* Takes upper into the file with what the call changed.  0 or errno. */
int agentfs_save(struct agentfs *a, const struct call *call);
/* Fills ss_delta with upper as it is, without changes.  0 or errno. */
int agentfs_note(struct agentfs *a);
/* The whiteouts of a directory replaced by another are in its attribute. */
bool agentfs_is_opaque(int dir, const char *name);

#endif
