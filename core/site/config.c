/* SPDX-License-Identifier: MIT */
/*
 * Brings values into struct config: from the defaults, a file, the
 * environment, an option.  All of them become a node and pass through
 * store_value, so that a wrong value is refused in the same words everywhere.
 */
#include "site/config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/fd.h"
#include "page/env.h"
#include "page/toml.h"
#include "site/config_key.h"
#include "wire/authority.h"
#include "wire/path.h"

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define VARIABLE_PREFIX "STATESPACE_"
/* A longer file name is shown by its end. */
#define SHOWN_FILE 200
#define SHOWN_VALUE 60

/* Where a value comes from, for messages and for relative paths. */
struct source {
	const char *file;               /* NULL: a variable or an option */
	const char *dir;                /* of the file, absolute */
	const char *variable;           /* NULL: not from the environment */
	const struct config_site *site; /* NULL: not the table of a site */
};

/* Memory of a tree of nodes that has tables of sites. */
struct config_held {
	struct arena arena;
	struct config_held *next;
};

/* ------------------------------------------------------------- messages -- */

static const char *
shown_file(const char *file)
{
	size_t len = strlen(file);

	return len > SHOWN_FILE ? file + len - SHOWN_FILE : file;
}

/* "conf.toml:3: limits.cpu", "STATESPACE_LIMITS_CPU" or "limits.cpu" */
static void
name_place(const struct source *from, unsigned line, const char *name,
	char *out, size_t cap)
{
	if (from->file != NULL)
		snprintf(out, cap, "%s:%u: %.100s", shown_file(from->file),
			line, name);
	else
		snprintf(out, cap, "%.100s",
			from->variable != NULL ? from->variable : name);
}

static void
describe_found(const struct node *n, char *out, size_t cap)
{
	int len = (int)utf8_cut(n->text, n->len, SHOWN_VALUE);

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
	const struct source *from, struct ss_error *err)
{
	char place[320], found[SHOWN_VALUE + 16], expected[256];
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

static enum ss_err
refuse_name(const char *name, unsigned line, const struct source *from,
	struct ss_error *err)
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
	const struct source *from, struct ss_error *err)
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
	const struct source *from, struct ss_error *err)
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
	const struct node *n, const struct source *from, struct ss_error *err)
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
	const struct node *n, const struct source *from, struct ss_error *err)
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
	const struct node *n, const struct source *from, struct ss_error *err)
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

static enum ss_err
store_value(struct config *c, const struct config_key *key,
	const struct node *n, const struct source *from, struct ss_error *err)
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
	const struct source *from, struct ss_error *err)
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

/* ------------------------------------------------- all of it or nothing -- */

/* Copies what c holds; the memory stays c's. */
static bool
save_config(struct config *c, struct config *before)
{
	*before = *c;
	before->env = arena_array(
		&c->arena, c->env_count * 2 + 1, sizeof(*before->env));
	if (before->env == NULL)
		return false;
	if (c->env_count > 0)
		memcpy(before->env, c->env, c->env_count * sizeof(*c->env));
	return true;
}

