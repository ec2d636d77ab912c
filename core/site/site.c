/* SPDX-License-Identifier: MIT */
/*
 * A site from ss_site_new to ss_site_free: its configuration, its extension
 * points, the fork that makes a worker.
 */
#include "site/sites.h"
#include "site/config_load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/fd.h"
#include "run/cgroup.h"
#include "sandbox/launcher.h"
#include "sandbox/sandbox_fork.h"
#include "site/state_place.h"
#include "site/workspaces.h"

static enum ss_err
state_of(void *ctx, const struct state **out, struct ss_error *err)
{
	return site_state(ctx, out, err);
}

static enum ss_err
receipts_of(void *ctx, const struct receipts **out, struct ss_error *err)
{
	return site_receipts(ctx, out, err);
}

/* Each part borrows what it uses of the others. */
static void
lend_parts(struct ss_site *site)
{
	const struct config *config = &site->config;

	site->pages = (struct page_cache){ .config = config,
		.grant = &site->grant,
		.documents = &site->documents };
	site->log = (struct request_log){ .config = config };
	site->catalog =
		(struct catalog_cache){ .source = { .config = config,
						.documents = &site->documents,
						.arena = &site->arena },
			.pages = &site->pages,
			.log = &site->log };
	site->exec_state = (struct executor){ .config = config,
		.grant = &site->grant,
		.plan = &site->plan,
		.state = &site->state,
		.documents = &site->documents,
		.arena = &site->arena };
	site->calls = (struct call_parts){ .config = config,
		.documents = &site->documents,
		.pages = &site->pages,
		.arena = &site->arena,
		.executor = &site->executor,
		.limit = &site->exec_state.limit,
		.seal = &site->seal,
		.store = &site->store,
		.state = state_of,
		.state_ctx = site,
		.receipts = receipts_of,
		.log = &site->log };
}

struct ss_site *
site_new_blank(void)
{
	struct ss_site *site = calloc(1, sizeof(*site));

	if (site == NULL)
		return NULL;
	documents_init(&site->documents, &site->grant);
	site->plan = SANDBOX_PLAN_INIT;
	arena_init(&site->arena, 0);
	site->own_state = STATE_INIT;
	site->state = &site->own_state;
	site->own_receipts = RECEIPTS_INIT;
	site->receipts = &site->own_receipts;
	lend_parts(site);
	site->builtin_executor = executor_table(&site->exec_state);
	site->executor = site->builtin_executor;
	return site;
}

struct ss_site *
ss_site_new(void)
{
	struct ss_site *site = site_new_blank();

	if (site != NULL && config_init(&site->config, NULL) != SS_OK) {
		free(site);
		return NULL;
	}
	return site;
}

void
ss_site_free(struct ss_site *site)
{
	if (site == NULL)
		return;
	sites_free(site->sites);
	page_cache_release(&site->pages);
	catalog_release(&site->catalog);
	hidden_pages_release(&site->hidden_pages);
	executor_release(&site->exec_state);
	root_close(&site->documents.root);
	arena_release(&site->arena);
	config_release(&site->config);
	free(site->exchange);
	free(site->local);
	seal_close(&site->seal);
	state_close(&site->own_state);
	receipts_close(&site->own_receipts);
	fd_close(&site->plan.store_fd);
	free(site);
}

enum ss_err
site_needs_closed(const struct ss_site *site, struct ss_error *err)
{
	return site->opened
		? error_set(err, SS_CONFIG,
			  "the site is open: nothing can be set now")
		: SS_OK;
}

enum ss_err
site_needs_open(const struct ss_site *site, struct ss_error *err)
{
	return site->opened
		? SS_OK
		: error_set(err, SS_CONFIG, "the site is not open yet");
}

enum ss_err
ss_site_set_root(struct ss_site *site, const char *path, struct ss_error *err)
{
	return ss_site_set_option(site, "root", path, err);
}

