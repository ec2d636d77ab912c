/* SPDX-License-Identifier: MIT */
/* The page's key `workspace:` (statespace-page(7)). */
#include "page/near.h"
#include "page/wants.h"

static enum ss_err
read_kind(const struct reading *r, const struct node *n,
	struct workspace_want *out)
{
	static const char *const words[] = { "host", "overlay", "agentfs" };
	const char *near;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind != NODE_STRING)
		return value_refuse(r, n, "host, overlay or agentfs",
			"write workspace: overlay");
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_is((struct ss_text){ n->text, n->len }, words[i])) {
			out->kind = (enum workspace_kind)(WORKS_HOST + i);
			return SS_OK;
		}
	near = near_key(
		(struct ss_text){ n->text, n->len }, words, ARRAY_LEN(words));
	return value_refuse(r, n, "host, overlay or agentfs",
		"write workspace: %s", near != NULL ? near : "overlay");
}

static enum ss_err
read_numbers(const struct reading *r, const struct node *map,
	struct workspace_want *out)
{
	const struct node *n;
	enum ss_err e = SS_OK;

	if ((n = node_member(map, "max_bytes")) != NULL)
		e = value_go_on(r, value_count(r, n, &out->max_bytes));
	if (e == SS_OK && (n = node_member(map, "max_files")) != NULL)
		e = value_go_on(r, value_count(r, n, &out->max_files));
	if (e == SS_OK && (n = node_member(map, "idle")) != NULL)
		e = value_seconds(r, n, &out->idle);
	return e;
}

static enum ss_err
read_map(const struct reading *r, const struct node *map,
	struct workspace_want *out)
{
	static const char *const keys[] = { "backend", "folder", "max_bytes",
		"max_files", "idle" };
	const struct node *n;
	enum ss_err e = value_go_on(r,
		value_keys(r, map, keys, ARRAY_LEN(keys),
			"a key of workspace (backend, folder, max_bytes, "
			"max_files, idle)"));

	if (e != SS_OK)
		return e;
	n = node_member(map, "backend");
	if (n == NULL)
		return value_refuse_found(r, map, "no backend",
			"host, overlay or agentfs",
			"write workspace: { backend: overlay }");
	e = value_go_on(r, read_kind(r, n, out));
	if (e == SS_OK && (n = node_member(map, "folder")) != NULL) {
		e = value_go_on(r, value_text(r, n, &out->folder));
		out->folder_at = (struct node_place){ n->line, n->column };
	}
	return e == SS_OK ? read_numbers(r, map, out) : e;
}

enum ss_err
workspace_want_parse(const struct reading *r, const struct node *n,
	struct workspace_want *out)
{
	out->at = (struct node_place){ n->key->line, n->key->column };
	return n->kind == NODE_MAP ? read_map(r, n, out) : read_kind(r, n, out);
}