static void
restore_config(struct config *c, const struct config *before)
{
	struct arena held = c->arena;

	*c = *before;
	c->arena = held;
	if (c->last_site != NULL)
		c->last_site->next = NULL;
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

static enum ss_err
set_from_text(struct config *c, struct arena *scratch,
	const struct config_key *key, const char *text,
	const struct source *from, struct ss_error *err)
{
	struct node *n = NULL;
	enum ss_err code = read_value(scratch, key, text, &n, err);

	return code == SS_OK ? store_value(c, key, n, from, err) : code;
}

static enum ss_err
set_env_text(struct config *c, const char *name, size_t len, const char *value,
	const struct source *from, struct ss_error *err)
{
	const struct node n = {
		.kind = NODE_STRING, .text = value, .len = strlen(value)
	};

	return store_env(c, (struct ss_text){ name, len }, &n, from, err);
}

enum ss_err
config_set(struct config *c, const char *key, const char *value,
	struct ss_error *err)
{
	const struct source from = { .file = NULL };
	const struct config_key *known = config_key_find(text_of(key));
	struct arena scratch = { .limit = 0 };
	enum ss_err code;

	if (strncmp(key, "env.", 4) == 0)
		return set_env_text(
			c, key + 4, strlen(key + 4), value, &from, err);
	if (known == NULL)
		return refuse_name(key, 0, &from, err);
	code = set_from_text(c, &scratch, known, value, &from, err);
	arena_release(&scratch);
	return code;
}

/*
 * Makes the node of a default without reading TOML, which would be half of what
 * a command costs before it runs.  False: a list with items, for read_value.
 */
static bool
preset_node(const struct config_key *key, struct node *n)
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

enum ss_err
config_init(struct config *c, struct ss_error *err)
{
	const struct source from = { .file = NULL };
	const struct config_key *key;
	struct arena scratch = { .limit = 0 };
	enum ss_err code = SS_OK;
	struct node n;

	memset(c, 0, sizeof(*c));
	arena_init(&c->arena, 0);
	for (size_t i = 0; code == SS_OK && (key = config_key_at(i)) != NULL;
		i++)
		code = preset_node(key, &n)
			? store_value(c, key, &n, &from, err)
			: set_from_text(
				  c, &scratch, key, key->preset, &from, err);
	arena_release(&scratch);
	if (code != SS_OK)
		config_release(c);
	return code;
}

void
config_drop_tables(struct config *c)
{
	struct config_held *h;

	while ((h = c->held) != NULL) {
		struct arena tables = h->arena;

		c->held = h->next;
		arena_release(&tables);
	}
	for (struct config_site *s = c->first_site; s != NULL; s = s->next)
		s->table = NULL;
}

void
config_release(struct config *c)
{
	config_drop_tables(c);
	arena_release(&c->arena);
	memset(c, 0, sizeof(*c));
}

/* ------------------------------------------------------------------ file -- */

/* SS_CONFIG: a site cannot set that key. */
static enum ss_err
check_scope(const struct config_key *key, unsigned line,
	const struct source *from, struct ss_error *err)
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
	const struct source *from, struct arena *scratch, struct ss_error *err)
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
			code = refuse_name(full, n->key->line, from, err);
		else
			code = check_scope(key, n->key->line, from, err);
		if (code == SS_OK)
			code = store_value(c, key, n, from, err);
	}
	return code;
}

/* A member of the whole file: a section, or root. */
static enum ss_err
store_member(struct config *c, const struct node *n, const struct source *from,
	struct arena *scratch, struct ss_error *err)
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

		return code == SS_OK ? store_value(c, key, n, from, err) : code;
	}
	if (n->kind == NODE_MAP && n->first != NULL) {
		char *full = arena_printf(
			scratch, "%s.%s", name.data, n->first->key->text);

		if (full == NULL)
			return error_memory(err);
		return refuse_name(full, n->key->line, from, err);
	}
	return refuse_name(name.data, n->key->line, from, err);
}

/* -------------------------------------------------- tables of sites -- */

static enum ss_err
refuse_site(const struct source *from, const struct node *key,
	struct ss_error *err, const char *what, const char *hint)
{
	error_set(err, SS_CONFIG, "%s:%u: [site.\"%.*s\"]: %s",
		shown_file(from->file), key->line,
		(int)utf8_cut(key->text, key->len, SHOWN_VALUE), key->text,
		what);
	error_hint(err, "%s", hint);
	return SS_CONFIG;
}

/* "HOST/PREFIX", "HOST" or "/PREFIX", without a last slash. */
static bool
split_name(struct arena *arena, const struct node *key, struct config_site *out)
{
	const char *slash = memchr(key->text, '/', key->len);
	size_t host_len =
		slash != NULL ? (size_t)(slash - key->text) : key->len;
	size_t len = key->len - host_len;
	char host[AUTHORITY_HOST_MAX + 1] = "", clean[PATH_BYTES_MAX + 1];
	bool bare = host_len == 0 || key->text[host_len - 1] != '.';

	while (len > 0 && key->text[host_len + len - 1] == '/')
		len--;
	/* So that no list of names needs an escape. */
	for (size_t i = 0; i < key->len; i++)
		if ((unsigned char)key->text[i] <= ' ' ||
			strchr("\"\\%{}<>?#\177", key->text[i]) != NULL)
			return false;
	if (key->len > CONFIG_SITE_NAME_MAX || (host_len == 0 && len == 0) ||
		(host_len > 0 &&
			(!bare ||
				!authority_host_folded(
					(struct ss_text){ key->text, host_len },
					host) ||
				/* a port is no part of a name */
				authority_host(
					(struct ss_text){ key->text, host_len })
							.len +
						2 * (key->text[0] == '[') !=
					host_len)))
		return false;
	if (len > 0 &&
		(ss_path_clean(key->text + host_len, len, clean, sizeof(clean),
			 NULL) != SS_OK ||
			strlen(clean) != len - 1 ||
			memcmp(clean, key->text + host_len + 1, len - 1) != 0))
		return false;
	out->host = arena_copy(arena, host, strlen(host));
	out->prefix = arena_copy(arena, key->text + host_len, len);
	if (out->host != NULL && out->prefix != NULL)
		out->name = arena_printf(arena,
			strchr(host, ':') != NULL ? "[%s]%s" : "%s%s",
			out->host, out->prefix);
	return true;
}

