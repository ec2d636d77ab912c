/* SPDX-License-Identifier: MIT */
#include "site/config_value.h"

#include <stdio.h>
#include <stdlib.h>

#include "page/env.h"
#include "page/toml.h"

/* ------------------------------------------------------------- messages -- */

const char *
config_shown_file(const char *file)
{
	size_t len = strlen(file);

	return len > CONFIG_SHOWN_FILE ? file + len - CONFIG_SHOWN_FILE : file;
}

/* "conf.toml:3: limits.cpu", "STATESPACE_LIMITS_CPU" or "limits.cpu" */
static void
name_place(const struct config_source *from, unsigned line, const char *name,
	char *out, size_t cap)
{
	if (from->file != NULL)
		snprintf(out, cap, "%s:%u: %.100s",
			config_shown_file(from->file), line, name);
	else
		snprintf(out, cap, "%.100s",
			from->variable != NULL ? from->variable : name);
}

static void
describe_found(const struct node *n, char *out, size_t cap)
{
	int len = (int)utf8_cut(n->text, n->len, CONFIG_SHOWN_VALUE);

	if (n->kind == NODE_LIST || n->kind == NODE_MAP)
		snprintf(out, cap, "%s", node_kind_name(n));
	else if (n->kind == NODE_STRING)
		snprintf(out, cap, "\"%.*s\"", len, n->text);
	else
		snprintf(out, cap, "%.*s", len, n->text);
}

/* The value n (or an item of it) is not what the key takes. */
static enum ss_err
refuse_value(const struct config_key *key, const struct node *n,
	const struct config_source *from, struct ss_error *err)
{
	char place[320], found[CONFIG_SHOWN_VALUE + 16], expected[256];
	char preset[64];
	struct ss_text section = config_key_section(key);
	name_place(from, n->line, key->name, place, sizeof(place));
	describe_found(n, found, sizeof(found));
	config_key_expects(key, expected, sizeof(expected));
	error_set(err, SS_CONFIG, "%s: found %s, expected %s", place, found,
		expected);
	config_key_preset(key, preset, sizeof(preset));
	error_hint(err, "the default is %s = %s%s%.*s%s", config_key_tail(key),
		preset, section.len > 0 ? " in [" : "", (int)section.len,
		section.data, section.len > 0 ? "]" : "");
	return SS_CONFIG;
}

enum ss_err
config_refuse_name(const char *name, unsigned line,
	const struct config_source *from, struct ss_error *err)
{
	const struct config_key *near = config_key_near(name);
	char place[320];

	name_place(from, line, name, place, sizeof(place));
	error_set(err, SS_CONFIG,
		"%s: found a name that is no key of the configuration, "
		"expected one that is",
		place);
	if (near != NULL)
		error_hint(err, "perhaps %s%.*s%s%s is meant",
			config_key_section(near).len > 0 ? "[" : "",
			(int)config_key_section(near).len, near->name,
			config_key_section(near).len > 0 ? "] " : "",
			config_key_tail(near));
	else
		error_hint(err, "statespace.toml(5) lists all of them");
	return SS_CONFIG;
}

/* -------------------------------------------------------------- storing -- */

static void *
field_at(struct config *c, size_t offset)
{
	return (char *)c + offset;
}

/* Text without NUL that the key's own check accepts. */
static bool
text_fits(const struct config_key *key, const struct node *n)
{
	return n->kind == NODE_STRING && strlen(n->text) == n->len &&
		(key->fits == NULL || key->fits(n->text));
}

static enum ss_err
store_text(struct config *c, const struct config_key *key, const struct node *n,
	const struct config_source *from, struct ss_error *err)
{
	bool relative = key->type == KEY_PATH && from->dir != NULL &&
		n->len > 0 && *n->text != '/';
	const char *text = relative && strcmp(n->text, ".") == 0
		? arena_copy(&c->arena, from->dir, strlen(from->dir))
		: relative
		? arena_printf(&c->arena, "%s/%s", from->dir, n->text)
		: arena_copy(&c->arena, n->text, n->len);

	if (text == NULL)
		return error_memory(err);
	memcpy(field_at(c, key->offset), &text, sizeof(text));
	return SS_OK;
}

