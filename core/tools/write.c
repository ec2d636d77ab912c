/* SPDX-License-Identifier: MIT */
/*
 * write and edit: a new file in the same directory replaces the old one when it
 * is whole and on disk.  A process that is killed before leaves the old file.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/walk.h"

/* A file to be written: its directory, held open, and its name there. */
struct target {
	int root; /* path is beneath it; the caller's */
	int dir;
	const char *path, *name;
	char part[64]; /* the new file's name until it is whole */
	mode_t mode;
	struct stat old; /* st_ino 0: there was none */
};

static enum ss_err
target_open(struct target *t, int dir, const char *path, struct ss_error *err)
{
	const char *slash = strrchr(path, '/');
	size_t len = slash != NULL ? (size_t)(slash - path) : 0;
	enum ss_err code = tool_path_check(path, err);
	char folder[4096];

	*t = (struct target){
		.root = dir, .dir = -1, .path = path, .mode = 0644
	};
	t->name = slash != NULL ? slash + 1 : path;
	if (code != SS_OK)
		return code;
	if (t->name[0] == '\0' || strcmp(t->name, ".") == 0 ||
		len >= sizeof(folder))
		return error_set(
			err, SS_BAD_REQUEST, "the path must name a file");
	memcpy(folder, path, len);
	folder[len] = '\0';
	return tool_open_dir(dir, folder, &t->dir, err);
}

/* Looks at what is there now: nothing, or a regular file (no link). */
static enum ss_err
target_look(struct target *t, bool new_only, struct ss_error *err)
{
	if (fstatat(t->dir, t->name, &t->old, AT_SYMLINK_NOFOLLOW) < 0) {
		t->old.st_ino = 0;
		return errno == ENOENT
			? SS_OK
			: tool_failed(errno, t->path, "write", err);
	}
	if (S_ISLNK(t->old.st_mode) && tool_leads_hidden(t->root, t->path))
		return tool_failed(ENOENT, t->path, "write", err);
	if (S_ISLNK(t->old.st_mode))
		return error_set(err, SS_PATH_REFUSED,
			"%s is a link: write to what it names", t->path);
	if (!S_ISREG(t->old.st_mode))
		return error_set(
			err, SS_NOT_FOUND, "%s is no regular file", t->path);
	if (new_only)
		return error_set(
			err, SS_NOT_FOUND, "%s is there already", t->path);
	t->mode = t->old.st_mode & 0777u;
	return SS_OK;
}

static int
write_part(int fd, const struct target *t, const char *data, size_t len)
{
	int number = fd_write_all(fd, data, len);

	if (number == 0 && fchmod(fd, t->mode) < 0)
		number = errno;
	if (number == 0 && fsync(fd) < 0)
		number = errno;
	return number;
}