static enum ss_err
add_site(struct config *c, const struct node *n, const struct source *from,
	struct ss_error *err)
{
	static const char hint[] =
		"a site is named by its host, without a port, a path, or both: "
		"[site.\"example.org/docs\"]";
	struct config_site *s = arena_alloc(&c->arena, sizeof(*s));
	char twice[SHOWN_FILE + 64];

	if (s == NULL)
		return error_memory(err);
	if (from->file == NULL || from->dir == NULL)
		return error_internal(err, 0, "a table of a site without file");
	*s = (struct config_site){ .line = n->key->line, .table = n };
	if (n->kind != NODE_MAP)
		return refuse_site(from, n->key, err,
			"found a value, expected a table", hint);
	if (strlen(n->key->text) != n->key->len ||
		!split_name(&c->arena, n->key, s))
		return refuse_site(from, n->key, err,
			"found a name that no site can have", hint);
	s->file = arena_copy(&c->arena, from->file, strlen(from->file));
	s->dir = arena_copy(&c->arena, from->dir, strlen(from->dir));
	if (s->name == NULL || s->file == NULL || s->dir == NULL)
		return error_memory(err);
	for (const struct config_site *o = c->first_site; o != NULL;
		o = o->next) {
		if (strcmp(o->name, s->name) != 0)
			continue;
		snprintf(twice, sizeof(twice), "the same site is at %s:%u",
			shown_file(o->file), o->line);
		return refuse_site(
			from, n->key, err, twice, "give each site one table");
	}
	if (c->site_count == CONFIG_SITES_MAX)
		return refuse_site(from, n->key, err,
			"there are too many sites",
			"a pool serves 4096; start another one");
	if (c->last_site != NULL)
		c->last_site->next = s;
	else
		c->first_site = s;
	c->last_site = s;
	c->site_count++;
	return SS_OK;
}

static enum ss_err
add_sites(struct config *c, const struct node *n, const struct source *from,
	struct ss_error *err)
{
	enum ss_err code = SS_OK;

	if (n->kind != NODE_MAP)
		return refuse_site(from, n->key, err,
			"found a value, expected tables",
			"write [site.\"example.org\"] on a line of its own; "
			"`sites` names a directory of such files");
	for (n = n->first; n != NULL && code == SS_OK; n = n->next)
		code = add_site(c, n, from, err);
	return code;
}

/* The tables stay in the arena, which becomes c's. */
static enum ss_err
hold_tables(struct config *c, struct arena *scratch, struct ss_error *err)
{
	struct config_held *h = arena_alloc(&c->arena, sizeof(*h));

	if (h == NULL)
		return error_memory(err);
	*h = (struct config_held){ .arena = *scratch, .next = c->held };
	c->held = h;
	arena_init(scratch, 0);
	return SS_OK;
}

static enum ss_err
set_own_defaults(struct config *c, struct ss_error *err)
{
	const struct source from = { .file = NULL };
	const struct config_key *key;
	enum ss_err code = SS_OK;
	struct node n;

	for (size_t i = 0; code == SS_OK && (key = config_key_at(i)) != NULL;
		i++)
		if (key->scope == KEY_OWN && preset_node(key, &n))
			code = store_value(c, key, &n, &from, err);
	return code;
}

/*
 * http.hosts of the site: the host of its name, or those of the whole pool, and
 * the further ones that its table lists.
 */
static enum ss_err
add_hosts(struct config *out, const struct config *c,
	const struct config_site *site, struct ss_error *err)
{
	const struct config_list *own = &out->http.hosts;
	const struct config_list one = { (const char **)(uintptr_t)&site->host,
		1 };
	const struct config_list *first =
		site->host[0] != '\0' ? &one : &c->http.hosts;
	struct config_list all = { NULL, 0 };

	all.items = arena_array(
		&out->arena, first->count + own->count + 1, sizeof(*all.items));
	if (all.items == NULL)
		return error_memory(err);
	for (size_t i = 0; i < first->count; i++)
		all.items[all.count++] = first->items[i];
	for (size_t i = 0; i < own->count; i++)
		all.items[all.count++] = own->items[i];
	out->http.hosts = all;
	return SS_OK;
}

