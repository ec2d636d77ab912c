/* SPDX-License-Identifier: MIT */
#include "tools/walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"

static int
compare(const void *left, const void *right)
{
	const struct tool_entry *a = left, *b = right;

	return strcmp(a->name, b->name);
}

/* Some file systems do not say it in the directory. */
static enum tool_entry_type
type_of(DIR *dir, const struct dirent *entry)
{
	struct stat st;

	switch (entry->d_type) {
	case DT_REG: return ENTRY_FILE;
	case DT_DIR: return ENTRY_DIR;
	case DT_LNK: return ENTRY_LINK;
	case DT_UNKNOWN: break;
	default: return ENTRY_OTHER;
	}
	if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return ENTRY_OTHER;
	return S_ISREG(st.st_mode)    ? ENTRY_FILE
		: S_ISDIR(st.st_mode) ? ENTRY_DIR
		: S_ISLNK(st.st_mode) ? ENTRY_LINK
				      : ENTRY_OTHER;
}

/* The list doubles; what it leaves in the arena is as much again. */
static bool
add(struct arena *arena, struct tool_entries *list, size_t *cap, DIR *dir,
	const struct dirent *entry)
{
	struct tool_entry *grown;

	if (list->count == *cap) {
		*cap = *cap != 0 ? *cap * 2 : 32;
		grown = arena_array(arena, *cap, sizeof(*grown));
		if (grown == NULL)
			return false;
		if (list->count > 0)
			memcpy(grown, list->items,
				list->count * sizeof(*grown));
		list->items = grown;
	}
	list->items[list->count] = (struct tool_entry){
		arena_copy(arena, entry->d_name, strlen(entry->d_name)),
		type_of(dir, entry),
	};
	return list->items[list->count++].name != NULL;
}

enum ss_err
tool_entries(struct arena *arena, int *fd, struct tool_entries *out,
	struct ss_error *err)
{
	DIR *dir = fdopendir(*fd);
	struct dirent *entry;
	size_t cap = 0;
	bool memory = true;
	int number;

	*out = (struct tool_entries){ 0 };
	if (dir == NULL) {
		number = errno;
		fd_close(fd);
		return tool_failed(number, "the directory", "read", err);
	}
	*fd = -1;
	while (memory && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		out->truncated = out->count == TOOL_VISITS;
		if (out->truncated)
			break;
		memory = add(arena, out, &cap, dir, entry);
	}
	closedir(dir);
	if (!memory)
		return error_memory(err);
	if (out->count > 0)
		qsort(out->items, out->count, sizeof(*out->items), compare);
	return SS_OK;
}
