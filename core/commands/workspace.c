/* SPDX-License-Identifier: MIT */
/*
 * statespace workspace: the sessions of a site, for the account that owns the
 * state directory.  It is the operator: sessions of all pages and callers.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "site/site.h"
#include "wire/json.h"
#include "wire/path.h"
#include "workspace/agentfs.h"
#include "workspace/commit.h"
#include "workspace/patch.h"

struct job {
	struct ss_site *site;
	const struct ss_workspace_ask *ask;
	struct arena arena;
	int store, root;
	char path[PATH_MAX]; /* of the root, real */
	struct ss_error *err;
};

static bool
put(const struct job *j, const char *data, size_t len)
{
	return j->ask->put(j->ask->ctx, data, len);
}

static enum ss_err
put_buf(const struct job *j, struct buf *b)
{
	enum ss_err code = SS_OK;

	if (!buf_ok(b))
		code = error_memory(j->err);
	else if (!put(j, b->data, b->len))
		code = SS_GONE;
	buf_release(b);
	return code;
}

/* --------------------------------------------------------------- a list -- */

static void
put_time(struct buf *out, int64_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm when;
	char text[32];

	gmtime_r(&t, &when);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when);
	buf_text(out, text);
}

static void
put_text(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, ",\"%s\":", name);
	json_string(out, value, strlen(value));
}

static void
item_json(struct buf *out, const struct workspace_item *i)
{
	buf_printf(out, "{\"session\":\"%s\",\"backend\":\"%s\"", i->id,
		workspace_backend_name(i->meta.backend));
	put_text(out, "page", i->meta.owner.page);
	put_text(out, "folder", i->meta.folder);
	buf_text(out, ",\"created\":\"");
	put_time(out, i->meta.created_s);
	buf_text(out, "\",\"used\":\"");
	put_time(out, i->meta.used_s);
	buf_printf(out, "\",\"running\":%s}", i->running ? "true" : "false");
}

static void
item_text(struct buf *out, const struct workspace_item *i)
{
	buf_printf(out, "%s  %-7s  ", i->id,
		workspace_backend_name(i->meta.backend));
	put_time(out, i->meta.used_s);
	buf_printf(out, "  %s  /%s  /%s\n", i->running ? "runs" : "idle",
		i->meta.owner.page, i->meta.folder);
}

static enum ss_err
do_list(struct job *j)
{
	const struct workspace_owner all = { .root = j->path };
	struct workspace_item *items;
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	size_t count;
	enum ss_err code = workspace_list(
		j->store, &all, &j->arena, &items, &count, j->err);

	if (code != SS_OK)
		return code;
	buf_text(&out, j->ask->json ? "[" : "");
	for (size_t i = 0; i < count; i++) {
		if (!j->ask->json) {
			item_text(&out, &items[i]);
			continue;
		}
		buf_text(&out, i > 0 ? "," : "");
		item_json(&out, &items[i]);
	}
	buf_text(&out, j->ask->json ? "]\n" : "");
	return put_buf(j, &out);
}

/* --------------------------------------------------------- one session -- */

static enum ss_err
open_one(struct job *j, struct workspace *w)
{
	const struct workspace_owner all = { .root = j->path };

	*w = WORKSPACE_INIT;
	if (j->ask->session == NULL)
		return error_set(j->err, SS_BAD_REQUEST, "no session is named");
	return workspace_open(
		w, j->store, j->root, j->ask->session, &all, &j->arena, j->err);
}

/* Of agentfs: upper is what the file has, unless a tool is changing it. */
static enum ss_err
load(struct job *j, struct workspace *w)
{
	char helper[PATH_MAX] = "";
	bool locked = w->lock >= 0;
	enum ss_err code;

	if (w->meta.backend != WORKSPACE_AGENTFS ||
		(!locked && workspace_lock(w, NULL) != SS_OK))
		return SS_OK;
	if (!ss_site_helper(
		    j->site, "statespace-agentfs", helper, sizeof(helper)))
		helper[0] = '\0';
	code = agentfs_load(w, helper, j->err);
	if (!locked)
		workspace_unlock(w);
	return code;
}

