/* SPDX-License-Identifier: MIT */
/*
 * One command of a confined process: does this process have the layers that the
 * policy needs, and what does the child enter right before execve(2).
 */
#include "sandbox/sandbox_run.h"

#include <errno.h>
#include <fcntl.h>

#include "base/clock.h"
#include "run/tasks.h"
#include "sandbox/bounds.h"
#include "sandbox/filter.h"
#include "sandbox/landlock.h"
#include "sandbox/launcher_call.h"
#include "sandbox/other_sites.h"
#include "sandbox/overlay.h"
#include "sandbox/sandbox.h"
#include "sandbox/workspace_use.h"

struct last_steps {
	enum sandbox_level level;
	int ruleset;
	bool only_own_signals; /* Landlock before ABI 6: by a filter */
	bool no_attributes;    /* the view has what other sites may write */
	const struct filter *narrow;
	const struct filter *unmounting; /* this process may mount */
};

/* In the child, right before execve(2). */
static int
child_enter(void *ctx)
{
	const struct last_steps *e = ctx;
	int error;

	if (e->level == SANDBOX_OFF)
		return 0;
	if (e->unmounting != NULL &&
		((error = overlay_child_leave()) != 0 ||
			(error = filter_child_enter(e->unmounting)) != 0))
		return error;
	if (e->ruleset >= 0 && (error = landlock_child_enter(e->ruleset)) != 0)
		return error;
	if (e->only_own_signals && (error = filter_child_signals()) != 0)
		return error;
	if (e->no_attributes && (error = filter_child_attributes()) != 0)
		return error;
	return e->narrow != NULL ? filter_child_enter(e->narrow) : 0;
}

static enum ss_err
refuse_unconfined(struct ss_error *err, const char *what)
{
	const struct sandbox *self = sandbox_self();

	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"this server cannot confine tools: %s", what);
	error_detail(err, "level %s; %s", sandbox_level_name(self->level),
		self->why[0] != '\0' ? self->why : "no more is known");
	if (self->remedy[0] != '\0')
		error_hint(err, "the operator's remedy: %s", self->remedy);
	else
		error_hint(err, "`statespace doctor` says what is missing");
	return SS_SANDBOX_UNAVAILABLE;
}

/*
 * Without Landlock all tools of a strict process have the same view: a policy
 * that is narrower than the view cannot be enforced.
 */
static bool
needs_ruleset(const struct policy *p)
{
	return sandbox_self()->shared || !p->exec_any || p->read.count > 0 ||
		p->write.count > 0 || p->keeps != sandbox_self()->keeps;
}

/*
 * Once AF_UNIX is allowed, every visible socket can be reached: only the view,
 * or Landlock 9, bounds them.  Abstract sockets, unix(7), belong to the network
 * namespace; in the host's only Landlock 6 refuses them.
 */
static bool
sockets_are_bounded(const struct policy *p)
{
	const struct sandbox *self = sandbox_self();

	if (!(p->keeps & KEEP_UNIX))
		return true;
	if (self->level == SANDBOX_LANDLOCK)
		return self->landlock_abi >= 9;
	return !(self->keeps & KEEP_NETWORK) || self->landlock_abi >= 6;
}

/* What a tool is granted, and neither this process nor its launcher kept. */
static enum ss_err
refuse_missing(unsigned missing, struct ss_error *err)
{
	return refuse_unconfined(err,
		missing & KEEP_WORKSPACE
			? "workspaces need a state directory and a launcher"
			: missing & KEEP_PROC
			? "a /proc of the tool's own needs the "
			  "level strict"
			: missing & KEEP_UNIX
			? "granted sockets cannot be had here"
			: "the network cannot be had here");
}

