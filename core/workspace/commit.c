/* SPDX-License-Identifier: MIT */
#include "workspace/commit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "workspace/apply.h"
#include "workspace/at.h"
#include "workspace/own.h"
#include "workspace/stage.h"
#include "workspace/tree.h"

/*
 * Tools of the site can list the folder, and who knows an id has the session:
 * the name has its digest.
 */
void
own_stage_name(const struct workspace *w, char out[static OWN_STAGE_CAP])
{
	uint8_t digest[DIGEST_BYTES];

	memcpy(out, OWN_STAGE, sizeof(OWN_STAGE));
	digest_of(w->id, strlen(w->id), digest);
	digest_hex(digest, STATE_ID_LEN / 2, out + strlen(OWN_STAGE));
}

static int
remove_stage(const struct workspace *w)
{
	char name[OWN_STAGE_CAP];

	own_stage_name(w, name);
	return own_remove(w->base, name) ? 0 : errno;
}

static int
open_stage(const struct workspace *w, bool makes)
{
	char name[OWN_STAGE_CAP];

	own_stage_name(w, name);
	if (makes && mkdirat(w->base, name, 0700) < 0)
		return -1;
	return openat(w->base, name, AT_DIRECTORY);
}

/* ------------------------------------------------------------- failures -- */

static enum ss_err
failed(int number, const char *what, struct ss_error *err)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT:
		error_set(err, SS_INTERNAL,
			"the disk is full: nothing was committed");
		error_hint(err, "commit again when there is space");
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		error_set(err, SS_NOT_ALLOWED,
			"the server may not write to the folder: nothing was "
			"committed");
		error_hint(err,
			"the operator can give the account the right to it");
		error_detail(err, "%s: %s", what, strerror(number));
		return SS_NOT_ALLOWED;
	case ESTALE:
		error_set(err, SS_CONFLICT,
			"the folder was changed meanwhile: nothing was "
			"committed");
		error_hint(err, "look at the changes again");
		return SS_CONFLICT;
	default: return error_internal(err, number, "%s", what);
	}
	error_detail(err, "%s: %s", what, strerror(number));
	return SS_INTERNAL;
}

static enum ss_err
check(const struct commit_ask *ask, const struct changes *c,
	struct ss_error *err)
{
	if (ask->expected != NULL && strcmp(ask->expected, c->digest) != 0) {
		error_set(err, SS_CONFLICT,
			"the changes are not those that were shown");
		error_hint(err, "look at them again");
		return SS_CONFLICT;
	}
	if (c->refusals > 0) {
		error_set(err, SS_NOT_ALLOWED,
			"%zu of the changes may not be committed", c->refusals);
		error_hint(err,
			"the list of changes says which, and why; undo them "
			"in the session");
		return SS_NOT_ALLOWED;
	}
	if (c->conflicts > 0 && !ask->force) {
		error_set(err, SS_CONFLICT,
			"%zu of the changed paths changed in the site, too",
			c->conflicts);
		error_hint(err,
			"the list of changes says which; `force` commits over "
			"them");
		return SS_CONFLICT;
	}
	return SS_OK;
}

/* -------------------------------------------------------------- forward -- */

/* All steps are done: the journal says so before the old files are removed. */
static enum ss_err
finish(struct workspace *w, struct ss_error *err)
{
	int number = remove_stage(w);
	enum ss_err code;

	if (number == 0)
		number = state_sync(w->base);
	if (number != 0)
		return failed(number, "remove the stage of a commit", err);
	code = own_renew(w, err);
	if (code != SS_OK)
		return code;
	if (unlinkat(w->dir, OWN_APPLIED, 0) < 0)
		return error_internal(err, errno, "unlink " OWN_APPLIED);
	(void)state_sync(w->dir);
	return SS_OK;
}

/* Back to the old folder.  0 or errno: the journal stays. */
static int
give_up(struct workspace *w, int stage, const struct journal *j)
{
	int number = apply_undo(w->base, stage, j);

	if (number == 0)
		number = stage_sync(w->base);
	if (number == 0 && unlinkat(w->dir, OWN_JOURNAL, 0) < 0)
		number = errno;
	if (number == 0)
		number = state_sync(w->dir);
	return number == 0 ? remove_stage(w) : number;
}