static enum ss_err
do_create(struct job *j)
{
	struct workspace w;
	struct workspace_meta m = { .owner = { j->path, "", "" },
		.folder = j->ask->folder != NULL ? j->ask->folder : "",
		.backend = WORKSPACE_OVERLAY };
	char folder[PATH_BYTES_MAX + 1];
	struct buf out = BUF_INIT(200);
	enum ss_err code = ss_path_clean(
		m.folder, strlen(m.folder), folder, sizeof(folder), j->err);

	if (code != SS_OK)
		return code;
	m.folder = folder;
	if (j->ask->backend != NULL &&
		!workspace_backend_of(j->ask->backend, &m.backend))
		return error_set(j->err, SS_BAD_REQUEST,
			"a backend is overlay, agentfs or copy");
	code = workspace_create(&w, j->store, j->root, &m, &j->arena, j->err);
	if (code != SS_OK)
		return code;
	code = load(j, &w);
	if (code != SS_OK) {
		workspace_discard(&w, NULL);
		return code;
	}
	buf_printf(
		&out, j->ask->json ? "{\"session\":\"%s\"}\n" : "%s\n", w.id);
	workspace_close(&w);
	return put_buf(j, &out);
}

static void
line_of(struct buf *out, const struct change *c)
{
	const char *why = c->refused != NULL ? c->refused : c->conflict;
	enum change_kind kind =
		c->now.kind != CHANGE_NONE ? c->now.kind : c->was.kind;

	buf_printf(out, "%c %c ", c->op, change_kind_name(kind)[0]);
	/* One line for each, whatever the name holds. */
	for (const char *p = c->path; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f || *p == '\\')
			buf_printf(out, "\\%03o", (unsigned char)*p);
		else
			buf_char(out, *p);
	}
	if (c->from != NULL)
		buf_printf(out, " <- %s", c->from);
	if (why != NULL)
		buf_printf(out, "  (%s: %s)",
			c->refused != NULL ? "refused" : "conflict", why);
	else if (c->note != NULL)
		buf_printf(out, "  (%s)", c->note);
	buf_char(out, '\n');
}

static enum ss_err
put_changes(struct job *j, struct changes *c)
{
	struct buf out = BUF_INIT(SIZE_MAX / 2);
	enum ss_err code = SS_OK;

	if (j->ask->json) {
		code = changes_json(
			&out, c, j->ask->after, j->ask->most, j->err);
		buf_char(&out, '\n');
	} else {
		for (size_t i = 0; i < c->note_count; i++)
			buf_printf(&out, "# %s\n", c->notes[i]);
		for (size_t i = 0; i < c->count; i++)
			line_of(&out, &c->items[i]);
	}
	if (code == SS_OK)
		return put_buf(j, &out);
	buf_release(&out);
	return code;
}

static enum ss_err
do_diff(struct job *j)
{
	struct workspace w;
	struct changes c;
	enum ss_err code = open_one(j, &w);

	if (code == SS_OK)
		code = load(j, &w);
	if (code == SS_OK)
		code = changes_read(&w, NULL, &j->arena, &c, j->err);
	if (code == SS_OK)
		code = changes_pair(&c, &j->arena, j->err);
	if (code == SS_OK && j->ask->patch)
		code = patch_write(&w, &c, j->ask->put, j->ask->ctx, j->err);
	else if (code == SS_OK)
		code = put_changes(j, &c);
	workspace_close(&w);
	return code;
}