enum ss_err
config_init_site(struct config *out, const struct config *c,
	const struct config_site *site, struct ss_error *err)
{
	const struct source from = {
		.file = site->file, .dir = site->dir, .site = site
	};
	struct arena scratch = { .limit = 0 };
	enum ss_err code;

	*out = *c;
	arena_init(&out->arena, 0);
	out->first_site = out->last_site = NULL;
	out->site_count = 0;
	out->held = NULL;
	out->env = NULL;
	out->env_count = 0;
	code = set_own_defaults(out, err);
	for (const struct node *n = site->table->first;
		n != NULL && code == SS_OK; n = n->next)
		code = store_member(out, n, &from, &scratch, err);
	if (code == SS_OK)
		code = add_hosts(out, c, site, err);
	out->http.prefix = site->prefix;
	arena_release(&scratch);
	if (code != SS_OK)
		config_release(out);
	return code;
}

/* ----------------------------------------------------------- whole files -- */

static enum ss_err
read_file(const char *file, struct buf *text, struct ss_error *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int failed = fd == -1 ? errno : fd_read_all(fd, text);

	fd_close(&fd);
	if (failed == ENOMEM || text->failed)
		return error_memory(err);
	if (failed == 0 && !text->full)
		return SS_OK;
	error_set(err, SS_CONFIG, "%s: cannot be read: %s", shown_file(file),
		failed != 0 ? strerror(failed) : "it is larger than 1 MiB");
	if (err != NULL)
		err->sys_errno = failed;
	error_hint(err, "give the configuration file with -c FILE");
	return SS_CONFIG;
}

/* The directory that relative paths in the file start from. */
static enum ss_err
directory_of(const char *file, struct arena *scratch, char **out,
	struct ss_error *err)
{
	const char *slash = strrchr(file, '/');
	size_t len = slash == NULL ? 0 : (size_t)(slash - file);
	char *dir = slash == NULL ? arena_copy(scratch, ".", 1)
		: len == 0        ? arena_copy(scratch, "/", 1)
				  : arena_copy(scratch, file, len);
	char *real;

	if (dir == NULL)
		return error_memory(err);
	real = realpath(dir, NULL);
	if (real == NULL)
		return error_set(err, SS_CONFIG,
			"%s: its directory cannot be found: %s",
			shown_file(file), strerror(errno));
	*out = arena_copy(scratch, real, strlen(real));
	free(real);
	return *out != NULL ? SS_OK : error_memory(err);
}

/* The reader's "line L, column C: what" becomes "FILE:L: column C: what". */
static enum ss_err
parse_file(const char *file, const struct buf *text, struct arena *scratch,
	struct node **root, struct ss_error *err)
{
	struct ss_error found = { .code = SS_OK };
	struct node_place place = { 0, 0 };
	const struct reading r = {
		.arena = scratch, .place = &place, .err = &found
	};
	enum ss_err code = toml_parse(&r, buf_view(text), 1, SS_CONFIG, root);
	const char *what = strstr(found.message, ": ");

	if (code == SS_INTERNAL)
		return error_memory(err);
	if (code == SS_OK)
		return SS_OK;
	error_set(err, SS_CONFIG, "%s:%u: column %u: %s", shown_file(file),
		place.line, place.column,
		what != NULL ? what + 2 : found.message);
	error_hint(err, "%s", found.hint);
	return SS_CONFIG;
}

static bool
is_site(const struct node *n)
{
	return strcmp(n->key->text, "site") == 0;
}

/* A file of the directory `sites` has tables of sites, and nothing else. */
static enum ss_err
store_top(struct config *c, const struct node *n, const struct source *from,
	bool only_sites, struct arena *scratch, struct ss_error *err)
{
	if (is_site(n))
		return add_sites(c, n, from, err);
	if (!only_sites)
		return store_member(c, n, from, scratch, err);
	error_set(err, SS_CONFIG,
		"%s:%u: %.*s: found a key outside of a table of a site",
		shown_file(from->file), n->key->line,
		(int)utf8_cut(n->key->text, n->key->len, SHOWN_VALUE),
		n->key->text);
	error_hint(err,
		"begin this file with [site.\"HOST/PREFIX\"]; sections of the "
		"site are [site.\"HOST/PREFIX\".limits]");
	return SS_CONFIG;
}

