/* SPDX-License-Identifier: MIT */
/*
 * grep: every file below a path, line by line.  A file with a NUL in its
 * first LOOK_BYTES is taken for binary and left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "page/pattern.h"
#include "tools/walk.h"
#include "tools/wildcard.h"

#define BEHIND_BYTES 64
#define LOOK_BYTES 8192  /* for a NUL */
#define LINE_BYTES 65536 /* a longer one may be too much for a pattern */

struct search {
	const struct tool_search *what;
	struct pattern *pattern; /* NULL: fixed text */
	tool_line_fn fn;
	void *ctx;
	int dir;
	struct arena arena; /* of the directories on the way down */
	struct buf file;
	const char *include[WILDCARD_LISTS];
	size_t include_count;
	size_t visits;
	uint64_t left; /* bytes that may still be read */
	bool only_one;
	bool over; /* the caller ended the search */
	struct ss_error *err;
};

/* ----------------------------------------------------------------- lines */

/* A file, and what was shown of it. */
struct scan {
	struct search *s;
	const char *path;
	struct ss_text text;
	uint64_t number; /* of the current line */
	uint64_t shown;  /* the last line shown; 0: none */
	uint64_t after;  /* lines still to show as context */
};

static bool
hand_out(struct scan *c, uint64_t number, struct ss_text text, bool hit)
{
	const struct tool_line line = {
		.path = c->path,
		.number = number,
		.text = text,
		.hit = hit,
		.gap = c->shown != 0 && number > c->shown + 1,
	};

	c->shown = number;
	c->s->over = !c->s->fn(c->s->ctx, &line);
	return !c->s->over;
}

/* Shows the lines before the one at `at` that were not shown yet. */
static bool
show_before(struct scan *c, size_t at)
{
	uint64_t want = c->s->what->before, first = c->number;
	const char *data = c->text.data, *end;
	size_t from = at;

	for (; want > 0 && from > 0 && first - 1 > c->shown; want--, first--) {
		end = memrchr(data, '\n', from - 1);
		from = end != NULL ? (size_t)(end - data) + 1 : 0;
	}
	for (; from < at; first++) {
		end = memchr(data + from, '\n', at - from);
		if (!hand_out(c, first,
			    (struct ss_text){
				    data + from, (size_t)(end - data) - from },
			    false))
			return false;
		from = (size_t)(end - data) + 1;
	}
	return true;
}

static enum pattern_result
matches(const struct search *s, struct ss_text line)
{
	const char *wanted = s->what->pattern;

	if (s->pattern != NULL)
		return pattern_search(s->pattern, line.data, line.len);
	return memmem(line.data, line.len, wanted, strlen(wanted)) != NULL
		? PATTERN_YES
		: PATTERN_NO;
}

static enum ss_err
scan_line(struct scan *c, size_t at, struct ss_text line)
{
	struct search *s = c->s;

	switch (matches(s, line)) {
	case PATTERN_YES:
		if (show_before(c, at) && hand_out(c, c->number, line, true))
			c->after = s->what->after;
		return SS_OK;
	case PATTERN_NO:
		if (c->after > 0) {
			c->after--;
			hand_out(c, c->number, line, false);
		}
		return SS_OK;
	case PATTERN_MEMORY: return error_memory(s->err);
	case PATTERN_LIMIT: break;
	}
	/* A search of many files leaves it out, as binary ones. */
	if (!s->only_one && line.len > LINE_BYTES)
		return SS_OK;
	error_set(s->err, SS_BAD_REQUEST,
		"%s: the pattern reached its limit on line %llu", c->path,
		(unsigned long long)c->number);
	error_hint(s->err, "make it simpler, or search for fixed text");
	return SS_BAD_REQUEST;
}

static enum ss_err
scan_file(struct search *s, const char *path)
{
	struct scan c = { .s = s, .path = path, .text = buf_view(&s->file) };
	size_t look = c.text.len < LOOK_BYTES ? c.text.len : LOOK_BYTES, at = 0;
	enum ss_err code = SS_OK;
	const char *end;
	size_t len;

	if (memchr(c.text.data, '\0', look) != NULL)
		return SS_OK;
	while (code == SS_OK && !s->over && at < c.text.len) {
		c.number++;
		end = memchr(c.text.data + at, '\n', c.text.len - at);
		len = end != NULL ? (size_t)(end - c.text.data) - at
				  : c.text.len - at;
		code = scan_line(
			&c, at, (struct ss_text){ c.text.data + at, len });
		at += len + 1;
	}
	return code;
}

/* ----------------------------------------------------------------- files */

/* A pattern with a slash is for the whole path, as in .gitignore. */
static bool
is_included(const struct search *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash != NULL ? slash + 1 : path;

	for (size_t i = 0; i < s->include_count; i++) {
		const char *p = s->include[i];

		if (strchr(p, '/') != NULL ? wildcard_path(p, path)
					   : wildcard_part(p, strlen(p), name,
						     strlen(name)))
			return true;
	}
	return s->what->include == NULL;
}

/* Is it a long file with a NUL in its first LOOK_BYTES?  It is not read. */
static bool
is_long_binary(int fd, const struct stat *st)
{
	char look[LOOK_BYTES];
	ssize_t n;

	if (st->st_size <= LOOK_BYTES)
		return false;
	n = pread(fd, look, sizeof(look), 0);
	return n > 0 && memchr(look, '\0', (size_t)n) != NULL;
}

