/* SPDX-License-Identifier: MIT */
/* Opening files beneath one directory, and the tools read, stat and ls. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "files/root.h"
#include "tools/files.h"
#include "tools/walk.h"

enum ss_err
tool_path_check(const char *path, struct ss_error *err)
{
	const char *at = path;
	size_t n;

	if (path[0] == '/')
		return error_set(err, SS_PATH_REFUSED,
			"file tools take paths below the page's directory");
	for (; *at != '\0'; at += n) {
		at += strspn(at, "/");
		n = strcspn(at, "/");
		if (n == 2 && memcmp(at, "..", 2) == 0)
			return error_set(err, SS_PATH_REFUSED,
				"a path must not have \"..\" in it");
	}
	return root_hides(path) ? error_set(err, SS_NOT_FOUND,
					  "entries that begin with a dot are "
					  "not seen")
				: SS_OK;
}

enum ss_err
tool_failed(int number, const char *path, const char *what, struct ss_error *e)
{
	switch (number) {
	case ENOENT:
	case ENOTDIR:
		return error_set(
			e, SS_NOT_FOUND, "%s: there is no such file", path);
	case EXDEV:
	case ELOOP:
		return error_set(e, SS_PATH_REFUSED,
			"%s leads out of the page's directory", path);
	case EACCES:
	case EPERM:
	case EROFS:
		error_set(e, SS_CAPABILITY_REFUSED,
			"%s: this tool may not %s it", path, what);
		if (strcmp(what, "write") == 0)
			error_hint(e,
				"the page asks for it with write:, below what "
				"the operator grants");
		return SS_CAPABILITY_REFUSED;
	case ENAMETOOLONG:
		return error_set(e, SS_BAD_REQUEST, "the path is too long");
	case EFBIG:
	case ENOSPC:
	case EDQUOT:
		return error_set(
			e, SS_INTERNAL, "%s: no space left for it", path);
	default:
		error_set(e, SS_INTERNAL, "%s: %s", path, strerror(number));
		return SS_INTERNAL;
	}
}

/* -1 and errno. */
int
tool_open_beneath(int dir, const char *path, int flags)
{
	const struct root root = { .fd = dir };
	int fd, number = root_find(&root, path, flags, &fd);

	if (number != 0)
		errno = number;
	return fd;
}

bool
tool_leads_hidden(int dir, const char *path)
{
	const struct root root = { .fd = dir };

	return root_leads_hidden(&root, path);
}

enum ss_err
tool_open(int dir, const char *path, int *fd, struct stat *st,
	struct ss_error *err)
{
	enum ss_err code = tool_path_check(path, err);

	*fd = -1;
	if (code != SS_OK)
		return code;
	*fd = tool_open_beneath(dir, path, O_RDONLY);
	if (*fd < 0 || fstat(*fd, st) < 0)
		code = tool_failed(errno, path, "read", err);
	else if (!S_ISREG(st->st_mode))
		code = error_set(err, SS_NOT_FOUND, "%s is %s", path,
			S_ISDIR(st->st_mode) ? "a directory"
					     : "no regular file");
	if (code != SS_OK)
		fd_close(fd);
	return code;
}

enum ss_err
tool_open_dir(int dir, const char *path, int *fd, struct ss_error *err)
{
	enum ss_err code = tool_path_check(path, err);

	*fd = -1;
	if (code != SS_OK)
		return code;
	*fd = tool_open_beneath(dir, path, O_RDONLY | O_DIRECTORY);
	if (*fd < 0)
		return tool_failed(errno, path, "read", err);
	return SS_OK;
}

/* ------------------------------------------------------------------ read */

#define CHUNK 65536

/* Appends as much as fits; the caller reports that there is more. */
static bool
add_some(struct buf *out, const char *data, size_t len)
{
	size_t left = out->max - out->len;

	buf_add(out, data, len < left ? len : left);
	out->full |= len > left;
	return !out->full && !out->failed;
}

/* Appends the lines of one chunk that are in the range; false after its end. */
static bool
add_lines(const struct tool_range *r, uint64_t *line, const char *data,
	size_t len, struct buf *out)
{
	const char *end = data + len, *next;

	while (data < end && (r->last == 0 || *line <= r->last)) {
		next = memchr(data, '\n', (size_t)(end - data));
		next = next != NULL ? next + 1 : end;
		if (*line >= r->first &&
			!add_some(out, data, (size_t)(next - data)))
			return false;
		*line += next[-1] == '\n';
		data = next;
	}
	return r->last == 0 || *line <= r->last;
}

/* Skips a hole, which has no line ends (lseek(2), SEEK_DATA).  0 or errno. */
static int
skip_hole(int fd)
{
	off_t at = lseek(fd, 0, SEEK_CUR), end;

	if (at < 0)
		return errno;
	if (lseek(fd, at, SEEK_DATA) >= 0)
		return 0;
	/*
	 * ENXIO: there is no more data.  Else the file system has no SEEK_DATA.
	 */
	end = errno == ENXIO ? lseek(fd, 0, SEEK_END) : lseek(fd, at, SEEK_SET);
	return end < 0 ? errno : 0;
}