static enum ss_err
store_list(struct config *c, const struct config_key *key, const struct node *n,
	const struct config_source *from, struct ss_error *err)
{
	struct config_list list = { NULL, 0 };

	for (const struct node *item = n->first; item != NULL;
		item = item->next)
		if (!text_fits(key, item))
			return refuse_value(key, item, from, err);
	list.items = arena_array(&c->arena, n->count, sizeof(*list.items));
	if (list.items == NULL)
		return error_memory(err);
	for (const struct node *item = n->first; item != NULL;
		item = item->next) {
		const char *text = arena_copy(&c->arena, item->text, item->len);

		if (text == NULL)
			return error_memory(err);
		list.items[list.count++] = text;
	}
	memcpy(field_at(c, key->offset), &list, sizeof(list));
	return SS_OK;
}

static enum ss_err
store_choice(struct config *c, const struct config_key *key,
	const struct node *n, const struct config_source *from,
	struct ss_error *err)
{
	const struct config_list empty = { NULL, 0 };
	enum config_choice choice = CHOICE_LIST;
	enum ss_err code = SS_OK;

	if (n->kind == NODE_LIST)
		code = store_list(c, key, n, from, err);
	else if (config_key_has_word(key, n))
		choice = strcmp(n->text, "false") == 0 ? CHOICE_NONE
						       : CHOICE_ANY;
	else
		code = refuse_value(key, n, from, err);
	if (code != SS_OK)
		return code;
	if (choice != CHOICE_LIST)
		memcpy(field_at(c, key->offset), &empty, sizeof(empty));
	memcpy(field_at(c, key->choice_offset), &choice, sizeof(choice));
	return SS_OK;
}

static bool
in_bounds(const struct config_key *key, double number)
{
	return number >= key->least && number <= key->most;
}

static enum ss_err
store_count(struct config *c, const struct config_key *key,
	const struct node *n, const struct config_source *from,
	struct ss_error *err)
{
	uint64_t count;

	if (n->kind != NODE_INTEGER || n->value.integer < 0 ||
		!in_bounds(key, (double)n->value.integer))
		return refuse_value(key, n, from, err);
	count = (uint64_t)n->value.integer;
	memcpy(field_at(c, key->offset), &count, sizeof(count));
	return SS_OK;
}

static enum ss_err
store_seconds(struct config *c, const struct config_key *key,
	const struct node *n, const struct config_source *from,
	struct ss_error *err)
{
	double seconds;

	if (n->kind != NODE_INTEGER && n->kind != NODE_FLOAT)
		return refuse_value(key, n, from, err);
	seconds = n->kind == NODE_FLOAT ? n->value.number
					: (double)n->value.integer;
	if (!in_bounds(key, seconds))
		return refuse_value(key, n, from, err);
	memcpy(field_at(c, key->offset), &seconds, sizeof(seconds));
	return SS_OK;
}

enum ss_err
config_store_value(struct config *c, const struct config_key *key,
	const struct node *n, const struct config_source *from,
	struct ss_error *err)
{
	switch (key->type) {
	case KEY_TEXT:
	case KEY_PATH:
		if (!text_fits(key, n))
			break;
		return store_text(c, key, n, from, err);
	case KEY_WORD:
		if (!config_key_has_word(key, n))
			break;
		return store_text(c, key, n, from, err);
	case KEY_FLAG:
		if (n->kind != NODE_BOOL)
			break;
		memcpy(field_at(c, key->offset), &n->value.truth, sizeof(bool));
		return SS_OK;
	case KEY_COUNT: return store_count(c, key, n, from, err);
	case KEY_SECONDS: return store_seconds(c, key, n, from, err);
	case KEY_LIST:
		if (n->kind != NODE_LIST)
			break;
		return store_list(c, key, n, from, err);
	case KEY_CHOICE: return store_choice(c, key, n, from, err);
	}
	return refuse_value(key, n, from, err);
}