enum ss_err
ss_site_set_config(struct ss_site *site, const char *file, struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	return code == SS_OK ? config_load(&site->config, file, err) : code;
}

enum ss_err
ss_site_set_environ(
	struct ss_site *site, char *const envp[], struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	return code == SS_OK ? config_environ(&site->config, envp, err) : code;
}

enum ss_err
ss_site_set_option(struct ss_site *site, const char *key, const char *value,
	struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	return code == SS_OK ? config_set(&site->config, key, value, err)
			     : code;
}

enum ss_err
ss_site_set_env(struct ss_site *site, const char *name, const char *value,
	struct ss_error *err)
{
	char *key = arena_printf(&site->config.arena, "env.%s", name);

	if (key == NULL)
		return error_memory(err);
	return ss_site_set_option(site, key, value, err);
}

const char *
ss_site_option(const struct ss_site *site, const char *key)
{
	/* Rendering allocates from the configuration's arena, nothing else. */
	union {
		const struct config *in;
		struct config *out;
	} config = { .in = &site->config };

	return config_text(config.out, key);
}

double
ss_site_option_number(const struct ss_site *site, const char *key)
{
	return config_text_number(&site->config, key);
}

/* The root by its real path: grants are compared with it as text. */
static enum ss_err
open_root(struct ss_site *site, struct ss_error *err)
{
	struct config *c = &site->config;
	enum ss_err code;
	char *real;

	site->root_is.name = c->root;
	if (c->root[0] == '\0') {
		if (site->documents.resolver.open !=
				site->documents.builtin.open ||
			c->site_count > 0)
			return SS_OK;
		return error_set(err, SS_CONFIG,
			"no site is named: give a directory, or set root");
	}
	code = root_open(&site->documents.root, c->root, err);
	if (code != SS_OK)
		return code;
	site->root_is.device = site->documents.root.device;
	site->root_is.inode = site->documents.root.inode;
	real = realpath(c->root, NULL);
	if (real == NULL)
		return error_internal(err, errno, "realpath %s", c->root);
	c->root = arena_copy(&c->arena, real, strlen(real));
	free(real);
	return c->root != NULL ? SS_OK : error_memory(err);
}

static enum ss_err
seed_ids(struct ss_site *site, struct ss_error *err)
{
	size_t n = sizeof(site->request_seed);

	if (getrandom(&site->request_seed, n, 0) == (ssize_t)n)
		return SS_OK;
	return error_internal(err, errno, "getrandom");
}

static const char *
or_null(const char *text)
{
	return text[0] != '\0' ? text : NULL;
}

static enum ss_err
keep_helpers(struct ss_site *site, const char *path, struct ss_error *err)
{
	site->plan.libexec =
		arena_copy(&site->config.arena, path, strlen(path));
	return site->plan.libexec != NULL ? SS_OK : error_memory(err);
}

#ifdef SS_ONE_PROGRAM
/*
 * This program is the helper programs too (make static).  AT_EXECFN
 * (getauxval(3)) serves where there is no /proc.
 */
static enum ss_err
find_helpers(struct ss_site *site, struct ss_error *err)
{
	char self[PATH_MAX];

	if (realpath("/proc/self/exe", self) == NULL &&
		realpath((const char *)getauxval(AT_EXECFN), self) == NULL)
		return SS_OK;
	site->plan.one_program = true;
	return keep_helpers(site, self, err);
}
#else
#ifndef SS_LIBEXECDIR
#define SS_LIBEXECDIR "/usr/local/libexec/statespace"
#endif

/*
 * The directory of this program, "" when it is not known.  AT_EXECFN of
 * getauxval(3), which would name the script for a script, is used without /proc
 * only.  True: this program is a helper itself.
 */
