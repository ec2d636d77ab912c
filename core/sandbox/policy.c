/* SPDX-License-Identifier: MIT */
#include "sandbox/policy.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "sandbox/grant_path.h"
#include "sandbox/program.h"
#include "sandbox/sandbox.h"
#include "sandbox/view.h"

/* ----------------------------------------------------- the ceiling */

/* Where a refusal is stored. */
struct verdict {
	struct node_place *place; /* NULL: not wanted */
	struct ss_error *err;
};

static struct node_place
list_place(const struct name_list *list)
{
	return (struct node_place){ list->line, list->column };
}

/* The key of [grant] that would allow it. */
static void
set_grant(struct ss_error *err, const char *key, const char *what)
{
	char setting[sizeof(err->setting)];
	size_t len = strlen(what);

	snprintf(setting, sizeof(setting), "grant.%s", key);
	if (strcmp(key, "http") == 0 || strcmp(what, "true") == 0)
		error_setting(err, setting, "true");
	else if (strcmp(key, "exec") == 0 && strcmp(what, "any") == 0)
		error_setting(err, setting, "\"any\"");
	else
		error_setting(err, setting, "+%.*s",
			(int)(len - (len > 1 && what[len - 1] == '?')), what);
}

static enum ss_err
refuse_more(const struct verdict *v, struct node_place at, const char *key,
	const char *what)
{
	error_set(v->err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: %s: %s is more than this server grants",
		at.line, at.column, key, what);
	error_hint(v->err,
		"ask for less, or have the operator add it to [grant] "
		"%s",
		key);
	error_rule(v->err, at.line, "%s: %s", key, what);
	set_grant(v->err, key, what);
	if (v->place != NULL)
		*v->place = at;
	return SS_CAPABILITY_REFUSED;
}

/* Where on the host that is goes to the operator alone. */
static enum ss_err
refuse_path(const struct verdict *v, struct node_place at, const char *key,
	const char *name, const char *root)
{
	bool absolute = name[0] == '/';
	char path[PATH_MAX];
	bool optional;

	refuse_more(v, at, key, name);
	error_hint(v->err,
		"%sask for less, or have the operator add it to [grant] %s",
		absolute ? ""
			 : "paths begin at the site's root, not at the page; ",
		key);
	if (grant_path_outside(name, root, path, sizeof(path), &optional)) {
		if (strcmp(name, path) != 0)
			error_detail(v->err, "%s is %s", name, path);
	} else if (absolute)
		error_detail(v->err, "%s has .. in it", name);
	else
		error_detail(v->err, "%s would be %s/%s, and .. is refused",
			name, root, name);
	return SS_CAPABILITY_REFUSED;
}

/* Is an outside path one of these, or (unless exact) below one? */
static bool
list_covers(const struct path_list *list, const char *root, const char *path,
	bool exact)
{
	char granted[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < list->count; i++)
		if (grant_path_outside(list->items[i], root, granted,
			    sizeof(granted), &optional) &&
			(exact ? strcmp(path, granted) == 0
			       : grant_path_is_below(path, granted)))
			return true;
	return false;
}

/* Every tool may read the site. */
static enum ss_err
check_paths(const struct name_list *asked, const struct path_list *ceiling,
	const char *root, const char *key, const struct verdict *v)
{
	bool sockets = strcmp(key, "unix") == 0;
	bool reading = strcmp(key, "read") == 0;
	char path[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < asked->count; i++) {
		if (!grant_path_outside(asked->names[i], root, path,
			    sizeof(path), &optional))
			return refuse_path(v, list_place(asked), key,
				asked->names[i], root);
		if (reading && grant_path_is_below(path, root))
			continue;
		if (!list_covers(ceiling, root, path, sockets))
			return refuse_path(v, list_place(asked), key,
				asked->names[i], root);
	}
	return SS_OK;
}

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* "jq" is allowed by "jq" and by "/opt/bin/jq"; a path only by itself. */
static bool
program_granted(const struct grant *ceiling, const char *name)
{
	size_t len = strlen(name);
	const char *item;

	len -= len > 1 && name[len - 1] == '?';
	for (size_t i = 0; i < ceiling->exec.count; i++) {
		item = ceiling->exec.items[i];
		if (memchr(name, '/', len) == NULL)
			item = base_name(item);
		if (strncmp(item, name, len) == 0 && item[len] == '\0')
			return true;
	}
	return ceiling->exec_any;
}