/* ------------------------------------------------- the server's variables -- */

/* Makes space for one more: the array grows when its count is a power of two. */
static bool
grow_env(struct config *c)
{
	struct ss_pair *bigger;
	size_t n = c->env_count;

	if ((n & (n - 1)) != 0)
		return true;
	bigger = arena_array(&c->arena, n > 0 ? 2 * n : 1, sizeof(*bigger));
	if (bigger == NULL)
		return false;
	if (n > 0)
		memcpy(bigger, c->env, n * sizeof(*bigger));
	c->env = bigger;
	return true;
}

/* Values are secrets: no message shows one. */
static enum ss_err
store_env(struct config *c, struct ss_text name, const struct node *n,
	const struct config_source *from, struct ss_error *err)
{
	char full[128], place[320];
	const char *value, *copy;

	snprintf(full, sizeof(full), "env.%.*s",
		(int)utf8_cut(name.data, name.len, 100), name.data);
	name_place(from, n->line, full, place, sizeof(place));
	if (!env_is_name(name.data, name.len))
		return error_set(err, SS_CONFIG,
			"%s: found a name that no variable can have, expected "
			"letters, digits and \"_\", no digit first",
			place);
	if (n->kind != NODE_STRING || strlen(n->text) != n->len)
		return error_set(err, SS_CONFIG,
			"%s: found %s, expected text in quotes (without a NUL)",
			place, node_kind_name(n));
	value = arena_copy(&c->arena, n->text, n->len);
	copy = arena_copy(&c->arena, name.data, name.len);
	if (value == NULL || copy == NULL)
		return error_memory(err);
	for (size_t i = 0; i < c->env_count; i++)
		if (strcmp(c->env[i].name, copy) == 0) {
			c->env[i].value = value;
			return SS_OK;
		}
	if (!grow_env(c))
		return error_memory(err);
	c->env[c->env_count++] = (struct ss_pair){ copy, value };
	return SS_OK;
}

/* ------------------------------------------------------------- one value -- */

/*
 * Makes a node of an option's or a variable's text: read as a TOML value, else
 * as a string, so that `any` and `"any"` are the same.
 */
static enum ss_err
read_value(struct arena *scratch, const struct config_key *key,
	const char *text, struct node **out, struct ss_error *err)
{
	bool is_text = key->type == KEY_TEXT || key->type == KEY_PATH;
	struct node *root = NULL, *n;
	const struct reading r = { .arena = scratch };
	char *line;

	if (!is_text) {
		line = arena_printf(scratch, "v = %s", text);
		if (line == NULL)
			return error_memory(err);
		toml_parse(&r, text_of(line), 1, SS_CONFIG, &root);
	}
	if (root != NULL && root->first != NULL && root->first->next == NULL) {
		*out = root->first;
		return SS_OK;
	}
	n = node_new(scratch, NODE_STRING, 1, 1);
	if (n == NULL)
		return error_memory(err);
	n->text = text;
	n->len = strlen(text);
	*out = n;
	return SS_OK;
}

enum ss_err
config_set_text(struct config *c, struct arena *scratch,
	const struct config_key *key, const char *text,
	const struct config_source *from, struct ss_error *err)
{
	struct node *n = NULL;
	enum ss_err code = read_value(scratch, key, text, &n, err);

	return code == SS_OK ? config_store_value(c, key, n, from, err) : code;
}

enum ss_err
config_set_env(struct config *c, const char *name, size_t len,
	const char *value, const struct config_source *from,
	struct ss_error *err)
{
	const struct node n = {
		.kind = NODE_STRING, .text = value, .len = strlen(value)
	};

	return store_env(c, (struct ss_text){ name, len }, &n, from, err);
}