static bool
find_program_dir(char dir[static PATH_MAX])
{
	static const char helper[] = "/statespace-job";
	bool is_helper;

	ssize_t n = readlink("/proc/self/exe", dir, PATH_MAX - 1);
	const char *name = (const char *)(uintptr_t)getauxval(AT_EXECFN);

	dir[n > 0 ? n : 0] = '\0';
	if (n <= 0 && (name == NULL || realpath(name, dir) == NULL))
		dir[0] = '\0';
	is_helper = text_ends(text_of(dir), helper);
	if (strrchr(dir, '/') != NULL)
		*strrchr(dir, '/') = '\0';
	return is_helper;
}

/*
 * Finds the helper programs: beside this program in the build tree, below the
 * prefix that it was installed in, or in SS_LIBEXECDIR. plan.libexec stays NULL
 * when there are none: then there are no built-in tools.
 */
static enum ss_err
find_helpers(struct ss_site *site, struct ss_error *err)
{
	static const struct {
		bool beside;
		const char *path;
	} places[] = { { true, "/libexec" }, { true, "/../libexec/statespace" },
		{ false, SS_LIBEXECDIR } };
	char self[PATH_MAX], text[PATH_MAX + 32], real[PATH_MAX];

	if (find_program_dir(self))
		return keep_helpers(site, self, err);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(text, sizeof(text), "%s%s",
			places[i].beside ? self : "", places[i].path);
		if (realpath(text, real) != NULL)
			return keep_helpers(site, real, err);
	}
	return SS_OK;
}
#endif

static enum ss_err
prepare_sandbox(struct ss_site *site, struct ss_error *err)
{
	const struct config *c = &site->config;
	const char *alias;
	enum ss_err code = SS_OK;

	site->grant = rights_grant(c);
	alias = policy_alias(&site->grant);
	if (alias != NULL)
		return error_set(err, SS_CONFIG,
			"[grant] write: %s holds the site by another name: "
			"write its real path",
			alias);
	site->plan.root = or_null(c->root);
	site->plan.root_fd = site->documents.root.fd;
	site->plan.grant = &site->grant;
	site->plan.user = or_null(c->pool.user);
	site->plan.group = or_null(c->pool.group);
	site->plan.scratch_bytes = c->limits.scratch_bytes;
	site->plan.scratch_files = c->limits.scratch_files;
	if (!sandbox_mode_from(c->sandbox.mode, &site->plan.mode))
		return error_set(err, SS_CONFIG, "sandbox.mode is unknown");
	if (site->plan.libexec == NULL)
		code = find_helpers(site, err);
	return code == SS_OK ? sandbox_prepare(&site->plan, err) : code;
}

/* The root, what is hidden in it, what its tools may touch. */
static enum ss_err
open_parts(struct ss_site *site, struct ss_error *err)
{
	enum ss_err code = open_root(site, err);

	if (code == SS_OK)
		code = hidden_init(&site->documents.hidden, &site->config.arena,
			site->config.http.hidden.items,
			site->config.http.hidden.count, err);
	return code == SS_OK ? prepare_sandbox(site, err) : code;
}

enum ss_err
ss_site_open(struct ss_site *site, struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	if (code == SS_OK)
		code = config_load_sites(&site->config, err);
	if (code == SS_OK)
		code = open_parts(site, err);
	if (code == SS_OK)
		code = seed_ids(site, err);
	if (code == SS_OK)
		code = seal_open(&site->seal, site->config.mcp.key_file, err);
	if (code == SS_OK)
		code = sites_open(site, err);
	site->own_receipts.file = site->config.log.receipts;
	site->own_receipts.key = site->config.log.receipts_key;
	site->opened = code == SS_OK;
	return code;
}

/* -------------------------------------------------- the state directory -- */

static enum ss_err
open_state(struct ss_site *site, struct ss_error *err)
{
	return state_place_open(
		site->state, &site->plan, site->config.state.directory, err);
}

enum ss_err
ss_site_open_state(struct ss_site *site, struct ss_error *err)
{
	enum ss_err code = site_needs_open(site, err);

	return code == SS_OK && !site->state->looked ? open_state(site, err)
						     : code;
}

