/* SPDX-License-Identifier: MIT */
/* One call in a workspace: its session, its mount, the command, what changed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "files/root.h"
#include "sandbox/overlay.h"
#include "sandbox/ruleset.h"
#include "sandbox/sandbox_plan.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/workspace_use.h"
#include "wire/json.h"
#include "wire/path.h"
#include "workspace/agentfs.h"
#include "workspace/commit.h"

static bool stuck;

struct using
{
	const struct workspace_use *use;
	struct workspace w;
	int store, root; /* root: of the site, for reading and writing */
	bool own;        /* made for this call */
	bool folder;     /* what was read is one */
	bool mounted;
	struct sandbox_place before; /* of the process, while it is moved */
	bool moved;
	char place[PATH_MAX]; /* of a copy without a view */
	struct arena arena;
};

bool
in_workspace_is_stuck(void)
{
	return stuck;
}

/* ------------------------------------------------------------- the session */

static enum ss_err
refuse_without_state(struct ss_error *err)
{
	error_set(err, SS_STATE,
		"workspaces need a state directory, and there is none");
	error_hint(err,
		"the operator sets [state] directory to one that the tools' "
		"account owns");
	return SS_STATE;
}

/* In a view the layers; else what the parent opened. */
static enum ss_err
open_places(struct using *u, struct ss_error *err)
{
	const struct sandbox *self = sandbox_self();
	char number[16];

	if (self->plan == NULL || self->plan->store == NULL)
		return refuse_without_state(err);
	if (self->layers >= 0) {
		snprintf(number, sizeof(number), "%u", self->number);
		u->store = openat(self->layers, OVERLAY_STORE,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		u->root = openat(self->layers, number,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	} else {
		u->store = openat(self->store_fd, ".",
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		u->root = self->site_fd < 0
			? open(self->site, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			: openat(self->site_fd, ".",
				  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (u->store < 0 || u->root < 0)
		return error_internal(err, errno, "workspace: its places");
	return SS_OK;
}

static enum ss_err
open_session(struct using *u, bool locked, struct ss_error *err)
{
	struct workspace_owner owner = u->use->meta.owner;
	enum ss_err code;

	if (u->use->anybody)
		owner.caller = NULL;
	if (u->use->act != WORKSPACE_RUN)
		owner.page = NULL;
	code = workspace_open(&u->w, u->store, u->root, u->use->session, &owner,
		&u->arena, err);

	if (code == SS_OK && locked)
		code = workspace_lock(&u->w, err);
	if (code == SS_OK && locked && workspace_is_pending(&u->w))
		code = commit_replay(&u->w, err);
	return code;
}

static enum ss_err
make_session(struct using *u, enum workspace_backend backend, bool temporary,
	struct ss_error *err)
{
	struct workspace_meta meta = u->use->meta;

	meta.backend = backend;
	meta.temporary = temporary;
	u->own = true;
	return workspace_create(
		&u->w, u->store, u->root, &meta, &u->arena, err);
}

/* The program that keeps a session as a file of AgentFS; "" if none is there. */
static const char *
helper_of(struct using *u)
{
	const struct sandbox *self = sandbox_self();
	const char *path = self->libexec[0] != '\0' && !self->one_program
		? arena_join(
			  &u->arena, self->libexec, "/", "statespace-agentfs")
		: NULL;

	return path != NULL ? path : "";
}

/* What a reader sees is what the file has, unless a tool is changing it. */
static enum ss_err
load_session(struct using *u, struct ss_error *err)
{
	enum ss_err code;

	if (u->w.lock >= 0)
		return agentfs_load(&u->w, helper_of(u), err);
	if (u->w.meta.backend != WORKSPACE_AGENTFS ||
		workspace_lock(&u->w, NULL) != SS_OK)
		return SS_OK;
	code = agentfs_load(&u->w, helper_of(u), err);
	workspace_unlock(&u->w);
	return code;
}

/* -------------------------------------------------------------- the mount */

/* Dot entries down to the page's directory are masked, for readers too. */
static bool
mount_session(struct using *u, const struct policy *p, struct step *s)
{
	const char *page = u->w.meta.owner.page;
	const char *dir = u->use->act == WORKSPACE_READ
		? arena_copy(&u->arena, page, path_dir_len(page))
		: p->page_dir;
	const struct overlay overlay = { .id = u->w.id,
		.upper = u->w.upper,
		.work = u->w.work,
		.whole = u->w.meta.backend == WORKSPACE_COPY,
		.folder = u->w.meta.folder,
		.page_dir = dir != NULL ? dir : "" };

	u->mounted = overlay_begin(&overlay, s);
	return u->mounted;
}

/*
 * Without a view a copy is the site of this process for the call, by the path
 * that the operator gave the state directory.
 */
static bool
move_to_copy(struct using *u, struct step *s)
{
	struct sandbox_place place;
	int n = snprintf(u->place, sizeof(u->place), "%s/%s/upper",
		sandbox_self()->plan->store, u->w.id);

	errno = EOPNOTSUPP;
	if (u->w.meta.backend != WORKSPACE_COPY ||
		u->w.meta.folder[0] != '\0' || n >= (int)sizeof(u->place))
		return step_fail(s, "mount a workspace at this level");
	place = u->before = sandbox_place();
	place.site = u->place;
	place.site_fd = u->w.upper;
	place.dotfiles = NULL;
	sandbox_move(&place);
	u->moved = true;
	return true;
}

static bool
enter_session(struct using *u, const struct policy *p, struct step *s)
{
	return sandbox_self()->layers >= 0 ? mount_session(u, p, s)
					   : move_to_copy(u, s);
}

static void
leave_session(struct using *u)
{
	if (u->mounted && !overlay_end(u->w.meta.folder))
		stuck = true;
	if (u->moved)
		sandbox_move(&u->before);
	u->mounted = u->moved = false;
}

static enum ss_err
refuse_mount(const struct using *u, const struct step *s, struct ss_error *err)
{
	if (s->number == ENOSPC || s->number == EDQUOT)
		return workspace_full(err, s->number, s->name);
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"the workspace could not be made: the tool did not run");
	if (s->number == ENOENT || s->number == ELOOP)
		error_hint(err, "workspace folder %s is not there, or a link",
			u->use->meta.folder);
	else if (sandbox_self()->layers < 0)
		error_hint(err,
			"a workspace of a folder needs the level strict; "
			"`statespace doctor` says what is missing");
	else
		error_hint(err,
			"the operator puts the state directory on a disk that "
			"is not overlayfs, or sets it aside with [state] "
			"directory; `statespace doctor` says more");
	error_detail(err, "%s: %s", s->name, strerror(s->number));
	return SS_SANDBOX_UNAVAILABLE;
}

/*
 * A new session where this process can enter it: by overlayfs, else as a copy.
 * What is too large for a copy has that error.
 */
static enum ss_err
make_and_enter(struct using *u, const struct policy *p, bool temporary,
	struct ss_error *err)
{
	bool view = sandbox_self()->layers >= 0;
	enum ss_err code = SS_OK;
	struct step s = { .name = "" };

	if (view) {
		code = make_session(u, u->use->meta.backend, temporary, err);
		if (code != SS_OK || enter_session(u, p, &s))
			return code;
		workspace_discard(&u->w, NULL);
		if (s.number == ENOENT || s.number == ELOOP ||
			s.number == ENOSPC ||
			u->use->meta.backend != WORKSPACE_OVERLAY)
			return refuse_mount(u, &s, err);
	}
	code = make_session(u, WORKSPACE_COPY, temporary, err);
	if (code != SS_OK && view)
		error_detail(err, "no overlay: %s: %s; no copy: errno %d",
			s.name, strerror(s.number),
			err != NULL ? err->sys_errno : 0);
	if (code != SS_OK || enter_session(u, p, &s))
		return code;
	workspace_discard(&u->w, NULL);
	return refuse_mount(u, &s, err);
}

static enum ss_err
open_and_enter(struct using *u, const struct policy *p, struct ss_error *err)
{
	enum ss_err code = open_session(u, true, err);
	struct step s = { .name = "" };

	if (code == SS_OK)
		code = workspace_check_limits(&u->w, err);
	if (code == SS_OK)
		code = u->use->act == WORKSPACE_RUN
			? agentfs_begin(&u->w, helper_of(u), err)
			: load_session(u, err);
	if (code != SS_OK || enter_session(u, p, &s))
		return code;
	return refuse_mount(u, &s, err);
}

/* ---------------------------------------------------------------- the command */

static int
open_below_site(const char *path)
{
	const char *site = sandbox_self()->site;
	struct root top = ROOT_INIT;
	int fd = -1, at = sandbox_at(&site);

	top.fd = openat(at, site, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top.fd >= 0)
		root_open_at(&top, path, O_PATH | O_DIRECTORY, &fd, NULL);
	root_close(&top);
	return fd;
}

/* Has the session its own entry at that path, or a part of it? */
static bool
session_has(const struct workspace *w, const char *path)
{
	char part[PATH_MAX];
	const char *slash = path;
	struct stat st;

	do {
		slash = strchr(slash, '/');
		snprintf(part, sizeof(part), "%.*s",
			slash != NULL ? (int)(slash - path) : PATH_MAX - 1,
			path);
		if (fstatat(w->upper, part, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return errno != ENOENT;
		if (!S_ISDIR(st.st_mode))
			return true;
	} while (slash++ != NULL);
	return true;
}

/*
 * A tool runs the programs of the site, with the page's grants: one that a
 * session changed is another program, which no author allowed.  A copy has all
 * of them.
 */
static enum ss_err
check_programs(
	const struct workspace *w, const struct policy *p, struct ss_error *err)
{
	const char *site = sandbox_self()->site, *folder = w->meta.folder;
	size_t n = strlen(site), k = strlen(folder);

	for (size_t i = 0; i < p->exec.count; i++) {
		const char *path = p->exec.items[i];

		if (strncmp(path, site, n) != 0 || path[n] != '/')
			continue;
		path += n + 1;
		if (k > 0 && (strncmp(path, folder, k) != 0 || path[k] != '/'))
			continue;
		path += k > 0 ? k + 1 : 0;
		if (w->meta.backend == WORKSPACE_COPY || !session_has(w, path))
			continue;
		error_set(err, SS_NOT_ALLOWED,
			"this session changed the program %s, which the page "
			"runs",
			path);
		error_hint(err,
			"undo that in the session, or have the change "
			"committed");
		return SS_NOT_ALLOWED;
	}
	return SS_OK;
}

static enum ss_err
run_inside(const struct policy *p, struct spawn *s, struct spawn_result *result,
	struct arena *arena, struct ss_error *err)
{
	struct ruleset rules = RULESET_INIT;
	int dir = open_below_site(p->page_dir), before = s->dir_fd;
	enum ss_err code;

	if (dir < 0) {
		error_set(err, SS_NOT_FOUND,
			"the page's directory is not in this workspace");
		error_hint(err, "discard the session, or use another one");
		return SS_NOT_FOUND;
	}
	code = ruleset_make(arena, p, &rules, err);
	s->dir_fd = dir;
	if (code == SS_OK)
		code = sandbox_run_here(p, &rules, s, result, err);
	s->dir_fd = before;
	ruleset_release(&rules);
	fd_close(&dir);
	return code;
}

static bool
tool_succeeded(const struct spawn_result *r)
{
	return r->end == SPAWN_EXITED && r->status == 0;
}

static void
tell_error(struct buf *out, const struct ss_error *err)
{
	buf_printf(out, ", \"error\": {\"code\": \"%s\", \"message\": ",
		ss_err_code(err->code));
	json_string(out, err->message, strlen(err->message));
	buf_text(out, ", \"hint\": ");
	json_string(out, err->hint, strlen(err->hint));
	buf_char(out, '}');
}

/*
 * {"session": ..., "backend": ..., "committed": ..., "diff": {...}}.  A commit
 * that is refused does not hide what the tool wrote: its error is told beside
 * what would have been committed.
 */
static enum ss_err
tell_run(struct using *u, bool succeeded, struct buf *out, struct ss_error *err)
{
	const struct workspace_use *use = u->use;
	struct buf diff = BUF_INIT(WORKSPACE_ANSWER_MAX);
	struct ss_error refused = { .code = SS_OK };
	bool commits = use->commit && succeeded;
	enum ss_err code = SS_OK;

	if (commits)
		refused.code = workspace_do_commit(
			use, &u->w, &u->arena, &diff, &refused);
	if (refused.code != SS_OK || (!commits && u->own))
		code = workspace_tell_diff(use, &u->w, &u->arena, &diff, err);
	buf_text(out, "{\"session\": ");
	if (u->own)
		buf_text(out, "null");
	else
		buf_printf(out, "\"%s\"", u->w.id);
	buf_printf(out, ", \"backend\": \"%s\", \"committed\": %s",
		workspace_backend_name(u->w.meta.backend),
		commits && refused.code == SS_OK ? "true" : "false");
	if (refused.code != SS_OK)
		tell_error(out, &refused);
	if (diff.len > 0) {
		buf_text(out, ", \"diff\": ");
		buf_add(out, diff.data, diff.len);
	}
	buf_char(out, '}');
	if (code == SS_OK && (!buf_ok(out) || !buf_ok(&diff)))
		code = error_memory(err);
	buf_release(&diff);
	return code;
}

static enum ss_err
run_in(struct using *u, const struct policy *p, struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	struct agentfs_call call = { .argv = s->argv };
	const uint64_t began_ms = clock_ms();
	enum ss_err code = u->use->session[0] != '\0'
		? open_and_enter(u, p, err)
		: make_and_enter(u, p, true, err);

	call.started_s = (int64_t)time(NULL);
	if (code == SS_OK)
		code = check_programs(&u->w, p, err);
	if (code == SS_OK)
		code = run_inside(p, s, result, &u->arena, err);
	leave_session(u);
	call.duration_ms = (int64_t)(clock_ms() - began_ms);
	call.returncode = result->end == SPAWN_EXITED ? result->status
						      : 128 + result->status;
	if (code == SS_OK)
		code = agentfs_save(&u->w, helper_of(u), &call, err);
	if (code == SS_OK)
		code = workspace_check_limits(&u->w, err);
	result->workspace = BUF_INIT(WORKSPACE_ANSWER_MAX);
	if (code == SS_OK)
		code = tell_run(
			u, tool_succeeded(result), &result->workspace, err);
	return code;
}

/* -------------------------------------------------------------- the other acts */

static enum ss_err
create(struct using *u, const struct policy *p, struct buf *out,
	struct ss_error *err)
{
	enum ss_err code = workspace_room(u->store, u->use->sessions_max, err);

	if (code == SS_OK)
		code = make_and_enter(u, p, false, err);
	leave_session(u);
	if (code == SS_OK)
		code = load_session(u, err);
	if (code != SS_OK)
		return code;
	u->own = false;
	buf_printf(out, "{\"session\": \"%s\", \"backend\": \"%s\"", u->w.id,
		workspace_backend_name(u->w.meta.backend));
	return buf_printf(out, ", \"idle\": %u}", u->w.meta.idle_s)
		? SS_OK
		: error_memory(err);
}

static enum ss_err
read_file(struct using *u, const struct policy *p, struct buf *out,
	struct ss_error *err)
{
	enum ss_err code = open_and_enter(u, p, err);
	int top = code == SS_OK ? open_below_site("") : -1;

	if (code == SS_OK)
		code = workspace_tell_file(
			u->use, u->w.meta.folder, top, out, &u->folder, err);
	fd_close(&top);
	leave_session(u);
	return code;
}

static enum ss_err
act(struct using *u, const struct policy *p, struct buf *out,
	struct ss_error *err)
{
	const struct workspace_use *use = u->use;
	enum ss_err code = SS_OK;

	switch (use->act) {
	case WORKSPACE_RUN: break;
	case WORKSPACE_CREATE: return create(u, p, out, err);
	case WORKSPACE_LIST:
		return workspace_tell_list(use, u->store, &u->arena, out, err);
	case WORKSPACE_READ: return read_file(u, p, out, err);
	case WORKSPACE_DIFF:
		code = open_session(u, false, err);
		if (code == SS_OK)
			code = load_session(u, err);
		return code == SS_OK
			? workspace_tell_diff(use, &u->w, &u->arena, out, err)
			: code;
	case WORKSPACE_COMMIT:
		code = open_session(u, true, err);
		if (code == SS_OK)
			code = load_session(u, err);
		return code == SS_OK
			? workspace_do_commit(use, &u->w, &u->arena, out, err)
			: code;
	case WORKSPACE_DISCARD:
		code = open_session(u, true, err);
		if (code == SS_OK)
			code = workspace_discard(&u->w, err);
		buf_text(out, "{\"discarded\": true}");
		return code;
	}
	return error_internal(err, 0, "no act of a workspace");
}

static void
init_result(struct spawn_result *result)
{
	*result = (struct spawn_result){ .end = SPAWN_EXITED,
		.out = BUF_INIT(WORKSPACE_ANSWER_MAX),
		.err = BUF_INIT(0),
		.report = BUF_INIT(0),
		.workspace = BUF_INIT(WORKSPACE_ANSWER_MAX) };
}

enum ss_err
in_workspace(const struct policy *p, struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	struct using u = { .use = s->workspace,
		.w = WORKSPACE_INIT,
		.store = -1,
		.root = -1 };
	enum ss_err code;

	init_result(result);
	arena_init(&u.arena, 0);
	code = open_places(&u, err);
	if (code == SS_OK && u.use->act == WORKSPACE_RUN)
		code = run_in(&u, p, s, result, err);
	else if (code == SS_OK)
		code = act(&u, p, &result->out, err);
	if (code == SS_OK && u.folder)
		buf_text(&result->workspace, "directory");
	if (u.own && u.w.dir >= 0)
		workspace_discard(&u.w, NULL);
	workspace_close(&u.w);
	if (code == SS_OK && u.use->act == WORKSPACE_CREATE)
		workspace_collect_due(u.store, u.use->total_bytes, NULL, NULL);
	fd_close(&u.store);
	fd_close(&u.root);
	arena_release(&u.arena);
	return code;
}
