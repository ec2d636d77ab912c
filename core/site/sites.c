/* SPDX-License-Identifier: MIT */
#include "site/sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/digest.h"
#include "base/error.h"
#include "sandbox/grant_path.h"
#include "site/config_sites.h"
#include "site/sites_check.h"
#include "wire/authority.h"

/* A name that leads to a site; a site may have several hosts. */
struct site_name {
	const char *host, *prefix;
	unsigned number; /* of the site, from 1 */
};

struct sites {
	struct ss_site **list;
	struct view_site *views; /* where each lies, for the plan */
	size_t count;
	struct site_name *names; /* by host, the longest prefix first */
	size_t name_count;
	struct sandbox_place own; /* of the site that has them all */
	struct ss_site *warm[SITES_WARM];
	size_t warm_count;
	uint64_t uses;
	struct ss_site *chosen; /* the last one; NULL: none yet */
	size_t looked;          /* the next one that ss_site_moved looks at */
};

/* -------------------------------------------------------------- opening -- */

/* Where the site's table is, before what is wrong. */
static enum ss_err
name_place(const struct config_site *at, enum ss_err code, struct ss_error *err)
{
	char message[sizeof(err->message)], place[300];

	if (code != SS_CONFIG || err == NULL ||
		strncmp(err->message, at->file, strlen(at->file)) == 0)
		return code;
	snprintf(message, sizeof(message), "%s", err->message);
	snprintf(place, sizeof(place), "%s:%u: [site.\"%.100s\"]", at->file,
		at->line, at->name);
	return error_set(err, code, "%s: %s", place, message);
}