/* Reads the file, unless its size is too large.  0 or errno. */
static int
read_file(struct search *s, int fd, const struct stat *st)
{
	buf_clear(&s->file);
	if ((uint64_t)st->st_size > TOOL_FILE_BYTES) {
		s->file.full = true;
		return 0;
	}
	return is_long_binary(fd, st) ? 0 : fd_read_all(fd, &s->file);
}

/* Subtracts what was read from the budget. */
static enum ss_err
spend(struct search *s)
{
	if (s->file.len <= s->left) {
		s->left -= s->file.len;
		return SS_OK;
	}
	error_set(s->err, SS_BAD_REQUEST,
		"there is more text than one search takes");
	error_hint(s->err, "name a directory or files of it, or use -g");
	return SS_BAD_REQUEST;
}

/* A search of many files leaves out those that it may not read. */
static enum ss_err
search_file(struct search *s, const char *path)
{
	bool only_one = s->only_one;
	struct stat st;
	int fd, number;
	char *behind;
	enum ss_err code;

	if (!only_one && !is_included(s, path))
		return SS_OK;
	code = tool_open(s->dir, path, &fd, &st, only_one ? s->err : NULL);
	if (code != SS_OK)
		return only_one ? code : SS_OK;
	number = read_file(s, fd, &st);
	fd_close(&fd);
	/* PCRE2's compiled code reads whole vectors, a little past the end. */
	behind = buf_reserve(&s->file, BEHIND_BYTES);
	if (behind != NULL)
		memset(behind, 0, BEHIND_BYTES);
	if (s->file.failed)
		return error_memory(s->err);
	if (number != 0)
		return only_one ? tool_failed(number, path, "read", s->err)
				: SS_OK;
	code = spend(s);
	if (code != SS_OK)
		return code;
	if (!s->file.full)
		return scan_file(s, path);
	return only_one ? error_set(s->err, SS_NOT_FOUND,
				  "%s is too large to be searched", path)
			: SS_OK;
}

static enum ss_err
search_dir(struct search *s, const char *path, unsigned depth)
{
	struct walk_list list;
	enum ss_err code = SS_OK;
	int fd = tool_open_beneath(s->dir, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return SS_OK;
	code = tool_entries(&s->arena, &fd, &list, s->err);
	for (size_t i = 0; code == SS_OK && !s->over && i < list.count; i++) {
		const char *below = arena_printf(&s->arena, "%s%s%s", path,
			path[0] != '\0' ? "/" : "", list.items[i].name);

		if (below == NULL)
			return error_memory(s->err);
		if (s->visits == 0)
			return error_set(s->err, SS_BAD_REQUEST,
				"there are more files than one search takes");
		s->visits--;
		if (list.items[i].type == WALK_FILE)
			code = search_file(s, below);
		else if (list.items[i].type == WALK_DIRECTORY &&
			depth < TOOL_DEPTH)
			code = search_dir(s, below, depth + 1);
	}
	return code;
}

static bool
is_directory(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum ss_err
search_open(struct search *s)
{
	const struct tool_search *what = s->what;
	enum ss_err code = SS_OK;
	char *source;

	if (what->include != NULL)
		code = wildcard_expand(&s->arena, what->include, s->include,
			&s->include_count, s->err);
	if (code != SS_OK || (what->fixed && !what->ignore_case))
		return code;
	source = what->fixed
		? arena_printf(&s->arena, "(?i)\\Q%s\\E", what->pattern)
		: arena_printf(&s->arena, "%s%s",
			  what->ignore_case ? "(?i)" : "", what->pattern);
	if (source == NULL)
		return error_memory(s->err);
	if (what->fixed && strstr(what->pattern, "\\E") != NULL)
		return error_set(s->err, SS_BAD_REQUEST,
			"fixed text that ignores case must not hold \\E");
	code = pattern_new(source, strlen(source), &s->pattern, s->err);
	if (code == SS_BAD_FRONTMATTER && s->err != NULL)
		s->err->code = SS_BAD_REQUEST;
	return code == SS_BAD_FRONTMATTER ? SS_BAD_REQUEST : code;
}

enum ss_err
tool_grep(int dir, const char *path, const struct tool_search *what,
	tool_line_fn fn, void *ctx, struct ss_error *err)
{
	struct search s = { .what = what,
		.fn = fn,
		.ctx = ctx,
		.dir = dir,
		.file = BUF_INIT(TOOL_FILE_BYTES),
		.visits = TOOL_VISITS,
		.left = what->search_bytes != 0 ? what->search_bytes
						: TOOL_SEARCH_BYTES,
		.err = err };
	enum ss_err code;
	int fd;

	arena_init(&s.arena, 0);
	code = search_open(&s);
	if (code == SS_OK)
		code = tool_path_check(path, err);
	if (code == SS_OK) {
		fd = tool_open_beneath(dir, path, O_RDONLY);
		if (fd < 0)
			code = tool_failed(errno, path, "read", err);
		else if (is_directory(fd))
			code = search_dir(&s, path, 0);
		else
			s.only_one = true;
		if (s.only_one)
			code = search_file(&s, path);
		fd_close(&fd);
	}
	pattern_free(s.pattern);
	arena_release(&s.arena);
	buf_release(&s.file);
	return code;
}
