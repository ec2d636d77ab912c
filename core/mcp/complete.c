/* SPDX-License-Identifier: MIT */
#include "mcp/complete.h"
#include "mcp/prompts.h"

#define VALUES_MAX 100 /* of the specification */

/* Arguments of these names are paths of pages. */
static bool
is_path_argument(const char *name)
{
	return strcmp(name, "path") == 0 || strcmp(name, "page") == 0 ||
		strcmp(name, "file") == 0;
}

static void
complete_paths(struct mcp *m, const struct catalog *c, const char *start)
{
	size_t total = 0;

	for (size_t i = 0; i < c->page_count; i++) {
		const char *path = c->pages[i].path;

		if (strncmp(path, start, strlen(start)) != 0 ||
			total++ >= VALUES_MAX)
			continue;
		mcp_comma(m);
		mcp_string(m, path);
	}
	buf_printf(m->out, "],\"total\":%zu,\"hasMore\":%s}", total,
		total > VALUES_MAX ? "true" : "false");
}

enum rpc_code
mcp_complete(struct mcp *m)
{
	const struct rpc_value *ref = rpc_member(m->rpc.params, "ref");
	const struct rpc_value *argument =
		rpc_member(m->rpc.params, "argument");
	const char *type = rpc_text(rpc_member(ref, "type"));
	const char *prompt = rpc_text(rpc_member(ref, "name"));
	const char *name = rpc_text(rpc_member(argument, "name"));
	const char *value = rpc_text(rpc_member(argument, "value"));
	bool is_prompt = type != NULL && strcmp(type, "ref/prompt") == 0;
	struct catalog *c;

	if (type == NULL || name == NULL || value == NULL ||
		(is_prompt ? prompt == NULL
			   : strcmp(type, "ref/resource") != 0))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"params\" needs \"ref\" and \"argument\"");
	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	if (is_prompt && mcp_prompts_page(c, prompt) == NULL)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"there is no prompt \"%.100s\"", prompt);
	mcp_key(m, "completion");
	buf_text(m->out, "{\"values\":[");
	if (is_path_argument(name))
		complete_paths(m, c, value);
	else
		buf_text(m->out, "],\"total\":0,\"hasMore\":false}");
	return RPC_OK;
}