/* Has no other process replaced or written the file meanwhile? */
static bool
is_unchanged(const struct target *t)
{
	struct stat now;

	if (fstatat(t->dir, t->name, &now, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT && t->old.st_ino == 0;
	return now.st_ino == t->old.st_ino && now.st_size == t->old.st_size &&
		now.st_mtim.tv_sec == t->old.st_mtim.tv_sec &&
		now.st_mtim.tv_nsec == t->old.st_mtim.tv_nsec;
}

/*
 * A random name: process ids repeat in the workers' pid namespaces, and a
 * process that was killed leaves its file.  -1 and errno.
 */
static int
part_open(struct target *t)
{
	uint64_t chance;
	int fd = -1;

	for (int tries = 0; tries < 8 && fd < 0; tries++) {
		if (getrandom(&chance, sizeof(chance), 0) != sizeof(chance))
			return -1;
		snprintf(t->part, sizeof(t->part), ".statespace-%016" PRIx64,
			chance);
		fd = openat(t->dir, t->part,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static enum ss_err
target_replace(
	struct target *t, const char *data, size_t len, struct ss_error *err)
{
	int fd = part_open(t), number;

	if (fd < 0)
		return tool_failed(errno, t->path, "write", err);
	number = write_part(fd, t, data, len);
	fd_close(&fd);
	if (number == 0 && !is_unchanged(t)) {
		unlinkat(t->dir, t->part, 0);
		return error_set(err, SS_NOT_FOUND,
			"%s was changed by another process meanwhile", t->path);
	}
	if (number == 0 && renameat(t->dir, t->part, t->dir, t->name) < 0)
		number = errno;
	if (number != 0) {
		unlinkat(t->dir, t->part, 0);
		return tool_failed(number, t->path, "write", err);
	}
	/* Some file systems have no fsync for directories. */
	(void)fsync(t->dir);
	return SS_OK;
}

enum ss_err
tool_write(int dir, const char *path, const char *data, size_t len,
	bool new_only, struct ss_error *err)
{
	struct target t;
	enum ss_err code = target_open(&t, dir, path, err);

	if (code == SS_OK)
		code = target_look(&t, new_only, err);
	if (code == SS_OK)
		code = target_replace(&t, data, len, err);
	fd_close(&t.dir);
	return code;
}

/* ------------------------------------------------------------------ edit */

static size_t
occurrences(struct ss_text in, struct ss_text of)
{
	const char *at = in.data, *end = in.data + in.len;
	size_t count = 0;

	while ((at = memmem(at, (size_t)(end - at), of.data, of.len)) != NULL) {
		count++;
		at += of.len;
	}
	return count;
}

static bool
replace_all(struct ss_text in, const struct tool_edit *e, struct buf *out)
{
	const char *at = in.data, *end = in.data + in.len, *next;

	while ((next = memmem(at, (size_t)(end - at), e->old.data,
			e->old.len)) != NULL) {
		buf_add(out, at, (size_t)(next - at));
		buf_add(out, e->replacement.data, e->replacement.len);
		at = next + e->old.len;
	}
	return buf_add(out, at, (size_t)(end - at)) && buf_ok(out);
}

static enum ss_err
read_old(struct target *t, struct buf *in, struct ss_error *err)
{
	int fd = openat(t->dir, t->name,
		O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	int number;

	if (fd < 0 || fstat(fd, &t->old) < 0) {
		number = errno;
		fd_close(&fd);
		return tool_failed(number, t->path, "read", err);
	}
	number = fd_read_all(fd, in);
	fd_close(&fd);
	if (number != 0)
		return tool_failed(number, t->path, "read", err);
	if (in->full)
		return error_set(err, SS_NOT_FOUND,
			"%s is too large to be edited", t->path);
	return in->failed ? error_memory(err) : SS_OK;
}

static enum ss_err
check_count(struct ss_error *err, const char *path, const struct tool_edit *e)
{
	if (e->count == 0) {
		error_set(err, SS_NOT_FOUND,
			"%s: 0 matches: the text to replace is not there",
			path);
		error_hint(err,
			"it is compared byte by byte, line breaks and blanks "
			"too: read the file first");
		return SS_NOT_FOUND;
	}
	if (e->count > 1 && !e->all) {
		error_set(err, SS_NOT_FOUND,
			"%s: %zu matches: nothing was replaced", path,
			e->count);
		error_hint(err,
			"give more of the text around it, or replace all of "
			"them with -a");
		return SS_NOT_FOUND;
	}
	return SS_OK;
}

enum ss_err
tool_edit(
	int dir, const char *path, struct tool_edit *edit, struct ss_error *err)
{
	struct buf in = BUF_INIT(TOOL_FILE_BYTES);
	struct buf out = BUF_INIT(TOOL_FILE_BYTES);
	struct target t;
	enum ss_err code;

	edit->count = 0;
	if (edit->old.len == 0)
		return error_set(
			err, SS_BAD_REQUEST, "the text to replace is empty");
	code = target_open(&t, dir, path, err);
	if (code == SS_OK)
		code = target_look(&t, false, err);
	if (code == SS_OK)
		code = read_old(&t, &in, err);
	if (code == SS_OK) {
		edit->count = occurrences(buf_view(&in), edit->old);
		code = check_count(err, path, edit);
	}
	if (code == SS_OK && !replace_all(buf_view(&in), edit, &out))
		code = out.full ? error_set(err, SS_NOT_FOUND,
					  "%s would become too large", path)
				: error_memory(err);
	if (code == SS_OK)
		code = target_replace(&t, out.data, out.len, err);
	fd_close(&t.dir);
	buf_release(&in);
	buf_release(&out);
	return code;
}
