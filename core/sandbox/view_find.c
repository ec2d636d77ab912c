/* SPDX-License-Identifier: MIT */
#include "sandbox/view_find.h"

#include <limits.h>
#include <stdio.h>

#include "sandbox/grant_path.h"
#include "sandbox/view.h"
#include "sandbox/view_grants.h"

/* The files that view_enter writes, and what it mounts empty. */
static const char *const always_made[] = { "/etc/passwd", "/etc/group",
	"/etc/nsswitch.conf", VIEW_SCRATCH, NULL };
static const char *const made_without_network[] = { "/etc/hosts", NULL };
static const char *const made_with_proc[] = { "/proc", NULL };

/* In one of the trees, above one, or neither. */
static enum view_place
find_in(const char *const *trees, const char *path, enum view_place below)
{
	enum view_place found = VIEW_NOTHING;

	for (; *trees != NULL; trees++) {
		if (grant_path_is_below(path, *trees))
			return below;
		if (grant_path_is_below(*trees, path))
			found = VIEW_ITS_OWN;
	}
	return found;
}

static enum view_place
find_system(const char *path, unsigned keeps)
{
	static const char *const none[] = { NULL };
	bool network = keeps & KEEP_NETWORK;
	const struct {
		const char *const *trees;
		enum view_place below;
	} parts[] = {
		{ view_program_trees, VIEW_OF_HOST },
		{ view_devices, VIEW_OF_HOST },
		{ view_etc_entries, VIEW_OF_HOST },
		{ network ? view_etc_network : made_without_network,
			network ? VIEW_OF_HOST : VIEW_ITS_OWN },
		{ always_made, VIEW_ITS_OWN },
		{ keeps & KEEP_PROC ? made_with_proc : none, VIEW_ITS_OWN },
	};
	enum view_place found = VIEW_NOTHING, one;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		one = find_in(parts[i].trees, path, parts[i].below);
		if (one > found)
			found = one;
	}
	return found;
}

static bool
is_mounted_from(const char *from, const char *at, const char *path,
	char *outside, bool *top)
{
	const char *rest = path + strlen(at);

	if (from == NULL || from[0] == '\0' || !grant_path_is_below(path, at))
		return false;
	snprintf(outside, PATH_MAX, "%s%s", from, rest);
	*top = rest[0] == '\0';
	return true;
}

enum view_place
view_find(const struct view_plan *p, unsigned keeps, const char *inside,
	char *outside, bool *top)
{
	enum view_place found, system;

	*top = false;
	found = view_grants_find(p, keeps, inside, outside, top);
	if (found == VIEW_OF_HOST)
		return found;
	if (is_mounted_from(p->root, VIEW_SITE, inside, outside, top) ||
		is_mounted_from(p->libexec, VIEW_LIBEXEC, inside, outside, top))
		return VIEW_OF_HOST;
	system = find_system(inside, keeps);
	if (system == VIEW_OF_HOST)
		snprintf(outside, PATH_MAX, "%s", inside);
	return system > found ? system : found;
}