/*
 * From the first line on, the ceiling of `out` bounds what is read.  EOVERFLOW:
 * the first line is too far into the file.
 */
static int
read_lines(int fd, const struct tool_range *r, struct buf *out)
{
	static char chunk[CHUNK];
	uint64_t line = 1, left = r->skip_bytes;
	int number;
	ssize_t n;

	if (left == 0)
		left = TOOL_LINE_BYTES;
	do {
		if (line < r->first && (number = skip_hole(fd)) != 0)
			return number;
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0 && line < r->first && left == 0)
			return EOVERFLOW;
		if (n > 0)
			left -= (uint64_t)n < left ? (uint64_t)n : left;
	} while (
		n < 0 || (n > 0 && add_lines(r, &line, chunk, (size_t)n, out)));
	return 0;
}

static int
read_bytes(int fd, const struct tool_range *r, struct buf *out)
{
	static char chunk[CHUNK];
	uint64_t at = r->first - 1, left;
	ssize_t n;

	if (at > INT64_MAX)
		return 0;
	left = r->last == 0           ? UINT64_MAX
		: r->last >= r->first ? r->last - at
				      : 0;
	while (left > 0) {
		n = pread(fd, chunk, left < CHUNK ? (size_t)left : CHUNK,
			(off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0 || !add_some(out, chunk, (size_t)n))
			return 0;
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return 0;
}

enum ss_err
tool_read(int dir, const char *path, const struct tool_range *range,
	struct buf *out, struct ss_error *err)
{
	struct stat st;
	int fd, number;
	enum ss_err code = tool_open(dir, path, &fd, &st, err);

	if (code != SS_OK)
		return code;
	number = range->bytes ? read_bytes(fd, range, out)
			      : read_lines(fd, range, out);
	fd_close(&fd);
	if (number == EOVERFLOW) {
		error_set(err, SS_BAD_REQUEST,
			"%s: line %llu is too far into the file", path,
			(unsigned long long)range->first);
		error_hint(err, "take bytes of it, with -b");
		return SS_BAD_REQUEST;
	}
	if (number != 0)
		return tool_failed(number, path, "read", err);
	return out->failed ? error_memory(err) : SS_OK;
}

/* ------------------------------------------------------------------ stat */

enum ss_err
tool_stat(
	int dir, const char *path, struct tool_stat *out, struct ss_error *err)
{
	enum ss_err code = tool_path_check(path, err);
	struct stat st;
	int fd;

	if (code != SS_OK)
		return code;
	fd = tool_open_beneath(dir, path, O_PATH | O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0) {
		code = tool_failed(errno, path, "look at", err);
		fd_close(&fd);
		return code;
	}
	fd_close(&fd);
	if (S_ISLNK(st.st_mode) && tool_leads_hidden(dir, path))
		return tool_failed(ENOENT, path, "look at", err);
	*out = (struct tool_stat){
		.size = S_ISDIR(st.st_mode) ? 0 : (uint64_t)st.st_size,
		.type = S_ISDIR(st.st_mode)   ? "directory"
			: S_ISLNK(st.st_mode) ? "symlink"
			: S_ISREG(st.st_mode) ? "file"
					      : "other",
		.is_dir = S_ISDIR(st.st_mode),
		.is_symlink = S_ISLNK(st.st_mode),
		.mode = st.st_mode & 07777u,
		.mtime_s = st.st_mtim.tv_sec,
	};
	return SS_OK;
}

/* -------------------------------------------------------------------- ls */

/* A link to a dot entry is hidden, as the dot entry is. */
static bool
is_seen(struct arena *arena, int dir, const char *path,
	const struct walk_entry *entry)
{
	const char *below;

	if (entry->type != WALK_LINK)
		return true;
	below = arena_printf(
		arena, "%s%s%s", path, path[0] != '\0' ? "/" : "", entry->name);
	return below != NULL && !tool_leads_hidden(dir, below);
}

enum ss_err
tool_ls(struct arena *arena, int dir, const char *path, size_t most,
	struct tool_names *out, struct ss_error *err)
{
	struct walk_list list;
	enum ss_err code;
	int fd;

	*out = (struct tool_names){ 0 };
	code = tool_open_dir(dir, path, &fd, err);
	if (code != SS_OK)
		return code;
	code = tool_entries(arena, &fd, &list, err);
	if (code != SS_OK)
		return code;
	out->truncated = list.cut;
	out->items =
		arena_array(arena, (list.count < most ? list.count : most) + 1,
			sizeof(*out->items));
	for (size_t i = 0; out->items != NULL && i < list.count; i++) {
		const struct walk_entry *entry = &list.items[i];

		if (!is_seen(arena, dir, path, entry))
			continue;
		out->truncated |= out->count == most;
		if (out->count == most)
			break;
		out->items[out->count] = arena_printf(arena, "%s%s",
			entry->name, entry->type == WALK_DIRECTORY ? "/" : "");
		if (out->items[out->count++] == NULL)
			return error_memory(err);
	}
	return out->items != NULL ? SS_OK : error_memory(err);
}