/* What this process gave up it cannot give to a tool. */
static enum ss_err
check_layers(
	const struct policy *p, const struct ruleset *r, struct ss_error *err)
{
	const struct sandbox *self = sandbox_self();

	if (self->level >= SANDBOX_LANDLOCK && (p->keeps & ~self->keeps))
		return refuse_missing(p->keeps & ~self->keeps, err);
	switch (self->level) {
	case SANDBOX_OFF: return SS_OK;
	case SANDBOX_NONE:
		return refuse_unconfined(err, "the sandbox could not be built");
	case SANDBOX_LANDLOCK:
		if (r->fd < 0)
			return refuse_unconfined(err, "a ruleset is missing");
		break;
	case SANDBOX_STRICT:
		if (r->fd < 0 && needs_ruleset(p))
			return refuse_unconfined(err,
				self->shared
					? "many sites in one pool need Landlock"
					: "grants and a closed exec set need "
					  "Landlock");
		break;
	}
	if (!sockets_are_bounded(p))
		return refuse_unconfined(
			err, "granted sockets need a newer Landlock");
	return SS_OK;
}

static bool
runs_in_launcher(const struct policy *p)
{
	const struct sandbox *self = sandbox_self();

	return self->level >= SANDBOX_LANDLOCK &&
		(p->keeps & ~self->keeps) != 0 && launcher_is_attached();
}

static bool
others_write(void)
{
	const struct other_sites others = other_sites_of_self();

	return other_sites_write(&others);
}

/* Fills *entry, which must outlive the run. */
static enum ss_err
prepare_entry(const struct policy *p, const struct ruleset *r,
	struct last_steps *entry, struct ss_error *err)
{
	const struct sandbox *self = sandbox_self();
	enum ss_err code = check_layers(p, r, err);

	*entry = (struct last_steps){ .level = self->level,
		.ruleset = r->fd,
		.only_own_signals = self->level == SANDBOX_LANDLOCK &&
			self->landlock_abi < 6,
		.no_attributes =
			self->level == SANDBOX_STRICT && others_write() };
	if (self->layers >= 0)
		entry->unmounting = filter_whole(p->keeps, true, false);
	/* Of tools with a network only the HTTP tool may use rtnetlink(7). */
	if (self->level >= SANDBOX_LANDLOCK &&
		(p->keeps != self->keeps ||
			((p->keeps & KEEP_NETWORK) && !p->http)))
		entry->narrow = filter_narrow(p->keeps, p->http);
	return code;
}

/* A program below the page's directory is executed relative to it. */
static const char *
from_page_dir(const struct policy *p, const char *program)
{
	size_t n = strlen(p->page_dir);
	const char *rest = program;

	if (sandbox_at(&rest) == AT_FDCWD)
		return program;
	if (n == 0)
		return rest;
	return strncmp(rest, p->page_dir, n) == 0 && rest[n] == '/'
		? rest + n + 1
		: program;
}

static void
fill_spawn(const struct policy *p, struct spawn *s, struct last_steps *entry,
	const struct spawn_bounds *bounds)
{
	if (s->dir_fd >= 0)
		s->program = from_page_dir(p, s->program);
	s->enter = (struct spawn_enter){ child_enter, entry };
	s->own_pid_namespace = sandbox_self()->own_pid_namespace;
	s->bounds = bounds;
	if (!s->own_pid_namespace && s->limits.processes > 0)
		s->limits.processes += tasks_count();
}

/* Sets the limit of this process's group, if any, for count runs together. */
static enum ss_err
bound_memory(const struct spawn *s, size_t count, struct ss_error *err)
{
	uint64_t each = s->limits.memory_bytes;
	int e = cgroup_limit(sandbox_memory_group(),
		each < UINT64_MAX / count ? each * count : 0);

	return e == 0 ? SS_OK : error_internal(err, e, "limit the memory");
}

