/* SPDX-License-Identifier: MIT */
/*
 * glob: for each pattern after brace expansion, a walk that opens only
 * directories that the pattern can match.  `**` enters directories but no
 * links, as in bash; a part without wildcards may be a link that stays beneath.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "tools/walk.h"
#include "tools/wildcard.h"

struct walk {
	struct arena *arena;
	int root;
	size_t most;   /* items that are kept before sorting */
	size_t visits; /* entries that may still be looked at */
	struct tool_names *out;
	size_t cap;
	bool only_dirs; /* the pattern ends with a slash */
	struct ss_error *err;
};

/* A place in the walk, and the rest of the pattern. */
struct position {
	const char *path; /* "" or "docs/api" */
	const char *rest;
	unsigned depth;
};

static enum ss_err descend(struct walk *w, struct position at);

static const char *
join_path(struct walk *w, const char *path, const char *name, size_t len)
{
	return arena_printf(w->arena, "%s%s%.*s", path,
		path[0] != '\0' ? "/" : "", (int)len, name);
}

static enum ss_err
add_name(struct walk *w, const char *path)
{
	struct tool_names *out = w->out;
	const char **grown;

	if (out->count == w->most) {
		out->truncated = true;
		return SS_OK;
	}
	if (out->count == w->cap) {
		w->cap = w->cap != 0 ? w->cap * 2 : 64;
		grown = arena_array(w->arena, w->cap, sizeof(*grown));
		if (grown == NULL)
			return error_memory(w->err);
		if (out->count > 0)
			memcpy(grown, out->items, out->count * sizeof(*grown));
		out->items = grown;
	}
	if (w->only_dirs)
		path = arena_printf(w->arena, "%s/", path);
	out->items[out->count++] = path;
	return path != NULL ? SS_OK : error_memory(w->err);
}

static bool
is_dir(struct walk *w, const char *path)
{
	int fd = tool_open_beneath(w->root, path, O_PATH | O_DIRECTORY);

	if (fd < 0)
		return false;
	fd_close(&fd);
	return true;
}

/* A name that the last part of the pattern matched. */
static enum ss_err
last_part(struct walk *w, const char *path, enum walk_type type)
{
	if (w->only_dirs && type != WALK_DIRECTORY && !is_dir(w, path))
		return SS_OK;
	if (type == WALK_LINK && tool_leads_hidden(w->root, path))
		return SS_OK;
	return add_name(w, path);
}

/* A part without wildcards needs no directory list. */
static enum ss_err
step_text(struct walk *w, struct position at, struct ss_text part,
	const char *rest)
{
	char *name = arena_copy(w->arena, part.data, part.len);
	const char *path;
	int fd;

	if (name == NULL)
		return error_memory(w->err);
	path = join_path(w, at.path, name, wildcard_unescape(name, part.len));
	if (path == NULL)
		return error_memory(w->err);
	if (*rest != '\0')
		return descend(
			w, (struct position){ path, rest, at.depth + 1 });
	fd = tool_open_beneath(w->root, path, O_PATH | O_NOFOLLOW);
	if (fd < 0)
		return SS_OK;
	fd_close(&fd);
	return last_part(w, path, WALK_LINK); /* it may be one */
}

/* One entry of a directory, against a part that is no text. */
static enum ss_err
step_entry(struct walk *w, struct position at, struct ss_text part,
	const char *rest, const struct walk_entry *entry)
{
	bool deep = wildcard_is_deep(part.data, part.len);
	size_t len = strlen(entry->name);
	const char *path;
	enum ss_err code = SS_OK;

	if (!deep && !wildcard_part(part.data, part.len, entry->name, len))
		return SS_OK;
	path = join_path(w, at.path, entry->name, len);
	if (path == NULL)
		return error_memory(w->err);
	if (*rest == '\0')
		code = last_part(w, path, entry->type);
	else if (!deep &&
		(entry->type == WALK_DIRECTORY || entry->type == WALK_LINK))
		return descend(
			w, (struct position){ path, rest, at.depth + 1 });
	/* Enter the directory with `**` still first in the pattern. */
	if (code == SS_OK && deep && entry->type == WALK_DIRECTORY)
		code = descend(
			w, (struct position){ path, part.data, at.depth + 1 });
	return code;
}

