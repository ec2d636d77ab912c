/* SPDX-License-Identifier: MIT */
/*
 * The file tools.  The kernel keeps every path beneath one directory
 * (openat2(2), RESOLVE_BENEATH): a link may lead elsewhere below it, never out.
 * Entries that begin with a dot are hidden.  Callers are confined processes:
 * for what was not granted the kernel refuses the call.
 *
 * Errors of all of them: SS_PATH_REFUSED (leaves the directory), SS_NOT_FOUND
 * (no such file, or not what it must be), SS_CAPABILITY_REFUSED (the kernel
 * refuses: not granted), SS_BAD_REQUEST, SS_INTERNAL.
 */
#ifndef SS_TOOLS_FILES_H
#define SS_TOOLS_FILES_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define TOOL_FILE_BYTES ((size_t)16 << 20) /* that edit and grep read */
#define TOOL_DEPTH 64                      /* directories below each other */
#define TOOL_VISITS 200000                 /* entries looked at in one walk */
/* Bytes that one call reads to find a line, and that one search reads. */
#define TOOL_LINE_BYTES (UINT64_C(256) << 20)
#define TOOL_SEARCH_BYTES (UINT64_C(1) << 30)

struct stat;

/* Is it relative, without ".." and without dot entries?  Pure. */
enum ss_err tool_path_check(const char *path, struct ss_error *err);
/* A regular file beneath dir, for reading; *st as opened. */
enum ss_err tool_open(int dir, const char *path, int *fd, struct stat *st,
	struct ss_error *err);
/* A directory beneath dir; "" is dir itself. */
enum ss_err
tool_open_dir(int dir, const char *path, int *fd, struct ss_error *err);
/* errno as one of the errors above; path is the client's own. */
enum ss_err
tool_failed(int number, const char *path, const char *what, struct ss_error *e);

/* ---- names ---- */

struct tool_names {
	const char **items; /* in the arena, sorted, each once */
	size_t count;
	bool truncated;
};

/* Names that a pattern matches, at most `most`. */
enum ss_err tool_glob(struct arena *arena, int dir, const char *pattern,
	size_t most, struct tool_names *out, struct ss_error *err);
/* The entries of a directory; those that are directories end with '/'. */
enum ss_err tool_ls(struct arena *arena, int dir, const char *path, size_t most,
	struct tool_names *out, struct ss_error *err);

/* ---- contents ---- */

struct tool_range {
	bool bytes;
	uint64_t first, last; /* from 1; last 0: to the end */
	/*
	 * Bytes, without holes, that may be read before the first line;
	 * 0: TOOL_LINE_BYTES.  A line after them is SS_BAD_REQUEST.
	 */
	uint64_t skip_bytes;
};

/* Appends the file, or the range of it; out->full when it does not fit. */
enum ss_err tool_read(int dir, const char *path, const struct tool_range *range,
	struct buf *out, struct ss_error *err);
/*
 * A new file takes the place of the old one, whole and on disk, or nothing
 * changes.  new_only: SS_NOT_FOUND when there is one already.
 */
enum ss_err tool_write(int dir, const char *path, const char *data, size_t len,
	bool new_only, struct ss_error *err);
struct tool_edit {
	struct ss_text old, replacement;
	bool all;     /* old may occur more than once */
	size_t count; /* result: how often it occurs; set also on failure */
};
/* Replaces old, which must occur at least once. */
enum ss_err tool_edit(int dir, const char *path, struct tool_edit *edit,
	struct ss_error *err);

struct tool_stat {
	uint64_t size;    /* 0 for a directory */
	const char *type; /* "file", "directory", "symlink", "other" */
	bool is_dir, is_symlink;
	unsigned mode;
	int64_t mtime_s;
};
/* Of the name itself: a link is not followed. */
enum ss_err tool_stat(
	int dir, const char *path, struct tool_stat *out, struct ss_error *err);

/* ---- searching ---- */

struct tool_search {
	const char *pattern; /* PCRE2, as in a page's regex */
	bool fixed, ignore_case;
	const char *include;    /* a wildcard for the file's name; NULL: all */
	uint64_t before, after; /* lines around each hit */
	/* Bytes that may be read in all; 0: TOOL_SEARCH_BYTES. */
	uint64_t search_bytes;
};

struct tool_line {
	const char *path;
	uint64_t number;
	struct ss_text text;
	bool hit; /* else context */
	bool gap; /* lines were left out before this one */
};

/* False ends the search. */
typedef bool (*tool_line_fn)(void *ctx, const struct tool_line *line);

/* Every file below a path, or one file, in the order of names. */
enum ss_err tool_grep(int dir, const char *path, const struct tool_search *what,
	tool_line_fn fn, void *ctx, struct ss_error *err);

#endif
