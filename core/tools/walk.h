/* SPDX-License-Identifier: MIT */
/*
 * What the file tools share among themselves: one directory, read and sorted.
 */
#ifndef SS_TOOLS_WALK_H
#define SS_TOOLS_WALK_H

#include "tools/files.h"

enum tool_entry_type { ENTRY_FILE, ENTRY_DIR, ENTRY_LINK, ENTRY_OTHER };

struct tool_entry {
	const char *name;
	enum tool_entry_type type;
};

struct tool_entries {
	struct tool_entry *items; /* in the arena, by name; no dot entries */
	size_t count;
	bool truncated; /* the directory holds more than TOOL_VISITS */
};

/* Takes *fd, also when it fails. */
enum ss_err tool_entries(struct arena *arena, int *fd, struct tool_entries *out,
	struct ss_error *err);
/*
 * root_find beneath dir: links stay beneath it and name no dot entry.
 * Close-on-exec and non-blocking; -1 and errno.
 */
int tool_open_beneath(int dir, const char *path, int flags);
/* Does a link in path name a dot entry?  Then nothing is there. */
bool tool_leads_hidden(int dir, const char *path);

#endif