static enum ss_err
check_exec(const struct policy_ask *ask, const struct wants *w,
	const struct grant *ceiling, const struct verdict *v)
{
	if (ceiling->exec_any)
		return SS_OK;
	if (w->exec_any)
		return refuse_more(v, w->exec_at, "exec", "any");
	for (size_t i = 0; i < w->exec.count; i++)
		if (!program_granted(ceiling, w->exec.names[i]))
			return refuse_more(v, list_place(&w->exec), "exec",
				w->exec.names[i]);
	if (ask->helper == NULL && ask->program != NULL &&
		!program_granted(ceiling, ask->program))
		return refuse_more(v, ask->program_at, "exec", ask->word);
	for (size_t i = 0; i < ask->more_count; i++)
		if (ask->more[i].helper == NULL &&
			!program_granted(ceiling, ask->more[i].name))
			return refuse_more(
				v, ask->more[i].at, "exec", ask->more[i].word);
	return SS_OK;
}

static enum ss_err
check_network(const struct policy_ask *ask, const struct wants *w,
	const struct grant *ceiling, const struct verdict *v)
{
	size_t k;

	if (ask->http && !ceiling->http)
		return refuse_more(v, ask->program_at, "http", "the HTTP tool");
	if (ceiling->network == NETWORK_ALL)
		return SS_OK;
	if (w->network == NETWORK_ALL)
		return refuse_more(v, w->network_at, "network", "true");
	if (w->network != NETWORK_LISTED)
		return SS_OK;
	for (size_t i = 0; i < w->network_targets.count; i++) {
		for (k = 0; k < ceiling->network_targets.count; k++)
			if (strcmp(w->network_targets.names[i],
				    ceiling->network_targets.items[k]) == 0)
				break;
		if (k == ceiling->network_targets.count)
			return refuse_more(v, list_place(&w->network_targets),
				"network", w->network_targets.names[i]);
	}
	return SS_OK;
}

static uint64_t
limit_or(uint64_t own, uint64_t general)
{
	return own != 0 ? own : general;
}

/* A ceiling of 0 is none. */
static enum ss_err
check_limit(const struct verdict *v, struct node_place at, const char *key,
	double asked, double ceiling)
{
	char setting[48];

	if (ceiling == 0 || asked <= ceiling)
		return SS_OK;
	error_set(v->err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: %s is more than this server grants",
		at.line, at.column, key);
	error_hint(v->err,
		"the most is %.16g: ask for less, or have the operator set "
		"[grant] %s = %.16g",
		ceiling, key, asked);
	error_rule(v->err, at.line, "%s: %.16g", key, asked);
	snprintf(setting, sizeof(setting), "grant.%s", key);
	error_setting(v->err, setting, "%.16g", asked);
	if (v->place != NULL)
		*v->place = at;
	return SS_CAPABILITY_REFUSED;
}

static enum ss_err
check_limits(
	const struct wants *w, const struct grant *g, const struct verdict *v)
{
	enum ss_err code = check_limit(v, w->timeout_at, "timeout", w->timeout,
		(double)limit_or(g->timeout_ms, g->limits.timeout_ms) / 1000);

	if (code == SS_OK)
		code = check_limit(v, w->memory_at, "memory_bytes",
			(double)w->memory_bytes,
			(double)limit_or(
				g->memory_bytes, g->limits.memory_bytes));
	if (code == SS_OK)
		code = check_limit(v, w->processes_at, "processes",
			(double)w->processes,
			(double)limit_or(g->processes, g->limits.processes));
	return code;
}

