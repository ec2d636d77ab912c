/* SPDX-License-Identifier: MIT */
/*
 * Keys of the page that are ignored and look like ours.  Other programs have
 * keys of their own there (tags, layout, date): only a near miss whose value
 * has the form of ours is told.
 */
#include <stdio.h>

#include "page/lint_own.h"
#include "page/near.h"

enum form { FORM_LIST, FORM_MAP, FORM_TEXT, FORM_NUMBER, FORM_FLAG };

struct own_key {
	const char *name;
	enum form form;
};

static const struct own_key page_keys[] = { { "tools", FORM_LIST },
	{ "env", FORM_LIST }, { "sandbox", FORM_MAP }, { "title", FORM_TEXT },
	{ "description", FORM_TEXT }, { "prompts", FORM_LIST },
	{ "allow", FORM_LIST }, { "hidden", FORM_FLAG }, { "once", FORM_TEXT },
	{ "job", FORM_FLAG }, { "job", FORM_TEXT }, { "job", FORM_MAP },
	{ "workspace", FORM_TEXT }, { "workspace", FORM_MAP } };

/* Keys that a page has under sandbox: only. */
static const struct own_key sandbox_keys[] = { { "network", FORM_LIST },
	{ "network", FORM_FLAG }, { "read", FORM_LIST }, { "write", FORM_LIST },
	{ "exec", FORM_LIST }, { "unix", FORM_LIST },
	{ "timeout", FORM_NUMBER }, { "memory_bytes", FORM_NUMBER },
	{ "processes", FORM_NUMBER }, { "proc", FORM_FLAG } };

/* Keys of a tool that a page has nowhere. */
static const struct own_key tool_keys[] = { { "command", FORM_LIST },
	{ "commands", FORM_LIST }, { "stdin", FORM_FLAG },
	{ "confirm", FORM_FLAG }, { "confirm", FORM_TEXT },
	{ "max_running", FORM_NUMBER }, { "pipe", FORM_LIST },
	{ "script", FORM_TEXT }, { "lines", FORM_NUMBER },
	{ "bytes", FORM_NUMBER }, { "progress", FORM_TEXT },
	{ "ask", FORM_LIST } };

static bool
is_number(const struct node *n)
{
	return n->kind == NODE_INTEGER || n->kind == NODE_FLOAT ||
		(n->kind == NODE_STRING && n->plain && n->len > 0 &&
			n->text[0] >= '0' && n->text[0] <= '9');
}

static bool
has_form(const struct node *n, enum form form)
{
	bool truth;

	switch (form) {
	case FORM_LIST: return n->kind == NODE_LIST || n->kind == NODE_MAP;
	case FORM_MAP: return n->kind == NODE_MAP;
	case FORM_TEXT: return n->kind == NODE_STRING;
	case FORM_NUMBER: return is_number(n);
	case FORM_FLAG: return value_is_bool(n, &truth);
	}
	return false;
}

static const struct own_key *
find_key(const struct own_key *keys, size_t count, const char *name,
	const struct node *value)
{
	for (size_t i = 0; name != NULL && i < count; i++)
		if (strcmp(keys[i].name, name) == 0 &&
			has_form(value, keys[i].form))
			return &keys[i];
	return NULL;
}

/* The key of the page that this one is near to and has the form of. */
static const char *
meant_key(const struct node *n, struct ss_text key)
{
	const char *names[ARRAY_LEN(page_keys)], *name;

	for (size_t i = 0; i < ARRAY_LEN(page_keys); i++)
		names[i] = page_keys[i].name;
	name = near_word(key, names, ARRAY_LEN(names));
	if (name == NULL &&
		(text_is(key, "environment") || text_is(key, "variables")))
		name = "env";
	return find_key(page_keys, ARRAY_LEN(page_keys), name, n) != NULL
		? name
		: NULL;
}

/*
 * What a value of `job` was probably meant to be.  Any other value that is not
 * ours is the page's own.
 */