static bool
choose_place(struct view_site *v)
{
	uint8_t bytes[16];
	char digits[2 * sizeof(bytes) + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	digest_hex(bytes, sizeof(bytes), digits);
	snprintf(v->at, sizeof(v->at), "%s/%s", VIEW_SITES, digits);
	return true;
}

static enum ss_err
open_one(struct ss_site *all, const struct config_site *at, unsigned number,
	struct view_site *v, struct ss_site **out, struct ss_error *err)
{
	struct ss_site *site = site_new_blank();
	enum ss_err code;

	if (site == NULL)
		return error_memory(err);
	code = config_init_site(&site->config, &all->config, at, err);
	if (code != SS_OK) {
		site->config = (struct config){ .root = "" };
		ss_site_free(site);
		return code;
	}
	*out = site;
	site->name = at->name;
	site->number = number;
	code = site_open_part(site, all, err);
	if (code != SS_OK)
		return name_place(at, code, err);
	v->root = site->config.root;
	v->grant = &site->grant;
	return choose_place(v) ? SS_OK : error_internal(err, 0, "getrandom");
}

static int
by_host(const void *a, const void *b)
{
	const struct site_name *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	if (order != 0)
		return order;
	order = (int)strlen(y->prefix) - (int)strlen(x->prefix);
	return order != 0 ? order : strcmp(x->prefix, y->prefix);
}

/* The host of its name, and those of http.hosts: config_init_site. */
static enum ss_err
add_names(struct sites *s, struct ss_site *site, const struct config_site *at,
	struct ss_error *err)
{
	const struct config_list *hosts = &site->config.http.hosts;
	char host[AUTHORITY_HOST_MAX + 1];

	s->names[s->name_count++] =
		(struct site_name){ at->host, at->prefix, site->number };
	if (at->host[0] == '\0')
		return SS_OK;
	for (size_t i = 1; i < hosts->count; i++) {
		char *copy;

		if (!authority_host_folded(text_of(hosts->items[i]), host)) {
			error_set(err, SS_CONFIG,
				"http.hosts: \"%s\" is no host",
				hosts->items[i]);
			return name_place(at, SS_CONFIG, err);
		}
		copy = arena_copy(&site->config.arena, host, strlen(host));
		if (copy == NULL)
			return error_memory(err);
		s->names[s->name_count++] =
			(struct site_name){ copy, at->prefix, site->number };
	}
	return SS_OK;
}

static enum ss_err
sort_names(struct ss_site *all, struct sites *s, struct ss_error *err)
{
	const struct config_site *at = all->config.first_site;
	enum ss_err code = SS_OK;
	size_t most = 0;

	for (size_t i = 0; i < s->count; i++)
		most += 1 + s->list[i]->config.http.hosts.count;
	s->names = calloc(most + 1, sizeof(*s->names));
	if (s->names == NULL)
		return error_memory(err);
	for (size_t i = 0; i < s->count && code == SS_OK; i++, at = at->next)
		code = add_names(s, s->list[i], at, err);
	if (code != SS_OK)
		return code;
	qsort(s->names, s->name_count, sizeof(*s->names), by_host);
	for (size_t i = 1; i < s->name_count; i++)
		if (by_host(&s->names[i - 1], &s->names[i]) == 0) {
			error_set(err, SS_CONFIG,
				"the name %s%s leads to two sites: %s and %s",
				s->names[i].host, s->names[i].prefix,
				s->list[s->names[i - 1].number - 1]->name,
				s->list[s->names[i].number - 1]->name);
			error_hint(err, "look at their [http] hosts");
			return SS_CONFIG;
		}
	return SS_OK;
}

static struct site_claim
claim_of(const struct ss_site *site, const struct config_site *at)
{
	return (struct site_claim){ .at = at,
		.root = site->config.root,
		.device = site->root_is.device,
		.inode = site->root_is.inode,
		.grant = &site->grant };
}

static enum ss_err
check_all(
	const struct ss_site *all, const struct sites *s, struct ss_error *err)
{
	const struct config_site *at = all->config.first_site;
	struct site_claim *claims = calloc(s->count + 1, sizeof(*claims));
	enum ss_err code;

	if (claims == NULL)
		return error_memory(err);
	claims[0] = claim_of(all, NULL);
	for (size_t i = 0; i < s->count; i++, at = at->next)
		claims[i + 1] = claim_of(s->list[i], at);
	code = sites_check(claims, s->count + 1, err);
	free(claims);
	return code;
}

static enum ss_err
open_all(struct ss_site *all, struct sites *s, struct ss_error *err)
{
	const struct config_site *at = all->config.first_site;
	size_t count = all->config.site_count;
	enum ss_err code = SS_OK;

	s->list = calloc(count, sizeof(struct ss_site *));
	s->views = calloc(count, sizeof(*s->views));
	if (s->list == NULL || s->views == NULL)
		return error_memory(err);
	for (; at != NULL && code == SS_OK; at = at->next, s->count++)
		code = open_one(all, at, (unsigned)s->count + 1,
			&s->views[s->count], &s->list[s->count], err);
	if (code == SS_OK)
		code = check_all(all, s, err);
	return code == SS_OK ? sort_names(all, s, err) : code;
}

enum ss_err
sites_open(struct ss_site *all, struct ss_error *err)
{
	enum ss_err code;

	if (all->config.site_count == 0)
		return SS_OK;
	all->sites = calloc(1, sizeof(*all->sites));
	if (all->sites == NULL)
		return error_memory(err);
	all->sites->own = sandbox_place();
	code = open_all(all, all->sites, err);
	config_drop_tables(&all->config);
	all->plan.sites = all->sites->views;
	all->plan.site_count = code == SS_OK ? all->sites->count : 0;
	return code;
}

void
sites_free(struct sites *s)
{
	if (s == NULL)
		return;
	for (size_t i = 0; i < s->count && s->list != NULL; i++)
		ss_site_free(s->list[i]);
	free(s->list);
	free(s->views);
	free(s->names);
	free(s);
}

/* ------------------------------------------------------------- choosing -- */

/* "/docs" is a prefix of "/docs" and "/docs/a", not of "/docsa". */
static bool
is_prefix(const char *prefix, const char *path)
{
	size_t n = strlen(prefix);

	return strncmp(path, prefix, n) == 0 &&
		(path[n] == '\0' || path[n] == '/');
}

/* The first name with that host; name_count: none. */
static size_t
first_of(const struct sites *s, const char *host)
{
	size_t low = 0, high = s->name_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(s->names[middle].host, host) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < s->name_count && strcmp(s->names[low].host, host) == 0
		? low
		: s->name_count;
}

static unsigned
find_below(const struct sites *s, const char *host, const char *path)
{
	for (size_t i = first_of(s, host);
		i < s->name_count && strcmp(s->names[i].host, host) == 0; i++)
		if (is_prefix(s->names[i].prefix, path))
			return s->names[i].number;
	return 0;
}

/*
 * The host that the front server chose its own settings by, where it tells; a
 * client can write another one into Host (RFC 9112 3.2.2).  Guards compare Host
 * itself with the names of the site.
 */
static bool
host_of(const struct ss_request *req, char out[static AUTHORITY_HOST_MAX + 1])
{
	const char *host = req->site_host != NULL ? req->site_host : req->host;

	return host != NULL && authority_host_folded(text_of(host), out);
}

static unsigned
find_number(const struct sites *s, const struct ss_request *req)
{
	const char *path = req->path != NULL ? req->path : "/";
	char host[AUTHORITY_HOST_MAX + 1];
	unsigned number = 0;

	if (host_of(req, host))
		number = find_below(s, host, path);
	return number != 0 ? number : find_below(s, "", path);
}

bool
sites_has_host(const struct ss_site *all, const struct ss_request *req)
{
	char host[AUTHORITY_HOST_MAX + 1];

	return host_of(req, host) &&
		first_of(all->sites, host) < all->sites->name_count;
}

/* -------------------------------------------------------- warm and cold -- */

void
sites_enter(struct ss_site *all)
{
	if (all->sites != NULL)
		all->sites->own = sandbox_place();
}

static size_t
coldest(const struct sites *s)
{
	size_t found = 0;

	for (size_t i = 1; i < s->warm_count; i++)
		if (s->warm[i]->last_use < s->warm[found]->last_use)
			found = i;
	return found;
}

static enum ss_err
warm_up(struct ss_site *all, struct ss_site *site, struct ss_error *err)
{
	const struct view_site *v = &all->sites->views[site->number - 1];
	bool strict = sandbox_self()->level == SANDBOX_STRICT;
	struct sites *s = all->sites;
	enum ss_err code;

	code = site_warm_up(site, strict ? v->at : v->root, err);
	if (code != SS_OK)
		return code;
	if (s->warm_count == SITES_WARM) {
		size_t i = coldest(s);

		site_cool(s->warm[i]);
		s->warm[i] = s->warm[--s->warm_count];
	}
	s->warm[s->warm_count++] = site;
	return SS_OK;
}

/* What the host has set on the site that has them all since the last time. */
static void
lend_settings(const struct ss_site *all, struct ss_site *site)
{
	site->exec_state.limit.host = all->exec_state.limit.host;
	site->exec_state.client = all->exec_state.client;
	site->exec_state.is_worker = all->exec_state.is_worker;
	site->exec_state.must_exit = all->exec_state.must_exit;
	site->relay = all->relay;
	site->store = all->store;
	site->jobs_host = all->jobs_host;
	site->log.write = all->log.write;
	site->log.ctx = all->log.ctx;
	memcpy(site->hooks, all->hooks, sizeof(site->hooks));
	site->hook_count = all->hook_count;
}

/* From now on the sandbox of this process is about that site. */
static void
move_sandbox(const struct ss_site *all, const struct ss_site *site)
{
	const struct sites *s = all->sites;
	const struct view_site *v;
	struct sandbox_place place = s->own;

	if (site != all && sandbox_self()->level != SANDBOX_NONE) {
		bool strict = sandbox_self()->level == SANDBOX_STRICT;

		v = &s->views[site->number - 1];
		place = (struct sandbox_place){
			.number = (unsigned)(v - all->plan.sites) + 1,
			.site = strict ? v->at : v->root,
			.site_fd = strict ? -1 : site->documents.root.fd
		};
	}
	sandbox_move(&place);
}

static enum ss_err
use(struct ss_site *all, struct ss_site *site, struct ss_error *err)
{
	struct sites *s = all->sites;
	enum ss_err code = SS_OK;

	if (s->chosen != NULL && s->chosen->exec_state.must_exit)
		all->exec_state.must_exit = true;
	s->chosen = site;
	if (site != all) {
		lend_settings(all, site);
		site->last_use = ++s->uses;
		if (!site->opened)
			code = warm_up(all, site, err);
	}
	move_sandbox(all, site);
	return code;
}

enum ss_err
sites_choose(struct ss_site *all, const struct ss_request *req,
	struct ss_site **out, struct ss_error *err)
{
	unsigned number;

	*out = all;
	if (all->sites == NULL)
		return SS_OK;
	number = find_number(all->sites, req);
	if (number > 0)
		*out = all->sites->list[number - 1];
	return use(all, *out, err);
}

const struct ss_site *
sites_chosen(const struct ss_site *all)
{
	return all->sites != NULL && all->sites->chosen != NULL
		? all->sites->chosen
		: all;
}

/* ------------------------------------------------- for hosts: statespace.h -- */

size_t
ss_site_count(const struct ss_site *site)
{
	return site->sites != NULL ? site->sites->count
				   : site->config.site_count;
}

double
ss_site_option_most(const struct ss_site *site, const char *key)
{
	double most = ss_site_option_number(site, key), one;

	for (size_t i = 0; site->sites != NULL && i < site->sites->count; i++) {
		one = ss_site_option_number(site->sites->list[i], key);
		most = one > most ? one : most;
	}
	return most;
}

size_t
ss_site_holding(const struct ss_site *site, const char *directory)
{
	char *real = site->sites != NULL ? realpath(directory, NULL) : NULL;
	size_t found = 0;

	for (size_t i = 0; real != NULL && i < site->sites->count; i++)
		if (grant_path_is_below(
			    real, site->sites->list[i]->config.root))
			found = i + 1;
	free(real);
	return found;
}

const char *
ss_site_name(const struct ss_site *site, size_t number)
{
	if (number == 0)
		return "";
	return site->sites != NULL && number <= site->sites->count
		? site->sites->list[number - 1]->name
		: NULL;
}

size_t
ss_site_chosen(const struct ss_site *site)
{
	return site->sites != NULL && site->sites->chosen != NULL
		? site->sites->chosen->number
		: 0;
}

size_t
ss_site_find(const struct ss_site *site, const char *name)
{
	const char *slash = strchr(name, '/');
	size_t len = slash != NULL ? (size_t)(slash - name) : strlen(name);
	char host[AUTHORITY_HOST_MAX + 1] = "", path[CONFIG_SITE_NAME_MAX + 1];
	struct ss_text authority = { name, len };
	size_t number;

	if (site->sites == NULL ||
		(len > 0 && !authority_host_folded(authority, host)))
		return 0;
	snprintf(path, sizeof(path), "%s", slash != NULL ? slash : "/");
	len = strlen(path);
	while (len > 0 && path[len - 1] == '/')
		path[--len] = '\0';
	number = find_below(site->sites, host, path);
	return number > 0 &&
			strcmp(path,
				site->sites->list[number - 1]
					->config.http.prefix) == 0
		? number
		: 0;
}

enum ss_err
ss_site_pick(struct ss_site *site, size_t number, struct ss_site **out,
	struct ss_error *err)
{
	*out = site;
	if (number > (site->sites != NULL ? site->sites->count : 0))
		return error_set(err, SS_CONFIG, "there is no such site");
	if (site->sites == NULL)
		return SS_OK;
	if (number > 0)
		*out = site->sites->list[number - 1];
	return use(site, *out, err);
}

void
ss_site_narrow(struct ss_site *site, const struct ss_request *req)
{
	struct sites *s = site->sites;
	unsigned number;

	if (s == NULL)
		return;
	number = find_number(s, req);
	site->plan.sites = number > 0 ? &s->views[number - 1] : NULL;
	site->plan.site_count = number > 0;
}

#define LOOKS 64 /* at a time */

bool
ss_site_moved(struct ss_site *site)
{
	struct sites *s = site->sites;
	size_t looks = s == NULL ? 0 : s->count < LOOKS ? s->count : LOOKS;

	if (site_root_moved(site))
		return true;
	for (size_t i = 0; i < looks; i++) {
		s->looked = (s->looked + 1) % s->count;
		if (site_root_moved(s->list[s->looked]))
			return true;
	}
	return false;
}