/* Does the operator let a page have a copy of that folder, of that size? */
static enum ss_err
check_workspace(const struct workspace_want *w, const struct grant *g,
	const struct verdict *v)
{
	const struct name_list folder = {
		.names = &(const char *){ w->folder != NULL ? w->folder : "." },
		.count = 1,
		.line = w->folder != NULL ? w->folder_at.line : w->at.line,
		.column =
			w->folder != NULL ? w->folder_at.column : w->at.column,
	};
	char path[PATH_MAX];
	bool optional;
	enum ss_err code;

	if (!workspace_is_wanted(w))
		return SS_OK;
	if (!grant_path_outside(
		    folder.names[0], g->root, path, sizeof(path), &optional) ||
		!grant_path_is_below(path, g->root))
		return refuse_path(v, list_place(&folder), "workspace",
			folder.names[0], g->root);
	code = check_paths(&folder, &g->workspace, g->root, "workspace", v);
	if (code == SS_OK)
		code = check_limit(v, w->at, "workspace max_bytes",
			(double)w->max_bytes, (double)g->workspace_bytes);
	if (code == SS_OK)
		code = check_limit(v, w->at, "workspace max_files",
			(double)w->max_files, (double)g->workspace_files);
	if (code == SS_OK)
		code = check_limit(v, w->at, "workspace idle", w->idle,
			(double)g->workspace_idle_s);
	return code;
}

enum ss_err
policy_check(const struct policy_ask *ask, const struct grant *g,
	struct node_place *place, struct ss_error *err)
{
	const struct verdict v = { place, err };
	const struct wants w = powers_of(ask).asked;
	enum ss_err code = check_paths(&w.read, &g->read, g->root, "read", &v);

	if (code == SS_OK)
		code = check_paths(&w.write, &g->write, g->root, "write", &v);
	if (code == SS_OK)
		code = check_paths(
			&w.unix_sockets, &g->unix_sockets, g->root, "unix", &v);
	if (code == SS_OK)
		code = check_exec(ask, &w, g, &v);
	if (code == SS_OK)
		code = check_network(ask, &w, g, &v);
	if (code == SS_OK && w.proc && !g->proc)
		code = refuse_more(&v, w.proc_at, "proc", "true");
	if (code == SS_OK)
		code = check_workspace(&w.workspace, g, &v);
	return code == SS_OK ? check_limits(&w, g, &v) : code;
}

/* The widest of these grants that an outside path is within; NULL: none. */
static const char *
widest_grant(const struct path_list *list, const char *root, const char *path,
	char granted[static PATH_MAX])
{
	char one[PATH_MAX];
	const char *found = NULL;
	bool optional;

	for (size_t i = 0; i < list->count; i++)
		if (grant_path_outside(list->items[i], root, one, sizeof(one),
			    &optional) &&
			grant_path_is_below(path, one) &&
			(found == NULL || strlen(one) < strlen(granted)))
			found = memcpy(granted, one, strlen(one) + 1);
	return found;
}

/*
 * The grant that a path is looked up beneath: a writable one if the path lies
 * in one, since a tool may have put a link there.
 */
static const char *
grant_over(const struct grant *ceiling, const char *path,
	char granted[static PATH_MAX])
{
	const char *root = ceiling->root;

	if (widest_grant(&ceiling->write, root, path, granted) != NULL)
		return granted;
	return widest_grant(&ceiling->read, root, path, granted);
}

/*
 * Is a part of the path a dot entry of a directory between the site's root and
 * the page's?  ruleset.c makes no rule for those (allow_entries).
 */
static bool
is_hidden(const char *path, const char *page_dir)
{
	const char *part = path, *way = page_dir;
	size_t n;

	for (;; part += n + 1, way += n + (way[n] == '/')) {
		n = strcspn(part, "/");
		if (part[0] == '.')
			return true;
		if (part[n] == '\0' || strncmp(part, way, n) != 0 ||
			(way[n] != '/' && way[n] != '\0') || n == 0)
			return false;
	}
}