static enum ss_err
do_commit(struct job *j)
{
	const struct commit_ask ask = { .force = j->ask->force,
		.expected = j->ask->expected };
	struct workspace w;
	struct changes c = { 0 };
	enum ss_err code = open_one(j, &w), told;

	if (code == SS_OK)
		code = workspace_lock(&w, j->err);
	if (code == SS_OK)
		code = commit_replay(&w, j->err);
	if (code == SS_OK)
		code = load(j, &w);
	if (code == SS_OK) {
		code = commit_apply(&w, &ask, &j->arena, &c, j->err);
		told = c.count > 0 ? put_changes(j, &c) : SS_OK;
		if (code == SS_OK)
			code = told;
	}
	workspace_close(&w);
	return code;
}

static enum ss_err
do_discard(struct job *j)
{
	struct workspace w;
	enum ss_err code = open_one(j, &w);

	if (code == SS_OK)
		code = workspace_lock(&w, j->err);
	if (code == SS_OK)
		code = commit_replay(&w, j->err);
	if (code == SS_OK)
		return workspace_discard(&w, j->err);
	workspace_close(&w);
	return code;
}

/* ------------------------------------------------------------- the whole -- */

static const struct operation {
	const char *name;
	enum ss_err (*run)(struct job *j);
} operations[] = {
	{ "create", do_create },
	{ "list", do_list },
	{ "diff", do_diff },
	{ "commit", do_commit },
	{ "discard", do_discard },
};

static enum ss_err
open_places(struct job *j)
{
	const struct state *state;
	enum ss_err code = site_needs_open(j->site, j->err);

	if (code == SS_OK)
		code = site_state(j->site, &state, j->err);
	if (code == SS_OK)
		code = state_needed(state, j->err);
	if (code != SS_OK)
		return code;
	if (realpath(j->site->config.root, j->path) == NULL)
		return error_internal(
			j->err, errno, "realpath %s", j->site->config.root);
	j->root = open(j->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	j->store = j->root < 0 ? -1 : state_folder(state->fd, "workspaces");
	if (j->store < 0)
		return error_internal(j->err, errno, "open the workspaces");
	return SS_OK;
}

/*
 * As root: the account's rights are those that its workers have, and what is
 * made is the account's.  0 or errno.
 */
static int
become(uid_t uid, gid_t gid)
{
	return setgroups(0, NULL) < 0 || setegid(gid) < 0 || seteuid(uid) < 0
		? errno
		: 0;
}

static enum ss_err
run_as_account(struct job *j, const struct operation *found)
{
	const struct account *a = &j->site->plan.account;
	int number = a->drop ? become(a->uid, a->gid) : 0;
	enum ss_err code;

	if (number != 0)
		return error_internal(j->err, number, "become the account");
	code = commit_replay_all(j->store, j->root, j->path, j->err);
	if (code == SS_OK)
		code = workspace_collect(j->store, 0, NULL, j->err);
	if (code == SS_OK)
		code = found->run(j);
	return code;
}

enum ss_err
ss_site_workspace(struct ss_site *site, const struct ss_workspace_ask *ask,
	struct ss_error *err)
{
	struct job j = {
		.site = site, .ask = ask, .store = -1, .root = -1, .err = err
	};
	const struct operation *found = NULL;
	const uid_t uid = geteuid();
	const gid_t gid = getegid();
	enum ss_err code;

	for (size_t i = 0; i < ARRAY_LEN(operations); i++)
		if (strcmp(operations[i].name, ask->operation) == 0)
			found = &operations[i];
	if (found == NULL) {
		error_set(err, SS_BAD_REQUEST,
			"there is no such operation on workspaces");
		error_hint(err, "create, list, diff, commit, discard, export");
		return SS_BAD_REQUEST;
	}
	arena_init(&j.arena, 0);
	code = open_places(&j);
	if (code == SS_OK)
		code = run_as_account(&j, found);
	if (geteuid() != uid && (seteuid(uid) < 0 || setegid(gid) < 0))
		code = error_internal(err, errno, "become root again");
	arena_release(&j.arena);
	fd_close(&j.root);
	fd_close(&j.store);
	return code;
}
