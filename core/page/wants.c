/* SPDX-License-Identifier: MIT */
#include "page/wants.h"

static struct node_place
key_place(const struct node *n)
{
	return (struct node_place){ n->key->line, n->key->column };
}

/* An absent key is SS_OK and keeps its default. */
static enum ss_err
read_list(const struct reading *r, const struct node *map, const char *key,
	struct name_list *out)
{
	const struct node *n = node_member(map, key);

	return n != NULL ? value_go_on(r, value_names(r, n, out)) : SS_OK;
}

static enum ss_err
read_exec(const struct reading *r, const struct node *map, struct wants *out)
{
	const struct node *n = node_member(map, "exec");

	if (n == NULL)
		return SS_OK;
	if (n->kind == NODE_STRING && !n->tagged) {
		if (!text_is((struct ss_text){ n->text, n->len }, "any"))
			return value_refuse(r, n, "a list of programs, or any",
				"write exec: [%.100s]", n->text);
		out->exec_any = true;
		out->exec_at = key_place(n);
		return SS_OK;
	}
	return value_names(r, n, &out->exec);
}

static enum ss_err
read_network(const struct reading *r, const struct node *map, struct wants *out)
{
	const struct node *n = node_member(map, "network");
	bool all = false;

	if (n == NULL)
		return SS_OK;
	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_LIST) {
		out->network = NETWORK_LISTED;
		return value_names(r, n, &out->network_targets);
	}
	if (!value_is_bool(n, &all))
		return value_refuse(r, n, "true, false or a list of targets",
			"write network: [\"host:port\"]");
	out->network_at = key_place(n);
	out->network = all ? NETWORK_ALL : NETWORK_OFF;
	return SS_OK;
}

static enum ss_err
read_limits(const struct reading *r, const struct node *map, struct wants *out)
{
	const struct node *n;
	enum ss_err e = SS_OK;

	if ((n = node_member(map, "timeout")) != NULL) {
		e = value_go_on(r, value_seconds(r, n, &out->timeout));
		out->timeout_at = key_place(n);
	}
	if (e == SS_OK && (n = node_member(map, "memory_bytes")) != NULL) {
		e = value_go_on(r, value_count(r, n, &out->memory_bytes));
		out->memory_at = key_place(n);
	}
	if (e == SS_OK && (n = node_member(map, "processes")) != NULL) {
		e = value_count(r, n, &out->processes);
		out->processes_at = key_place(n);
	}
	return e;
}

enum ss_err
wants_read(const struct reading *r, const struct node *map, struct wants *out)
{
	const struct node *n;
	enum ss_err e;

	*out = (struct wants){ 0 };
	if ((e = value_go_on(r, read_network(r, map, out))) != SS_OK ||
		(e = read_list(r, map, "read", &out->read)) != SS_OK ||
		(e = read_list(r, map, "write", &out->write)) != SS_OK ||
		(e = value_go_on(r, read_exec(r, map, out))) != SS_OK ||
		(e = read_list(r, map, "unix", &out->unix_sockets)) != SS_OK)
		return e;
	if ((n = node_member(map, "proc")) != NULL) {
		e = value_go_on(r, value_bool(r, n, &out->proc));
		if (e != SS_OK)
			return e;
		out->proc_set = true;
		out->proc_at = key_place(n);
	}
	return read_limits(r, map, out);
}

enum ss_err
wants_parse(const struct reading *r, const struct node *map, struct wants *out)
{
	static const char *const keys[] = { WANTS_KEYS };
	const struct node *tools;
	enum ss_err e;

	*out = (struct wants){ 0 };
	if (value_untagged(r, map) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (map->kind != NODE_MAP)
		return value_refuse(r, map, "a mapping for sandbox",
			map->kind == NODE_LIST
				? "write key: value lines without the dashes"
				: "write sandbox: { timeout: 5 }, or remove "
				  "the key");
	tools = node_member(map, "tools");
	if (tools != NULL)
		return value_refuse(r, tools->key, "a key of sandbox",
			"tools is a key of the page: in TOML write it before "
			"[sandbox]");
	e = value_go_on(r,
		value_keys(r, map, keys, ARRAY_LEN(keys),
			"a key of sandbox (network, read, write, exec, unix, "
			"proc, timeout, memory_bytes, processes)"));
	if (e != SS_OK)
		return e;
	return wants_read(r, map, out);
}