/* Of a path below the site's root. */
static bool
is_hidden_below(const char *path, const char *root, const char *page_dir)
{
	path += strlen(root);
	return is_hidden(path + (path[0] == '/'), page_dir);
}

bool
policy_read_holds(
	const struct policy_ask *ask, const struct grant *g, const char *name)
{
	char path[PATH_MAX], granted[PATH_MAX];
	bool optional;

	return !grant_path_outside(
		       name, g->root, path, sizeof(path), &optional) ||
		!grant_path_is_below(path, g->root) ||
		!is_hidden_below(path, g->root, ask->page_dir) ||
		grant_over(g, path, granted) != NULL;
}

/* Does one of the names have it, with what the operator grants? */
static bool
names_have(const struct name_list *names, const struct policy_ask *ask,
	const struct grant *g, const char *path)
{
	char one[PATH_MAX];
	bool optional;

	for (size_t i = 0; i < names->count; i++)
		if (grant_path_outside(names->names[i], g->root, one,
			    sizeof(one), &optional) &&
			grant_path_is_below(path, one) &&
			policy_read_holds(ask, g, names->names[i]))
			return true;
	return false;
}

/* What ruleset.c allows to every tool, for files that its view has. */
static bool
is_of_system(const char *path, unsigned keeps)
{
	static const char *const none[] = { NULL };
	const char *const *const lists[] = { view_program_trees,
		view_etc_entries, view_devices,
		keeps & KEEP_NETWORK ? view_etc_network : none };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (const char *const *tree = lists[i]; *tree != NULL; tree++)
			if (grant_path_is_below(path, *tree))
				return true;
	return false;
}

bool
policy_reads(
	const struct policy_ask *ask, const struct grant *g, const char *path)
{
	const struct powers p = powers_of(ask);

	if (names_have(&p.asked.read, ask, g, path) ||
		names_have(&p.asked.write, ask, g, path) ||
		names_have(&p.asked.unix_sockets, ask, g, path))
		return true;
	if (grant_path_is_below(path, g->root))
		return !is_hidden_below(path, g->root, ask->page_dir);
	return is_of_system(path, p.keeps);
}

bool
policy_writes(
	const struct policy_ask *ask, const struct grant *g, const char *path)
{
	const struct wants w = powers_of(ask).asked;

	return names_have(&w.write, ask, g, path);
}

bool
policy_is_writable(const struct grant *ceiling, const char *path)
{
	char whole[PATH_MAX];
	bool optional;

	return ceiling->write.count > 0 &&
		grant_path_outside(
			path, ceiling->root, whole, sizeof(whole), &optional) &&
		list_covers(&ceiling->write, ceiling->root, whole, false);
}

static bool
is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is `what` the root, the path beneath it, or a directory in between? */
static bool
is_on_the_way(int root, const char *path, const struct stat *what)
{
	char part[PATH_MAX] = ".";
	struct stat st;
	size_t len = 0;

	for (;;) {
		if (fstatat(root, part, &st, 0) != 0 || is_same_file(&st, what))
			return true;
		if (path[len] == '\0')
			return false;
		len += path[len] == '/';
		len += strcspn(path + len, "/");
		if (len >= sizeof(part))
			return true;
		memcpy(part, path, len);
		part[len] = '\0';
	}
}

bool
policy_leads_to(const struct grant *ceiling, int root, const char *path)
{
	const struct path_list *write = &ceiling->write;
	const char *site = sandbox_self()->site;
	char granted[PATH_MAX];
	struct stat st;
	bool optional;

	if (site[0] == '\0')
		site = ceiling->root;
	for (size_t i = 0; i < write->count; i++) {
		const char *name = granted;
		int at;

		if (!grant_path_inside(write->items[i], ceiling->root, site,
			    granted, sizeof(granted), &optional))
			continue;
		at = sandbox_at(&name);
		/* A grant that does not exist is passed over. */
		if (fstatat(at, name, &st, 0) == 0 &&
			is_on_the_way(root, path, &st))
			return true;
	}
	return false;
}