enum ss_err
site_state(struct ss_site *site, const struct state **out, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	*out = site->state;
	if (!site->state->looked && !site->exec_state.is_worker)
		code = open_state(site, err);
	return code == SS_OK ? state_needed(site->state, err) : code;
}

/* --------------------------------------------------------------- receipts -- */

static enum ss_err
start_receipts(struct ss_site *site, struct ss_error *err)
{
	const struct account *account = &site->plan.account;
	struct receipts_plan plan = { .uid = account->own_uid,
		.gid = account->own_gid };
	char helper[PATH_MAX];

	if (site->plan.libexec == NULL || site->plan.one_program)
		return error_set(err, SS_CONFIG,
			"[log] receipts needs the helper program " RECEIPTS_HELPER);
	if (site->receipts->key[0] == '\0') {
		error_set(err, SS_CONFIG,
			"[log] receipts needs receipts_key, a private key");
		error_hint(err, "`statespace receipts key FILE` makes one");
		return SS_CONFIG;
	}
	snprintf(helper, sizeof(helper), "%s/" RECEIPTS_HELPER,
		site->plan.libexec);
	plan.helper = helper;
	return receipts_start(site->receipts, &plan, err);
}

enum ss_err
ss_site_open_receipts(struct ss_site *site, struct ss_error *err)
{
	enum ss_err code = site_needs_open(site, err);

	if (code != SS_OK || site->receipts->file[0] == '\0')
		return code;
	if (!site->receipts->looked || receipts_ended(site->receipts))
		code = start_receipts(site, err);
	return code;
}

pid_t
ss_site_receipts_pid(const struct ss_site *site)
{
	return site->receipts->pid;
}

enum ss_err
site_receipts(
	struct ss_site *site, const struct receipts **out, struct ss_error *err)
{
	*out = NULL;
	if (site->receipts->file[0] == '\0')
		return SS_OK;
	*out = site->receipts;
	return site->exec_state.is_worker ? SS_OK
					  : ss_site_open_receipts(site, err);
}

/* ------------------------------------------------- one of several sites -- */

enum ss_err
site_open_part(
	struct ss_site *site, const struct ss_site *all, struct ss_error *err)
{
	enum ss_err code;

	if (site->config.root[0] == '\0')
		return error_set(err, SS_CONFIG, "root is not set");
	site->plan.account = all->plan.account;
	site->plan.libexec = all->plan.libexec;
	site->plan.one_program = all->plan.one_program;
	site->state = all->state;
	site->receipts = all->receipts;
	site->log.site = site->name;
	site->exec_state.limit.seed = limit_seed(site->name);
	code = open_parts(site, err);
	root_close(&site->documents.root);
	site->plan.root_fd = -1;
	if (code != SS_OK)
		return code;
	return seal_for_site(&site->seal, &all->seal,
		strcmp(site->config.mcp.key_file, all->config.mcp.key_file) == 0
			? ""
			: site->config.mcp.key_file,
		site->name, err);
}

enum ss_err
site_warm_up(struct ss_site *site, const char *place, struct ss_error *err)
{
	enum ss_err code = seed_ids(site, err);

	int top = fd_open_straight(place);

	/* Another site's root, if a link was put into the path meanwhile. */
	if (code == SS_OK)
		code = top < 0
			? error_internal(err, errno, "open %s", place)
			: root_reopen(&site->documents.root, top, place, err);
	fd_close(&top);
	site->plan.root_fd = site->documents.root.fd;
	site->opened = code == SS_OK;
	if (code == SS_OK)
		return SS_OK;
	/* Not a wrong configuration any more, and the path is the operator's. */
	return error_internal(err, err != NULL ? err->sys_errno : 0,
		"the root %s cannot be opened", site->config.root);
}