static enum ss_err
load_file(struct config *c, const char *file, bool only_sites,
	struct ss_error *err)
{
	struct source from = { .file = file };
	struct arena scratch = { .limit = 0 };
	struct buf text = BUF_INIT(FILE_BYTES_MAX);
	struct config before;
	struct node *root = NULL;
	char *dir = NULL;
	enum ss_err code;

	if (!save_config(c, &before))
		return error_memory(err);
	code = read_file(file, &text, err);
	if (code == SS_OK)
		code = directory_of(file, &scratch, &dir, err);
	if (code == SS_OK)
		code = parse_file(file, &text, &scratch, &root, err);
	from.dir = dir;
	for (const struct node *n = root != NULL ? root->first : NULL;
		n != NULL && code == SS_OK; n = n->next)
		code = store_top(c, n, &from, only_sites, &scratch, err);
	if (code == SS_OK && c->site_count > before.site_count)
		code = hold_tables(c, &scratch, err);
	if (code != SS_OK)
		restore_config(c, &before);
	buf_release(&text);
	arena_release(&scratch);
	return code;
}

enum ss_err
config_load(struct config *c, const char *file, struct ss_error *err)
{
	return load_file(c, file, false, err);
}

static int
is_toml(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && dot != NULL &&
		strcmp(dot, ".toml") == 0;
}

enum ss_err
config_load_sites(struct config *c, struct ss_error *err)
{
	struct dirent **entries;
	enum ss_err code = SS_OK;
	int count;

	if (c->sites[0] == '\0')
		return SS_OK;
	count = scandir(c->sites, &entries, is_toml, alphasort);
	if (count < 0) {
		error_set(err, SS_CONFIG, "sites: %s cannot be read: %s",
			c->sites, strerror(errno));
		error_hint(err, "name a directory of files with [site] tables");
		return SS_CONFIG;
	}
	for (int i = 0; i < count; i++) {
		char *file = arena_printf(
			&c->arena, "%s/%s", c->sites, entries[i]->d_name);

		if (code == SS_OK)
			code = file != NULL ? load_file(c, file, true, err)
					    : error_memory(err);
		free(entries[i]);
	}
	free(entries);
	return code;
}

/* ------------------------------------------------------------ environment -- */

/* name is variable without its prefix. */
static enum ss_err
set_variable(struct config *c, const char *variable, struct ss_text name,
	const char *value, struct ss_error *err)
{
	const struct source from = { .variable = variable };
	const struct config_key *key = config_key_of_variable(name);
	struct arena scratch = { .limit = 0 };
	enum ss_err code;

	if (text_starts(name, "ENV_"))
		return set_env_text(
			c, name.data + 4, name.len - 4, value, &from, err);
	if (key == NULL) {
		refuse_name(variable + strlen(VARIABLE_PREFIX), 0, &from, err);
		return SS_CONFIG;
	}
	code = set_from_text(c, &scratch, key, value, &from, err);
	arena_release(&scratch);
	return code;
}

enum ss_err
config_environ(struct config *c, char *const envp[], struct ss_error *err)
{
	const size_t skip = strlen(VARIABLE_PREFIX);
	enum ss_err code = SS_OK;
	struct config before;

	if (!save_config(c, &before))
		return error_memory(err);
	for (; *envp != NULL && code == SS_OK; envp++) {
		const char *equals = strchr(*envp, '=');
		struct ss_text name;
		char *variable;

		if (strncmp(*envp, VARIABLE_PREFIX, skip) != 0 ||
			equals == NULL)
			continue;
		name = (struct ss_text){ *envp + skip,
			(size_t)(equals - *envp) - skip };
		/*
		 * STATESPACE_CONFIG is the -c option; tools, which may start
		 * us again, have STATESPACE_REQUEST_ID.
		 */
		if (text_is(name, "CONFIG") || text_is(name, "REQUEST_ID"))
			continue;
		variable =
			arena_copy(&c->arena, *envp, (size_t)(equals - *envp));
		code = variable != NULL
			? set_variable(c, variable, name, equals + 1, err)
			: error_memory(err);
	}
	if (code != SS_OK)
		restore_config(c, &before);
	return code;
}
