/* SPDX-License-Identifier: MIT */
/*
 * What the file tools share among themselves: one directory, read and sorted.
 */
#ifndef SS_TOOLS_WALK_H
#define SS_TOOLS_WALK_H

#include "files/walk.h"
#include "tools/files.h"

/*
 * walk_read by name, of at most TOOL_VISITS entries.  Takes *fd, also when it
 * fails.
 */
enum ss_err tool_entries(struct arena *arena, int *fd, struct walk_list *out,
	struct ss_error *err);
/*
 * root_find beneath dir: links stay beneath it and name no dot entry.
 * Close-on-exec and non-blocking; -1 and errno.
 */
int tool_open_beneath(int dir, const char *path, int flags);
/* Does a link in path name a dot entry?  Then nothing is there. */
bool tool_leads_hidden(int dir, const char *path);

#endif