static const char *
meant_job(const struct node *n)
{
	static const char *const words[] = { "required", "auto" };
	static const char *const keys[] = { "after" };
	const struct node *key =
		n->kind == NODE_MAP && n->count == 1 ? n->first->key : NULL;
	struct ss_text text = { n->text, n->len };
	const char *meant = NULL;

	if (n->kind == NODE_STRING)
		meant = near_word(text, words, ARRAY_LEN(words));
	if (meant != NULL)
		return text_is(text, meant) ? NULL : meant;
	if (key == NULL || key->kind != NODE_STRING)
		return NULL;
	text = (struct ss_text){ key->text, key->len };
	meant = near_word(text, keys, ARRAY_LEN(keys));
	return meant == NULL || text_is(text, meant) ? NULL
						     : "{after: SECONDS}";
}

static void
lint_job(const struct lint *l, const struct node *n)
{
	const char *meant = n != NULL ? meant_job(n) : NULL;
	char hint[64];

	if (meant == NULL)
		return;
	snprintf(hint, sizeof(hint), "did you mean %s?", meant);
	lint_warn(l, WARN_KEY, place_of_node(n->key), hint,
		"the key job is ignored: its value is none of ours");
}

static void
lint_key(const struct lint *l, const struct node *n)
{
	struct ss_text key = { n->key->text, n->key->len };
	const char *meant;
	char hint[96];

	if (find_key(page_keys, ARRAY_LEN(page_keys), n->key->text, n) != NULL)
		return;
	if (find_key(sandbox_keys, ARRAY_LEN(sandbox_keys), n->key->text, n)) {
		snprintf(hint, sizeof(hint),
			"write it below sandbox:, or in a tool: sandbox: { "
			"%s: ... }",
			n->key->text);
		lint_warn(l, WARN_KEY, place_of_node(n->key), hint,
			"the key %s is ignored here", n->key->text);
		return;
	}
	if (find_key(tool_keys, ARRAY_LEN(tool_keys), n->key->text, n)) {
		lint_warn(l, WARN_KEY, place_of_node(n->key),
			"write it in a tool: tools: [{ command: [ls] }]",
			"the key %s is ignored here", n->key->text);
		return;
	}
	if (text_is(key, "grant") && n->kind == NODE_MAP) {
		lint_warn(l, WARN_KEY, place_of_node(n->key),
			"a page asks below sandbox:; [grant] is the "
			"operator's, in statespace.toml",
			"the key grant is ignored here");
		return;
	}
	meant = meant_key(n, key);
	if (meant == NULL)
		return;
	snprintf(hint, sizeof(hint), "did you mean %s?", meant);
	lint_warn(l, WARN_KEY, place_of_node(n->key), hint,
		"the key %.*s is ignored", (int)key.len, key.data);
}

/* Frontmatter whose tools are listed under a key without a value. */
static void
lint_empty(const struct lint *l, const struct node *root)
{
	const struct node *tools = node_member(root, "tools");

	if (tools != NULL && tools->kind == NODE_NULL)
		lint_warn(l, WARN_EMPTY, place_of_node(tools->key),
			"write the tools below it, - [ls], or remove the key",
			"tools: is empty");
}

static void
lint_map(const struct lint *l, const struct node *map)
{
	lint_empty(l, map);
	lint_job(l, node_member(map, "job"));
	for (const struct node *n = map->first; n != NULL; n = n->next)
		if (n->key->kind == NODE_STRING)
			lint_key(l, n);
}

/* A skill has our keys below metadata.statespace. */
static void
lint_metadata(const struct lint *l, const struct node *metadata)
{
	static const char *const names[] = { "statespace" };

	if (metadata == NULL || metadata->kind != NODE_MAP)
		return;
	for (const struct node *n = metadata->first; n != NULL; n = n->next) {
		struct ss_text key = { n->key->text, n->key->len };

		if (n->kind != NODE_MAP || n->key->kind != NODE_STRING)
			continue;
		if (text_is(key, names[0]))
			lint_map(l, n);
		else if (near_word(key, names, ARRAY_LEN(names)) != NULL)
			lint_warn(l, WARN_KEY, place_of_node(n->key),
				"did you mean statespace?",
				"the key %.*s is ignored", (int)key.len,
				key.data);
	}
}

void
lint_keys(const struct lint *l)
{
	const struct node *root = l->front->root;

	if (root == NULL)
		return;
	lint_map(l, root);
	lint_metadata(l, node_member(root, "metadata"));
}