/* Reads the counter only after a run that failed: the others lost none. */
static void
note_kills(struct spawn_result *results, size_t count)
{
	bool asked = false, killed = false;

	for (size_t i = 0; i < count; i++) {
		struct spawn_result *r = &results[i];

		if (r->end == SPAWN_FAILED ||
			(r->end == SPAWN_EXITED && r->status == 0))
			continue;
		if (!asked)
			killed = cgroup_has_killed(sandbox_memory_group());
		asked = true;
		if (killed && r->limit == SPAWN_LIMIT_NONE)
			r->limit = SPAWN_LIMIT_MEMORY;
	}
}

enum ss_err
sandbox_run_here(const struct policy *p, const struct ruleset *r,
	struct spawn *s, struct spawn_result *result, struct ss_error *err)
{
	struct last_steps entry;
	enum ss_err code = prepare_entry(p, r, &entry, err);

	if (code != SS_OK)
		return code;
	fill_spawn(p, s, &entry, bounds_begin(&s->limits, 1));
	return spawn_run(s, result, err);
}

static enum ss_err
run_one(const struct policy *p, const struct ruleset *r, struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	if (runs_in_launcher(p))
		return launcher_call(p, s, result, err);
	if (s->workspace != NULL && !(sandbox_self()->keeps & KEEP_WORKSPACE))
		return refuse_missing(KEEP_WORKSPACE, err);
	if (s->workspace != NULL)
		return in_workspace(p, s, result, err);
	return sandbox_run_here(p, r, s, result, err);
}

enum ss_err
sandbox_run(const struct policy *p, const struct ruleset *r, struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	enum ss_err code = bound_memory(s, 1, err);

	if (code == SS_OK)
		code = run_one(p, r, s, result, err);
	if (code == SS_OK)
		note_kills(result, 1);
	return code;
}

/* One after the other; when the total is used up the rest never starts. */
static enum ss_err
run_many_in_launcher(const struct policy *p, struct spawn *runs,
	const struct spawn_batch *batch, struct ss_error *err)
{
	uint64_t end_ms = clock_ms() + batch->total_ms;
	enum ss_err code = SS_OK;
	uint32_t left;

	for (size_t i = 0; i < batch->count; i++)
		batch->results[i] =
			(struct spawn_result){ .end = SPAWN_TIMEOUT };
	for (size_t i = 0; i < batch->count && code == SS_OK; i++) {
		left = (uint32_t)clock_left_ms(end_ms);
		if (batch->total_ms > 0 && left == 0)
			break;
		if (batch->total_ms > 0 &&
			(runs[i].limits.timeout_ms == 0 ||
				runs[i].limits.timeout_ms > left))
			runs[i].limits.timeout_ms = left;
		code = launcher_call(p, &runs[i], &batch->results[i], err);
	}
	return code;
}

static enum ss_err
run_many(const struct policy *p, const struct ruleset *r, struct spawn *runs,
	const struct spawn_batch *batch, struct ss_error *err)
{
	size_t at_once =
		batch->parallel < batch->count ? batch->parallel : batch->count;
	const struct spawn_bounds *bounds;
	struct last_steps entry;
	enum ss_err code;

	if (runs_in_launcher(p))
		return run_many_in_launcher(p, runs, batch, err);
	code = prepare_entry(p, r, &entry, err);
	if (code != SS_OK)
		return code;
	if (batch->count == 0)
		return SS_OK;
	bounds = bounds_begin(&runs[0].limits, at_once > 0 ? at_once : 1);
	for (size_t i = 0; i < batch->count; i++)
		fill_spawn(p, &runs[i], &entry, bounds);
	return spawn_run_many(batch, err);
}

enum ss_err
sandbox_run_many(const struct policy *p, const struct ruleset *r,
	struct spawn *runs, const struct spawn_batch *batch,
	struct ss_error *err)
{
	size_t at_once =
		batch->parallel < batch->count ? batch->parallel : batch->count;
	enum ss_err code =
		at_once > 0 ? bound_memory(runs, at_once, err) : SS_OK;

	if (code == SS_OK)
		code = run_many(p, r, runs, batch, err);
	if (code == SS_OK)
		note_kills(batch->results, batch->count);
	return code;
}
