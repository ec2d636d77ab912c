/* SPDX-License-Identifier: MIT */
#include "site/workspaces.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "sandbox/overlay.h"
#include "site/state_place.h"

/* The longest path of the state directory, and the folder's name. */
static char store_path[sizeof(((struct state *)0)->path) + 16];

static enum ss_err
open_state(struct state *state, const struct sandbox_plan *plan,
	const struct config *config, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	if (!state->looked)
		code = state_place_open(
			state, plan, config->state.directory, err);
	return code == SS_OK ? state_needed(state, err) : code;
}

enum ss_err
workspaces_open_store(struct sandbox_plan *plan, struct state *state,
	const struct config *config, struct ss_error *err)
{
	enum ss_err code;

	if (plan->store_fd >= 0)
		return SS_OK;
	code = open_state(state, plan, config, err);
	if (code != SS_OK)
		return code;
	plan->store_fd = state_folder(state->fd, OVERLAY_STORE);
	if (plan->store_fd >= 0 && plan->account.drop &&
		fchown(plan->store_fd, plan->account.own_uid,
			plan->account.own_gid) < 0)
		fd_close(&plan->store_fd);
	if (plan->store_fd < 0)
		return error_internal(err, errno, "state: " OVERLAY_STORE);
	snprintf(store_path, sizeof(store_path), "%s/" OVERLAY_STORE,
		state->path);
	plan->store = store_path;
	return SS_OK;
}

static uint64_t
least_of(uint64_t asked, uint64_t most)
{
	return asked == 0 ? most : asked;
}

static const char *
clean_folder(const char *folder)
{
	if (folder == NULL)
		return "";
	while (strncmp(folder, "./", 2) == 0)
		folder += 2;
	return strcmp(folder, ".") == 0 ? "" : folder;
}

void
workspaces_fill(struct workspace_use *out, const struct config *config,
	const struct workspace_want *want, const char *page, const char *caller)
{
	*out = WORKSPACE_USE_INIT;
	out->commits = config->workspace.commit;
	out->total_bytes = config->workspace.total_bytes;
	out->sessions_max = config->workspace.max;
	out->meta.owner = (struct workspace_owner){ .root = config->root,
		.page = page,
		.caller = caller != NULL ? caller : "" };
	if (want == NULL)
		return;
	out->meta.backend = want->kind == WORKS_AGENTFS ? WORKSPACE_AGENTFS
							: WORKSPACE_OVERLAY;
	out->meta.folder = clean_folder(want->folder);
	out->meta.bytes_max =
		least_of(want->max_bytes, config->workspace.max_bytes);
	out->meta.files_max =
		least_of(want->max_files, config->workspace.max_files);
	out->meta.idle_s = want->idle > 0 ? (uint32_t)want->idle
					  : (uint32_t)config->workspace.idle;
}