bool
config_preset_node(const struct config_key *key, struct node *n)
{
	const char *text = key->preset;

	*n = (struct node){ .text = text, .len = strlen(text) };
	switch (key->type) {
	case KEY_TEXT:
	case KEY_PATH:
	case KEY_WORD: n->kind = NODE_STRING; break;
	case KEY_FLAG:
		n->kind = NODE_BOOL;
		n->value.truth = strcmp(text, "true") == 0;
		break;
	case KEY_COUNT:
		n->kind = NODE_INTEGER;
		n->value.integer = strtoll(text, NULL, 10);
		break;
	case KEY_SECONDS:
		n->kind = NODE_FLOAT;
		n->value.number = strtod(text, NULL);
		break;
	case KEY_CHOICE:
	case KEY_LIST:
		n->kind = strcmp(text, "[]") == 0    ? NODE_LIST
			: strcmp(text, "false") == 0 ? NODE_BOOL
						     : NODE_STRING;
		return *text != '[' || n->kind == NODE_LIST;
	}
	return true;
}

/* ------------------------------------------------------------------ file -- */

/* SS_CONFIG: a site cannot set that key. */
static enum ss_err
check_scope(const struct config_key *key, unsigned line,
	const struct config_source *from, struct ss_error *err)
{
	char place[320];

	if (from->site == NULL || key->scope != KEY_OF_POOL)
		return SS_OK;
	name_place(from, line, key->name, place, sizeof(place));
	error_set(err, SS_CONFIG,
		"%s: found a key of the whole pool in the table of a site",
		place);
	if (strcmp(key->name, "http.prefix") == 0)
		error_hint(err, "the prefix is a part of the site's name");
	else
		error_hint(err, "write it in the main file, for all sites");
	return SS_CONFIG;
}

static enum ss_err
store_section(struct config *c, const struct node *section,
	const struct config_source *from, struct arena *scratch,
	struct ss_error *err)
{
	bool env = strcmp(section->key->text, "env") == 0;
	enum ss_err code = SS_OK;

	for (const struct node *n = section->first; n != NULL && code == SS_OK;
		n = n->next) {
		struct ss_text name = { n->key->text, n->key->len };
		const struct config_key *key;
		char *full;

		if (env) {
			code = store_env(c, name, n, from, err);
			continue;
		}
		full = arena_printf(
			scratch, "%s.%s", section->key->text, n->key->text);
		if (full == NULL)
			return error_memory(err);
		key = strlen(n->key->text) == n->key->len
			? config_key_find(text_of(full))
			: NULL;
		if (key == NULL)
			code = config_refuse_name(
				full, n->key->line, from, err);
		else
			code = check_scope(key, n->key->line, from, err);
		if (code == SS_OK)
			code = config_store_value(c, key, n, from, err);
	}
	return code;
}

enum ss_err
config_store_member(struct config *c, const struct node *n,
	const struct config_source *from, struct arena *scratch,
	struct ss_error *err)
{
	struct ss_text name = { n->key->text, n->key->len };
	const struct config_key *key = config_key_find(name);
	char place[320];

	if (config_key_is_section(name) && n->kind == NODE_MAP)
		return store_section(c, n, from, scratch, err);
	if (config_key_is_section(name)) {
		name_place(from, n->line, name.data, place, sizeof(place));
		error_set(err, SS_CONFIG, "%s: found %s, expected a section",
			place, node_kind_name(n));
		error_hint(err, "write [%s] on a line of its own", name.data);
		return SS_CONFIG;
	}
	/* A key with a dot in quotes is not the key in its section. */
	if (key != NULL && config_key_section(key).len == 0) {
		enum ss_err code = check_scope(key, n->key->line, from, err);

		return code == SS_OK ? config_store_value(c, key, n, from, err)
				     : code;
	}
	if (n->kind == NODE_MAP && n->first != NULL) {
		char *full = arena_printf(
			scratch, "%s.%s", name.data, n->first->key->text);

		if (full == NULL)
			return error_memory(err);
		key = config_key_near(full);
		config_refuse_name(full, n->key->line, from, err);
		/* TOML takes the dots of a bare name for tables. */
		if (from->site != NULL &&
			(key == NULL || config_key_section(key).len == 0))
			error_hint(err,
				"a site's name is written in quotes: "
				"[site.\"HOST/PREFIX\"]");
		return SS_CONFIG;
	}
	return config_refuse_name(name.data, n->key->line, from, err);
}