const char *
policy_alias(const struct grant *ceiling)
{
	char granted[PATH_MAX], *real;
	bool optional, is_alias;

	for (size_t i = 0; i < ceiling->write.count; i++) {
		if (!grant_path_outside(ceiling->write.items[i], ceiling->root,
			    granted, sizeof(granted), &optional))
			continue;
		real = realpath(granted, NULL);
		is_alias = real != NULL && strcmp(real, granted) != 0 &&
			grant_path_is_below(ceiling->root, real);
		free(real);
		if (is_alias)
			return ceiling->write.items[i];
	}
	return NULL;
}

/* ------------------------------------------------------- resolving */

struct resolving {
	struct arena *arena;
	const struct policy_ask *ask;
	const struct grant *ceiling;
	struct powers powers;
	struct policy *out;
	struct ss_error *err;
};

/* A name as this process sees it.  NULL: no memory, or no path. */
static const char *
copy_inside(const struct resolving *r, const char *name, bool *optional)
{
	char path[PATH_MAX];

	if (!grant_path_inside(name, r->ceiling->root, sandbox_self()->site,
		    path, sizeof(path), optional))
		return NULL;
	return arena_copy(r->arena, path, strlen(path));
}

static enum ss_err
refuse_absent(const struct resolving *r, const struct name_list *asked,
	const char *name)
{
	error_set(r->err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: %s is granted and not there", asked->line,
		asked->column, name);
	error_hint(r->err, "end it with ? when it may be absent");
	error_rule(r->err, asked->line, "%s", name);
	return SS_CAPABILITY_REFUSED;
}

/*
 * Names as this process sees them.  Left out are an absent optional one, and a
 * part of the site that [grant] does not name: the rules of the whole site hold
 * for it.
 */
static enum ss_err
resolve_paths(struct resolving *r, const struct name_list *asked,
	struct path_list *out, struct path_list *out_under)
{
	const char **items =
		arena_array(r->arena, asked->count + 1, sizeof(*items));
	const struct verdict v = { NULL, r->err };
	const char **unders =
		arena_array(r->arena, asked->count + 1, sizeof(*unders));
	char path[PATH_MAX], granted[PATH_MAX];
	bool optional;

	if (items == NULL || unders == NULL)
		return error_memory(r->err);
	out->items = items;
	out_under->items = unders;
	for (size_t i = 0; i < asked->count; i++) {
		const char *name = asked->names[i];
		const char *seen = copy_inside(r, name, &optional);

		if (seen == NULL ||
			!grant_path_outside(name, r->ceiling->root, path,
				sizeof(path), &optional))
			return refuse_more(&v, list_place(asked), "path", name);
		if (!program_exists(seen)) {
			if (optional)
				continue;
			return refuse_absent(r, asked, name);
		}
		if (grant_over(r->ceiling, path, granted) == NULL)
			continue;
		items[out->count++] = seen;
		unders[out_under->count] = copy_inside(r, granted, &optional);
		if (unders[out_under->count++] == NULL)
			return error_memory(r->err);
	}
	return SS_OK;
}

/* Their existence is not checked: only a launcher's view has them. */
static enum ss_err
resolve_sockets(struct resolving *r)
{
	const struct name_list *asked = &r->powers.asked.unix_sockets;
	const struct verdict v = { NULL, r->err };
	struct path_list *out = &r->out->unix_sockets;
	const char **items =
		arena_array(r->arena, asked->count + 1, sizeof(*items));
	bool optional;

	if (items == NULL)
		return error_memory(r->err);
	out->items = items;
	for (size_t i = 0; i < asked->count; i++) {
		items[out->count] = copy_inside(r, asked->names[i], &optional);
		if (items[out->count++] == NULL)
			return refuse_more(
				&v, list_place(asked), "path", asked->names[i]);
	}
	return SS_OK;
}