static enum ss_err
go(struct workspace *w, int stage, const struct journal *j,
	struct ss_error *err)
{
	int number = apply_all(w->base, stage, j), back;

	if (number == 0)
		number = stage_sync(w->base);
	if (number == 0 &&
		(renameat(w->dir, OWN_JOURNAL, w->dir, OWN_APPLIED) < 0 ||
			state_sync(w->dir) != 0))
		return error_internal(err, errno, "rename the journal");
	if (number == 0)
		return finish(w, err);
	back = give_up(w, stage, j);
	if (back == 0)
		return failed(number, "commit", err);
	error_internal(
		err, back, "undo a commit that failed: %s", strerror(number));
	error_hint(err, "commit again: the session's journal is kept");
	return SS_INTERNAL;
}

enum ss_err
commit_apply(struct workspace *w, const struct commit_ask *ask,
	struct arena *arena, struct changes *out, struct ss_error *err)
{
	struct journal j = JOURNAL_INIT;
	int stage = -1, number;
	enum ss_err code = commit_replay(w, err);

	*out = (struct changes){ 0 };
	if (code == SS_OK)
		code = changes_read(w, &ask->rule, arena, out, err);
	if (code == SS_OK)
		code = check(ask, out, err);
	if (code != SS_OK || out->count == 0)
		return code;
	stage = open_stage(w, true);
	number = stage < 0 ? errno : stage_fill(w, stage, out, &j);
	if (number == 0)
		number = journal_write(w->dir, &j);
	if (number == 0) {
		code = go(w, stage, &j, err);
	} else {
		code = failed(number, "prepare a commit", err);
		(void)remove_stage(w);
	}
	fd_close(&stage);
	journal_release(&j);
	return code;
}

/* --------------------------------------------------------------- replay -- */

static enum ss_err
replay(struct workspace *w, struct ss_error *err)
{
	struct journal j = JOURNAL_INIT;
	int number = journal_read(w->dir, &j);
	int stage = number == 0 ? open_stage(w, false) : -1;
	enum ss_err code;

	if (number != 0)
		code = error_internal(err, number, "read the journal");
	else if (stage < 0)
		code = error_internal(err, errno, "open the stage");
	else
		code = go(w, stage, &j, err);
	fd_close(&stage);
	/* Gone back: that is an end, too. */
	if (code != SS_OK && !workspace_is_pending(w)) {
		error_clear(err);
		code = SS_OK;
	}
	journal_release(&j);
	return code;
}

enum ss_err
commit_replay(struct workspace *w, struct ss_error *err)
{
	int number;

	if (faccessat(w->dir, OWN_APPLIED, F_OK, 0) == 0)
		return finish(w, err);
	if (faccessat(w->dir, OWN_JOURNAL, F_OK, 0) == 0)
		return replay(w, err);
	number = remove_stage(w);
	return number == 0 ? SS_OK : failed(number, "remove an old stage", err);
}

/* Also one that is expired, or was of one call whose process was killed. */
static enum ss_err
replay_one(int store, int root, const char *id, const char *owner_root,
	struct arena *arena, struct ss_error *err)
{
	struct workspace w;
	enum ss_err code = SS_OK;

	if (own_look(&w, store, id, arena) == 0 && workspace_is_pending(&w) &&
		strcmp(w.meta.owner.root, owner_root) == 0) {
		code = own_open(&w, root, err);
		/* Another process goes on with it. */
		if (code == SS_OK && workspace_lock(&w, NULL) == SS_OK)
			code = commit_replay(&w, err);
	}
	workspace_close(&w);
	return code;
}

enum ss_err
commit_replay_all(
	int store, int root, const char *owner_root, struct ss_error *err)
{
	struct tree_names names;
	struct arena arena;
	int number = tree_names(store, &names);
	enum ss_err code = SS_OK;

	if (number != 0)
		code = error_internal(err, number, "list the workspaces");
	arena_init(&arena, 0);
	for (size_t i = 0; code == SS_OK && i < names.count; i++)
		code = replay_one(
			store, root, names.items[i], owner_root, &arena, err);
	arena_release(&arena);
	tree_names_release(&names);
	return code;
}