void
site_cool(struct ss_site *site)
{
	page_cache_release(&site->pages);
	catalog_release(&site->catalog);
	hidden_pages_release(&site->hidden_pages);
	executor_release(&site->exec_state);
	root_close(&site->documents.root);
	site->plan.root_fd = -1;
	arena_release(&site->arena);
	arena_init(&site->arena, 0);
	free(site->exchange);
	site->exchange = NULL;
	free(site->local);
	site->local = NULL;
	site->opened = false;
}

bool
site_root_moved(const struct ss_site *site)
{
	struct stat st;

	return site->root_is.name != NULL && site->root_is.name[0] != '\0' &&
		stat(site->root_is.name, &st) == 0 &&
		(st.st_dev != site->root_is.device ||
			st.st_ino != site->root_is.inode);
}

bool
ss_site_log(const struct ss_site *site, const char *event,
	const struct ss_field *fields, size_t count)
{
	return request_log_fields(&site->log, event, fields, count);
}

void
ss_site_set_log(struct ss_site *site,
	void (*fn)(void *ctx, const char *line, size_t len), void *ctx)
{
	site->log.write = fn;
	site->log.ctx = ctx;
}

void
ss_site_set_tool_limit(struct ss_site *site, const struct ss_tool_limit *limit)
{
	limit_set(&site->exec_state.limit, limit);
}

enum ss_err
ss_site_each_tool(struct ss_site *site,
	void (*fn)(void *ctx, uint64_t number, const char *page, size_t tool),
	void *ctx, struct ss_error *err)
{
	struct catalog *c = NULL;
	enum ss_err code = site_needs_open(site, err);

	if (code == SS_OK && site->sites != NULL &&
		site->config.root[0] == '\0')
		return SS_OK;
	if (code == SS_OK)
		code = catalog_refresh(&site->catalog, &c, err);
	for (size_t i = 0; code == SS_OK && i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];
		const char *real = p->real != NULL ? p->real : p->path;

		for (size_t k = 0; k < p->tool_count; k++)
			fn(ctx,
				limit_tool_number(&site->exec_state.limit, real,
					p->tools[k].index),
				p->path, p->tools[k].index);
	}
	return code;
}

void
ss_site_set_relay(struct ss_site *site, const struct ss_relay *relay)
{
	site->relay = *relay;
}

void
ss_site_set_store(struct ss_site *site, const struct ss_store *store)
{
	site->store = *store;
}

void
ss_site_set_jobs(struct ss_site *site, const struct ss_jobs *jobs)
{
	site->jobs_host = *jobs;
}

bool
ss_site_helper(
	const struct ss_site *site, const char *name, char *path, size_t cap)
{
	const char *libexec = site->plan.libexec;
	bool one = site->plan.one_program;
	int n;

	if (libexec == NULL)
		return false;
	n = snprintf(
		path, cap, "%s%s%s", libexec, one ? "" : "/", one ? "" : name);
	return n > 0 && (size_t)n < cap && access(path, X_OK) == 0;
}

void
ss_site_set_client(struct ss_site *site, bool (*left)(void *ctx), void *ctx)
{
	site->exec_state.client =
		(struct executor_client){ .left = left, .ctx = ctx };
}

enum ss_err
ss_site_set_resolver(struct ss_site *site, const struct ss_resolver *resolver,
	struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	if (code != SS_OK)
		return code;
	if (resolver->size < sizeof(*resolver) || resolver->open == NULL ||
		resolver->close == NULL)
		return error_set(err, SS_CONFIG,
			"a resolver needs its size, open and close");
	site->documents.resolver = *resolver;
	return SS_OK;
}

enum ss_err
ss_site_set_executor(struct ss_site *site, const struct ss_executor *executor,
	struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	if (code != SS_OK)
		return code;
	if (executor->size < sizeof(*executor) || executor->run == NULL)
		return error_set(
			err, SS_CONFIG, "an executor needs its size and run");
	site->executor = *executor;
	return SS_OK;
}