/* *out stays NULL for a helper or program that is not there. */
static enum ss_err
find_program(const struct resolving *r, const char *helper, const char *name,
	const char **out)
{
	const char *libexec = sandbox_self()->libexec;
	char path[PATH_MAX];

	if (helper != NULL && libexec[0] == '\0')
		return SS_OK;
	if (helper != NULL && sandbox_self()->one_program)
		*out = libexec;
	else if (helper != NULL)
		*out = arena_printf(r->arena, "%s/%s", libexec, helper);
	else if (program_find(name, r->ask->page_dir, path, sizeof(path)))
		*out = arena_copy(r->arena, path, strlen(path));
	else
		return SS_OK;
	return *out != NULL ? SS_OK : error_memory(r->err);
}

/* A missing program is no error here: the caller's message names the tool. */
static enum ss_err
resolve_program(struct resolving *r)
{
	const struct policy_ask *ask = r->ask;
	enum ss_err code = find_program(r, ask->helper,
		ask->component ? "sh" : ask->program, &r->out->program);

	if (code != SS_OK || ask->more_count == 0)
		return code;
	r->out->more =
		arena_array(r->arena, ask->more_count, sizeof(*r->out->more));
	if (r->out->more == NULL)
		return error_memory(r->err);
	for (size_t i = 0; i < ask->more_count && code == SS_OK; i++)
		code = find_program(r, ask->more[i].helper, ask->more[i].name,
			&r->out->more[i]);
	return code;
}

static enum ss_err
add_named(struct resolving *r, struct program_set *set, const char *name,
	struct node_place at)
{
	size_t len = strlen(name);
	bool optional = len > 1 && name[len - 1] == '?';
	char bare[PATH_MAX], path[PATH_MAX];

	snprintf(bare, sizeof(bare), "%.*s", (int)(len - optional), name);
	if (program_find(bare, r->ask->page_dir, path, sizeof(path)))
		return program_add(r->arena, set, path) ? SS_OK
							: error_memory(r->err);
	if (optional)
		return SS_OK;
	return error_set(r->err, SS_CAPABILITY_REFUSED,
		"line %u, column %u: exec: there is no program %s", at.line,
		at.column, name);
}

static enum ss_err
resolve_exec(struct resolving *r)
{
	bool all = r->powers.any_program;
	const struct name_list *asked = &r->powers.asked.exec;
	const struct path_list *granted = &r->ceiling->exec;
	struct program_set set = { 0 };
	char path[PATH_MAX];
	enum ss_err code = SS_OK;

	r->out->exec_any = all && r->ceiling->exec_any;
	if (r->out->program != NULL &&
		!program_add(r->arena, &set, r->out->program))
		return error_memory(r->err);
	for (size_t i = 0; i < r->ask->more_count; i++)
		if (r->out->more[i] != NULL &&
			!program_add(r->arena, &set, r->out->more[i]))
			return error_memory(r->err);
	for (size_t i = 0; i < asked->count && code == SS_OK; i++)
		code = add_named(r, &set, asked->names[i], list_place(asked));
	/* "All programs" are those that the ceiling lists. */
	for (size_t i = 0; all && !r->ceiling->exec_any && i < granted->count;
		i++)
		if (program_find(granted->items[i], "", path, sizeof(path)) &&
			!program_add(r->arena, &set, path))
			return error_memory(r->err);
	r->out->exec = (struct path_list){ set.items, set.count };
	return code;
}

/*
 * A tool that may make unix sockets reaches every one in its view, and the view
 * has all that the operator grants.  Only Landlock 9 (RESOLVE_UNIX) can allow
 * some of them: before it a tool that asks for some would get all.
 */
