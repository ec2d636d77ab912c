/* SPDX-License-Identifier: MIT */
#include "site/state_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "sandbox/grant_path.h"

/* What tools see of one path; real is NULL where it leads nowhere. */
struct shown {
	const char *path, *real;
};

/* Is the directory below what is shown, or that below one of its folders? */
static bool
is_shown(const char *state, const struct shown *s)
{
	static const char *const folders[] = { "jobs", "once", "workspaces" };
	char folder[PATH_MAX + 16];

	if (grant_path_is_below(state, s->path) ||
		grant_path_is_below(state, s->real))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		snprintf(folder, sizeof(folder), "%s/%s", state, folders[i]);
		if (grant_path_is_below(s->path, folder) ||
			(s->real != NULL &&
				grant_path_is_below(s->real, folder)))
			return true;
	}
	return false;
}

/* Below a dot entry of the root, which every view masks. */
static bool
is_masked(const char *state, const char *root)
{
	size_t n = strlen(root);

	return n > 1 && strncmp(state, root, n) == 0 && state[n] == '/' &&
		state[n + 1] == '.';
}

/* Is it below the root, or in it, and no tool is kept from it? */
static bool
path_shows(const char *state, const char *path, const char *root)
{
	char *real = realpath(path, NULL);
	char *top = root != NULL ? realpath(root, NULL) : NULL;
	const struct shown s = { path, real };
	bool whole = top != NULL && real != NULL && strcmp(real, top) == 0;
	bool shown = is_shown(state, &s) && !(whole && is_masked(state, real));

	free(real);
	free(top);
	return shown;
}

static bool
list_shows(const char *state, const struct path_list *list, const char *root,
	struct state *s, const char *key)
{
	char path[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < list->count; i++) {
		/* A bare name of a program is looked up. */
		if (strchr(list->items[i], '/') == NULL &&
			strcmp(key, "exec") == 0)
			continue;
		if (!grant_path_outside(list->items[i], root, path,
			    sizeof(path), &optional) ||
			!path_shows(state, path, root))
			continue;
		snprintf(s->why, sizeof(s->why),
			"tools reach it by [grant] %s: %.160s", key,
			list->items[i]);
		return true;
	}
	return false;
}

static bool
site_shows(const char *state, const char *root, const struct grant *g,
	struct state *s)
{
	if (root != NULL && root[0] != '\0' && path_shows(state, root, root)) {
		snprintf(s->why, sizeof(s->why),
			"tools reach it in the site %.160s", root);
		return true;
	}
	return g != NULL &&
		(list_shows(state, &g->read, root, s, "read") ||
			list_shows(state, &g->write, root, s, "write") ||
			list_shows(state, &g->unix_sockets, root, s,
				"unix_sockets") ||
			list_shows(state, &g->exec, root, s, "exec"));
}

static bool
plan_shows(const struct sandbox_plan *plan, struct state *s)
{
	char *real = realpath(s->path, NULL);
	bool shown = false;

	if (real == NULL) {
		snprintf(s->why, sizeof(s->why), "realpath: %s",
			strerror(errno));
		return true;
	}
	shown = site_shows(real, plan->root, plan->grant, s);
	for (size_t i = 0; i < plan->site_count && !shown; i++)
		shown = site_shows(
			real, plan->sites[i].root, plan->sites[i].grant, s);
	free(real);
	return shown;
}

enum ss_err
state_place_open(struct state *s, const struct sandbox_plan *plan,
	const char *directory, struct ss_error *err)
{
	enum ss_err code = state_open(s, directory, plan->account.own_uid,
		plan->account.own_gid, err);

	if (code != SS_OK || s->fd < 0 || !plan_shows(plan, s))
		return code;
	state_close(s);
	s->looked = true;
	if (strcmp(directory, "auto") == 0)
		return SS_OK;
	error_set(
		err, SS_CONFIG, "[state] directory %s: %s", directory, s->why);
	error_hint(err, "name one that neither the site nor a grant holds");
	return SS_CONFIG;
}