enum ss_err
ss_site_add_hook(
	struct ss_site *site, const struct ss_hook *hook, struct ss_error *err)
{
	enum ss_err code = site_needs_closed(site, err);

	if (code != SS_OK)
		return code;
	if (hook->size < sizeof(*hook) || site->hook_count == SITE_HOOKS_MAX)
		return error_set(err, SS_CONFIG,
			"a hook needs its size, and a site takes %d of them",
			SITE_HOOKS_MAX);
	site->hooks[site->hook_count++] = *hook;
	return SS_OK;
}

const struct ss_resolver *
ss_site_builtin_resolver(struct ss_site *site)
{
	return &site->documents.builtin;
}

const struct ss_executor *
ss_site_builtin_executor(struct ss_site *site)
{
	return &site->builtin_executor;
}

bool
ss_site_sweeps(const struct ss_site *site)
{
	return site->plan.level == SANDBOX_LANDLOCK ||
		site->plan.level == SANDBOX_OFF;
}

bool
ss_site_must_exit(const struct ss_site *site)
{
	const struct ss_site *chosen = sites_chosen(site);

	return site->exec_state.must_exit || chosen->exec_state.must_exit;
}

struct host_worker {
	struct ss_site *site;
	int (*main)(void *ctx);
	void *ctx;
};

/* The worker gets its own seed for ids and its own view of the root. */
static int
worker_main(void *ctx)
{
	const struct host_worker *w = ctx;
	struct ss_site *site = w->site;
	int status;

	site->exec_state.is_worker = true;
	receipts_enter_worker(site->receipts);
	if (seed_ids(site, NULL) != SS_OK ||
		documents_enter_view(&site->documents, NULL) != SS_OK)
		return 1;
	sites_enter(site);
	status = w->main(w->ctx);
	page_cache_release(&site->pages);
	return status;
}

enum ss_err
ss_site_fork(struct ss_site *site, unsigned flags, int (*worker)(void *ctx),
	void *ctx, struct ss_child *child, struct ss_error *err)
{
	struct host_worker w = { .site = site, .main = worker, .ctx = ctx };
	const struct sandbox_process process = {
		.flags = flags, .main = worker_main, .ctx = &w
	};
	enum ss_err code = site_needs_open(site, err);

	*child = (struct ss_child){ .pid = -1, .launch_fd = -1 };
	/* Without one the calls that need it are refused, with the remedy. */
	if (launcher_keeps(&site->plan) & KEEP_WORKSPACE)
		workspaces_open_store(
			&site->plan, site->state, &site->config, NULL);
	return code == SS_OK ? sandbox_fork(&site->plan, &process, child, err)
			     : code;
}

bool
ss_site_launch(struct ss_site *site, struct ss_child *child)
{
	return sandbox_launch(&site->plan, child);
}

struct ss_account
ss_site_account(const struct ss_site *site)
{
	return (struct ss_account){ .uid = site->plan.account.own_uid,
		.gid = site->plan.account.own_gid,
		.name = site->plan.account.name };
}

bool
ss_memory_delegate(void)
{
	return cgroup_delegate();
}

void
ss_memory_return(void)
{
	cgroup_return();
}

/*
 * SplitMix64 over a random seed, the clock and a count: the id is unique, not
 * secret.
 */
void
site_make_id(struct ss_site *site, char out[static 33])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t half[2];

	for (size_t i = 0; i < 2; i++) {
		uint64_t z = site->request_seed += 0x9e3779b97f4a7c15;

		z = (z ^ (z >> 30) ^ clock_us()) * 0xbf58476d1ce4e5b9;
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
		half[i] = z ^ (z >> 31);
	}
	for (size_t i = 0; i < 32; i++)
		out[i] = digits[half[i / 16] >> (4 * (i % 16)) & 15];
	out[32] = '\0';
}
