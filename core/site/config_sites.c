/* SPDX-License-Identifier: MIT */
#include "site/config_sites.h"

#include <stdio.h>

#include "wire/authority.h"
#include "wire/path.h"

/* Memory of a tree of nodes that has tables of sites. */
struct config_held {
	struct arena arena;
	struct config_held *next;
};

static enum ss_err
refuse_site(const struct config_source *from, const struct node *key,
	struct ss_error *err, const char *what, const char *hint)
{
	error_set(err, SS_CONFIG, "%s:%u: [site.\"%.*s\"]: %s",
		config_shown_file(from->file), key->line,
		(int)utf8_cut(key->text, key->len, CONFIG_SHOWN_VALUE),
		key->text, what);
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
add_site(struct config *c, const struct node *n,
	const struct config_source *from, struct ss_error *err)
{
	static const char hint[] =
		"a site is named by its host, without a port, a path, or both: "
		"[site.\"example.org/docs\"]";
	struct config_site *s = arena_alloc(&c->arena, sizeof(*s));
	char twice[CONFIG_SHOWN_FILE + 64];

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
			config_shown_file(o->file), o->line);
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

enum ss_err
config_add_sites(struct config *c, const struct node *n,
	const struct config_source *from, struct ss_error *err)
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

enum ss_err
config_hold_tables(
	struct config *c, struct arena *scratch, struct ss_error *err)
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
	const struct config_source from = { .file = NULL };
	const struct config_key *key;
	enum ss_err code = SS_OK;
	struct node n;

	for (size_t i = 0; code == SS_OK && (key = config_key_at(i)) != NULL;
		i++)
		if (key->scope == KEY_OWN && config_preset_node(key, &n))
			code = config_store_value(c, key, &n, &from, err);
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
	const struct config_source from = {
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
		code = config_store_member(out, n, &from, &scratch, err);
	if (code == SS_OK)
		code = add_hosts(out, c, site, err);
	out->http.prefix = site->prefix;
	arena_release(&scratch);
	if (code != SS_OK) {
		arena_release(&out->arena);
		memset(out, 0, sizeof(*out));
	}
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
