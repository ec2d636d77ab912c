/* SPDX-License-Identifier: MIT */
#include "site/workspace_act.h"

#include "base/error.h"
#include "site/executor.h"
#include "site/workspaces.h"
#include "wire/path.h"

enum ss_err
workspace_of_page(const struct config *config, struct page *page,
	const char *path, const char *caller, struct workspace_use *out,
	struct ss_error *err)
{
	if (page != NULL && page->error.code != SS_OK) {
		if (err != NULL)
			*err = page->error;
		return page->error.code;
	}
	for (size_t i = 0; page != NULL && i < page->rights.count; i++) {
		const struct powers *p = &page->rights.tools[i].powers;

		if (!(p->keeps & KEEP_WORKSPACE))
			continue;
		workspaces_fill(out, config, &p->asked.workspace, path, caller);
		return SS_OK;
	}
	error_set(err, SS_NOT_ALLOWED,
		"no tool of this page runs in a workspace");
	error_hint(err, "the page's author writes workspace: overlay");
	return SS_NOT_ALLOWED;
}

/* As a command of a page without a program. */
enum ss_err
workspace_act(const struct call_parts *parts, const struct workspace_use *use,
	const char *page, struct ss_result *result, struct ss_error *err)
{
	char nothing[] = "-";
	char *const argv[] = { nothing, NULL };
	char *const envp[] = { NULL };
	const char *dir = arena_copy(parts->arena, page, path_dir_len(page));
	struct right right = { .ready = true,
		.ruleset = RULESET_INIT,
		.powers = { .keeps = KEEP_WORKSPACE },
		.ask = { .page_dir = dir },
		.policy = { .page_dir = dir,
			.site = sandbox_self()->number,
			.keeps = KEEP_WORKSPACE } };
	const struct ss_command cmd = { .size = sizeof(cmd),
		.page = page,
		.argv = argv,
		.envp = envp,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.max_output_bytes = WORKSPACE_ANSWER_MAX,
		.policy = &right,
		.workspace = use };

	if (dir == NULL)
		return error_memory(err);
	return parts->executor->run(parts->executor->ctx, &cmd, result, err);
}