static enum ss_err
step_entries(struct walk *w, struct position at, struct ss_text part,
	const char *rest)
{
	struct walk_list list;
	enum ss_err code;
	int fd = tool_open_beneath(w->root, at.path, O_RDONLY | O_DIRECTORY);

	/* Removed, not readable, or a link that leads out: nothing matches. */
	if (fd < 0)
		return SS_OK;
	code = tool_entries(w->arena, &fd, &list, w->err);
	for (size_t i = 0; code == SS_OK && i < list.count; i++) {
		if (w->visits == 0 || w->out->truncated) {
			w->out->truncated = true;
			break;
		}
		w->visits--;
		code = step_entry(w, at, part, rest, &list.items[i]);
	}
	return code;
}

/* Skips repeats: "**" twice in a row matches what one does, only slower. */
static const char *
after_part(const char *at, struct ss_text part)
{
	size_t n;

	for (at += strspn(at, "/"); wildcard_is_deep(part.data, part.len);
		at += n, at += strspn(at, "/")) {
		n = strcspn(at, "/");
		if (!wildcard_is_deep(at, n))
			break;
	}
	return at;
}

static enum ss_err
descend(struct walk *w, struct position at)
{
	struct ss_text part;
	const char *rest;
	enum ss_err code = SS_OK;

	at.rest += strspn(at.rest, "/");
	part = (struct ss_text){ at.rest, strcspn(at.rest, "/") };
	rest = after_part(at.rest + part.len, part);
	if (at.depth > TOOL_DEPTH || w->out->truncated) {
		w->out->truncated = true;
		return SS_OK;
	}
	if (part.len == 1 && part.data[0] == '.')
		return *rest != '\0' ? descend(w,
					       (struct position){ at.path, rest,
						       at.depth + 1 })
				     : SS_OK;
	if (wildcard_is_text(part.data, part.len))
		return step_text(w, at, part, rest);
	/* `**` also matches no directory at all. */
	if (wildcard_is_deep(part.data, part.len) && *rest != '\0')
		code = descend(
			w, (struct position){ at.path, rest, at.depth + 1 });
	return code == SS_OK ? step_entries(w, at, part, rest) : code;
}

static int
compare_names(const void *left, const void *right)
{
	const char *const *a = left, *const *b = right;

	return strcmp(*a, *b);
}

/* Sorts names and removes doubles: two patterns may find the same name. */
static void
put_in_order(struct tool_names *out)
{
	size_t kept = 0;

	if (out->count > 1)
		qsort(out->items, out->count, sizeof(*out->items),
			compare_names);
	for (size_t i = 0; i < out->count; i++)
		if (kept == 0 ||
			strcmp(out->items[kept - 1], out->items[i]) != 0)
			out->items[kept++] = out->items[i];
	out->count = kept;
}

enum ss_err
tool_glob(struct arena *arena, int dir, const char *pattern, size_t most,
	struct tool_names *out, struct ss_error *err)
{
	const char *patterns[WILDCARD_LISTS];
	struct walk w = { .arena = arena,
		.root = dir,
		.most = TOOL_VISITS,
		.visits = TOOL_VISITS,
		.out = out,
		.err = err };
	size_t count;
	enum ss_err code;

	*out = (struct tool_names){ 0 };
	code = wildcard_expand(arena, pattern, patterns, &count, err);
	for (size_t i = 0; code == SS_OK && i < count; i++) {
		code = tool_path_check(patterns[i], err);
		if (code == SS_NOT_FOUND) { /* a dot entry: none is seen */
			code = SS_OK;
			error_clear(err);
			continue;
		}
		w.only_dirs = text_ends(text_of(patterns[i]), "/");
		if (code == SS_OK)
			code = descend(
				&w, (struct position){ "", patterns[i], 0 });
	}
	if (code != SS_OK)
		return code;
	put_in_order(out);
	if (out->count > most) {
		out->count = most;
		out->truncated = true;
	}
	return SS_OK;
}
