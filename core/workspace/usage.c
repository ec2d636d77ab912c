/* SPDX-License-Identifier: MIT */
/* What a session holds, by a walk of its upper. */
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "workspace/at.h"
#include "workspace/own.h"
#include "workspace/tree.h"

static int
add(void *ctx, int dir, const char *path, const struct stat *st)
{
	struct workspace_usage *out = ctx;

	(void)dir;
	(void)path;
	out->files++;
	/* A name of several counts by its part of the inode. */
	out->bytes += (uint64_t)st->st_blocks * 512 /
		(S_ISDIR(st->st_mode) || st->st_nlink == 0 ? 1 : st->st_nlink);
	return 0;
}

enum ss_err
workspace_usage(const struct workspace *w, struct workspace_usage *out,
	struct ss_error *err)
{
	struct stat st;
	int number;

	*out = (struct workspace_usage){ 0 };
	number = tree_each(w->dir, "upper", true, add, out);
	if (number == 0 &&
		fstatat(w->dir, "session.db", &st, AT_SYMLINK_NOFOLLOW) == 0)
		out->bytes += (uint64_t)st.st_blocks * 512;
	return number == 0
		? SS_OK
		: error_internal(err, number, "walk the workspace %s", w->id);
}

enum ss_err
workspace_full(struct ss_error *err, int number, const char *call)
{
	error_set(err, SS_STATE,
		"the workspace could not be made: the disk of the state "
		"directory is full");
	error_hint(err,
		"discard sessions; the operator frees disk space, or sets "
		"a smaller [workspace] total_bytes");
	error_detail(err, "%s", call);
	if (err != NULL)
		err->sys_errno = number;
	return SS_STATE;
}

enum ss_err
workspace_check_limits(const struct workspace *w, struct ss_error *err)
{
	const struct workspace_meta *m = &w->meta;
	struct workspace_usage used;
	enum ss_err code;

	if (m->bytes_max == 0 && m->files_max == 0)
		return SS_OK;
	code = workspace_usage(w, &used, err);
	if (code != SS_OK)
		return code;
	if (m->bytes_max > 0 && used.bytes > m->bytes_max)
		error_set(err, SS_BODY_TOO_LARGE,
			"the workspace holds %" PRIu64 " bytes; %" PRIu64
			" are allowed",
			used.bytes, m->bytes_max);
	else if (m->files_max > 0 && used.files > m->files_max)
		error_set(err, SS_BODY_TOO_LARGE,
			"the workspace holds %" PRIu64 " files; %" PRIu64
			" are allowed",
			used.files, m->files_max);
	else
		return SS_OK;
	error_hint(err, "commit or discard the session");
	return SS_BODY_TOO_LARGE;
}
