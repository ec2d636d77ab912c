/* SPDX-License-Identifier: MIT */
/* What clients are told of a session, and the commit that they ask for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/root.h"
#include "sandbox/workspace_use.h"
#include "wire/json.h"
#include "wire/path.h"
#include "workspace/commit.h"
#include "workspace/patch.h"

static void
put_member(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, ", \"%s\": ", name);
	json_string(out, value, strlen(value));
}

enum ss_err
workspace_tell_list(const struct workspace_use *u, int store,
	struct arena *arena, struct buf *out, struct ss_error *err)
{
	struct workspace_item *items = NULL;
	size_t count = 0;
	enum ss_err code;

	if (u->meta.owner.caller[0] == '\0') {
		error_set(err, SS_NOT_ALLOWED,
			"without a user there is no list: an id is all that "
			"names a session");
		error_hint(err, "keep the id that creating it returned");
		return SS_NOT_ALLOWED;
	}
	code = workspace_list(
		store, &u->meta.owner, arena, &items, &count, err);
	buf_text(out, "{\"sessions\": [");
	for (size_t i = 0; code == SS_OK && i < count; i++) {
		buf_printf(out, "%s{\"session\": \"%s\"", i > 0 ? ", " : "",
			items[i].id);
		put_member(out, "backend",
			workspace_backend_name(items[i].meta.backend));
		put_member(out, "page", items[i].meta.owner.page);
		buf_printf(out,
			", \"created\": %" PRId64 ", \"used\": %" PRId64
			", \"running\": %s}",
			items[i].meta.created_s, items[i].meta.used_s,
			items[i].running ? "true" : "false");
	}
	buf_text(out, "]}");
	return code == SS_OK && !buf_ok(out) ? error_memory(err) : code;
}

/*
 * What tools may do is written in pages: a client that commits one could give
 * itself more.
 */
static const char *
refuse_page(void *ctx, const char *path)
{
	(void)ctx;
	return path_is_page(path)
		? "a page: [workspace] commit lets clients commit no pages"
		: NULL;
}

static struct change_rule
rule_of(const struct workspace_use *u)
{
	return (struct change_rule){
		.refuse = strcmp(u->commits, "all") == 0 ? NULL : refuse_page
	};
}

static enum ss_err
read_changes(const struct workspace_use *u, const struct workspace *w,
	struct arena *arena, struct changes *out, struct ss_error *err)
{
	const struct change_rule rule = rule_of(u);

	return changes_read(
		w, rule.refuse != NULL ? &rule : NULL, arena, out, err);
}

static bool
put_piece(void *ctx, const char *data, size_t len)
{
	return buf_add(ctx, data, len);
}

static enum ss_err
tell_patch(const struct workspace *w, const struct changes *c, struct buf *out,
	struct ss_error *err)
{
	enum ss_err code = patch_write(w, c, put_piece, out, err);

	if (code != SS_GONE || !out->full)
		return code;
	error_set(err, SS_BODY_TOO_LARGE,
		"the patch is larger than an answer can be");
	error_hint(err, "`statespace workspace diff` writes it");
	return SS_BODY_TOO_LARGE;
}

enum ss_err
workspace_tell_diff(const struct workspace_use *u, const struct workspace *w,
	struct arena *arena, struct buf *out, struct ss_error *err)
{
	struct changes c = { 0 };
	enum ss_err code = read_changes(u, w, arena, &c, err);

	if (code == SS_OK && u->patch)
		return tell_patch(w, &c, out, err);
	if (code == SS_OK)
		code = changes_pair(&c, arena, err);
	if (code == SS_OK)
		code = changes_json(out, &c,
			u->after[0] != '\0' ? u->after : NULL, (size_t)u->most,
			err);
	return code;
}

enum ss_err
workspace_do_commit(const struct workspace_use *u, struct workspace *w,
	struct arena *arena, struct buf *out, struct ss_error *err)
{
	const struct commit_ask ask = { .force = u->force,
		.expected = u->digest[0] != '\0' ? u->digest : NULL,
		.rule = rule_of(u) };
	struct changes c = { 0 };
	enum ss_err code;

	if (strcmp(u->commits, "none") == 0) {
		error_set(err, SS_NOT_ALLOWED,
			"this server lets no client commit a workspace");
		error_hint(
			err, "the operator does: statespace workspace commit");
		return SS_NOT_ALLOWED;
	}
	code = commit_apply(w, &ask, arena, &c, err);
	return code == SS_OK ? changes_json(out, &c, NULL, 0, err) : code;
}

/* --------------------------------------------------------- files of a session */

static const char *
kind_of(mode_t mode)
{
	return S_ISREG(mode)    ? "file"
		: S_ISDIR(mode) ? "directory"
		: S_ISLNK(mode) ? "link"
				: "other";
}

static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int
is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* {"entries": [{"name": ..., "kind": ..., "size": N}, ...]} */
static enum ss_err
tell_folder(int fd, struct buf *out, struct ss_error *err)
{
	struct dirent **names = NULL;
	struct stat st;
	int count = scandirat(fd, ".", &names, is_shown, by_name);

	if (count < 0)
		return error_internal(err, errno, "workspace: scandir");
	buf_text(out, "{\"entries\": [");
	for (int i = 0; i < count; i++) {
		if (fstatat(fd, names[i]->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			st = (struct stat){ .st_mode = 0 };
		buf_text(out, i > 0 ? ", {\"name\": " : "{\"name\": ");
		json_string(out, names[i]->d_name, strlen(names[i]->d_name));
		buf_printf(out, ", \"kind\": \"%s\", \"size\": %" PRIu64 "}",
			kind_of(st.st_mode), (uint64_t)st.st_size);
		free(names[i]);
	}
	free(names);
	buf_text(out, "]}");
	return buf_ok(out) ? SS_OK : error_memory(err);
}

static bool
is_in_folder(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n == 0 ||
		(strncmp(path, folder, n) == 0 &&
			(path[n] == '/' || path[n] == '\0'));
}

enum ss_err
workspace_tell_file(const struct workspace_use *u, const char *folder, int top,
	struct buf *out, bool *is_folder, struct ss_error *err)
{
	const char *path = u->path[0] != '\0' ? u->path : folder;
	const struct root root = { .fd = top };
	struct stat st;
	int fd = -1, error;
	enum ss_err code;

	if (!is_in_folder(path, folder)) {
		error_set(err, SS_NOT_FOUND, "no such file");
		error_hint(err, "this workspace is of the folder %s", folder);
		return SS_NOT_FOUND;
	}
	code = root_open_at(&root, path, O_RDONLY | O_NONBLOCK, &fd, err);
	if (code == SS_OK && fstat(fd, &st) < 0)
		code = error_internal(err, errno, "workspace: fstat");
	if (code == SS_OK && S_ISDIR(st.st_mode)) {
		code = tell_folder(fd, out, err);
		*is_folder = true;
	} else if (code == SS_OK && !S_ISREG(st.st_mode)) {
		code = error_set(err, SS_NOT_FOUND, "it is no file");
	} else if (code == SS_OK) {
		error = fd_read_all(fd, out);
		if (out->full)
			code = error_set(err, SS_BODY_TOO_LARGE,
				"the file is larger than an answer can be");
		else if (error != 0)
			code = error_internal(err, error, "workspace: read");
	}
	fd_close(&fd);
	return code;
}