static enum ss_err
check_sockets(const struct resolving *r)
{
	const struct name_list *asked = &r->powers.asked.unix_sockets;
	const struct path_list *granted = &r->ceiling->unix_sockets;
	const struct path_list own = { asked->names, asked->count };
	const char *root = r->ceiling->root;
	char path[PATH_MAX];
	bool optional;

	if (asked->count == 0 || sandbox_self()->level != SANDBOX_STRICT ||
		sandbox_self()->landlock_abi >= 9)
		return SS_OK;
	if (sandbox_self()->shared) {
		error_set(r->err, SS_SANDBOX_UNAVAILABLE,
			"line %u, column %u: unix: this kernel cannot keep the "
			"sockets of other sites from a tool that may use one",
			asked->line, asked->column);
		error_hint(r->err,
			"serve this site from a pool of its own, or use a "
			"kernel with Landlock 9");
		return SS_SANDBOX_UNAVAILABLE;
	}
	for (size_t i = 0; i < granted->count; i++)
		if (grant_path_outside(granted->items[i], root, path,
			    sizeof(path), &optional) &&
			!list_covers(&own, root, path, true)) {
			error_set(r->err, SS_SANDBOX_UNAVAILABLE,
				"line %u, column %u: unix: this kernel cannot "
				"keep %s from a tool that may use another one",
				asked->line, asked->column, granted->items[i]);
			error_hint(r->err,
				"ask for all that [grant] unix has, or use a "
				"kernel with Landlock 9");
			return SS_SANDBOX_UNAVAILABLE;
		}
	return SS_OK;
}

static void
resolve_limits(struct resolving *r)
{
	const struct wants *w = &r->powers.asked;
	struct spawn_limits *l = &r->out->limits;

	*l = r->ceiling->limits;
	if (w->timeout > 0)
		l->timeout_ms = (uint32_t)(w->timeout * 1000 + 0.5);
	if (w->memory_bytes > 0)
		l->memory_bytes = w->memory_bytes;
	if (w->processes > 0)
		l->processes = w->processes;
#ifdef __SANITIZE_ADDRESS__
	/* AddressSanitizer maps terabytes of shadow memory. */
	if (r->ask->helper != NULL)
		l->memory_bytes = 0;
#endif
}

static void
resolve_network(struct resolving *r)
{
	const struct name_list *targets = &r->powers.asked.network_targets;
	struct policy *p = r->out;

	p->network = r->powers.asked.network;
	p->network_targets =
		(struct path_list){ targets->names, targets->count };
	p->http = r->powers.http;
	p->keeps = r->powers.keeps;
}

/* The clean path of its folder below the site; policy_check has allowed it. */
static enum ss_err
resolve_workspace(struct resolving *r)
{
	const struct workspace_want *w = &r->powers.asked.workspace;
	const char *root = r->ceiling->root;
	char path[PATH_MAX];
	bool optional;

	if (!workspace_is_wanted(w))
		return SS_OK;
	if (!grant_path_outside(w->folder != NULL ? w->folder : ".", root, path,
		    sizeof(path), &optional))
		return error_internal(r->err, 0, "workspace: the folder");
	root = path + strlen(root);
	root += strspn(root, "/");
	r->out->workspace = arena_copy(r->arena, root, strlen(root));
	return r->out->workspace != NULL ? SS_OK : error_memory(r->err);
}

enum ss_err
policy_resolve(struct arena *arena, const struct policy_ask *ask,
	const struct grant *ceiling, struct policy *out, struct ss_error *err)
{
	struct resolving r = { arena, ask, ceiling, powers_of(ask), out, err };
	enum ss_err code = policy_check(ask, ceiling, NULL, err);

	*out = (struct policy){ .page_dir = ask->page_dir,
		.site = sandbox_self()->number };
	if (code != SS_OK)
		return code;
	resolve_limits(&r);
	resolve_network(&r);
	code = resolve_program(&r);
	if (code == SS_OK)
		code = resolve_exec(&r);
	if (code == SS_OK)
		code = resolve_paths(
			&r, &r.powers.asked.read, &out->read, &out->read_under);
	if (code == SS_OK)
		code = resolve_paths(&r, &r.powers.asked.write, &out->write,
			&out->write_under);
	if (code == SS_OK)
		code = resolve_sockets(&r);
	if (code == SS_OK)
		code = check_sockets(&r);
	if (code == SS_OK)
		code = resolve_workspace(&r);
	return code;
}
