/* SPDX-License-Identifier: MIT */
#include "commands/check_readers.h"

#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>

#include "wire/media.h"
#include "wire/path.h"

/* Not Markdown, text, tables, pictures: these are data that pages show. */
static const char *const endings[] = { "db", "db3", "sqlite", "sqlite3",
	"duckdb", "kdbx", "env", "pem", "key", "p12", "pfx", "jks", "keystore",
	"py", "pyc", "sh", "bash", "zsh", "pl", "rb", "php", "lua", "tcl",
	"bak", "orig", "swp" };
static const char *const names[] = { "id_rsa", "id_ecdsa", "id_ed25519",
	"htpasswd", "credentials", "secrets", "Makefile" };

void
check_readers_init(struct check_readers *r, const struct documents *d)
{
	*r = (struct check_readers){ .documents = d };
	arena_init(&r->arena, 0);
	r->matched = arena_array(
		&r->arena, d->hidden.count + 1, sizeof(*r->matched));
	r->no_memory = r->matched == NULL;
}

void
check_readers_release(struct check_readers *r)
{
	arena_release(&r->arena);
}

static bool
is_in(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(text, list[i]) == 0)
			return true;
	return false;
}

static const char *
name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* On some file systems each file has an x bit: not one with a known type. */
static bool
is_executable(const struct documents *d, const char *path)
{
	struct stat st;

	return strcmp(media_type(path), "application/octet-stream") == 0 &&
		fstatat(d->root.fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

static bool
is_private(const struct documents *d, const char *path)
{
	const char *name = name_of(path), *dot = strrchr(name, '.');

	return (dot != NULL && is_in(dot + 1, endings, ARRAY_LEN(endings))) ||
		is_in(name, names, ARRAY_LEN(names)) || is_executable(d, path);
}

/* All files with its ending, else itself; '?' for what has a meaning. */
static const char *
pattern_of(struct check_readers *r, const char *path)
{
	const char *dot = strrchr(name_of(path), '.');
	char *pattern =
		dot != NULL && is_in(dot + 1, endings, ARRAY_LEN(endings))
		? arena_printf(&r->arena, "/**/*%s", dot)
		: arena_printf(&r->arena, "/%s", path);

	for (char *c = pattern; c != NULL && *c != '\0'; c++)
		if (strchr("[]{}\\\"", *c) != NULL)
			*c = '?';
	return pattern;
}

static void
add_pattern(struct check_readers *r, const char *path)
{
	const char *pattern = pattern_of(r, path);

	r->no_memory |= pattern == NULL;
	for (size_t i = 0; pattern != NULL && i < r->pattern_count; i++)
		if (strcmp(r->patterns[i], pattern) == 0)
			return;
	if (pattern != NULL && r->pattern_count < CHECK_READERS_PATTERNS)
		r->patterns[r->pattern_count++] = pattern;
}

static void
note_matched(struct check_readers *r, const char *path)
{
	const struct hidden *h = &r->documents->hidden;

	for (size_t i = 0; i < h->count; i++)
		if (!r->matched[i])
			r->matched[i] = hidden_matches(h, i, path);
}

void
check_readers_take(
	struct check_readers *r, const char *path, enum walk_type type)
{
	if (r->no_memory)
		return;
	note_matched(r, path);
	if (type != WALK_FILE || path_is_page(path) ||
		hidden_has(&r->documents->hidden, path) ||
		!is_private(r->documents, path))
		return;
	if (r->count < CHECK_READERS_SHOWN) {
		r->shown[r->count] = arena_copy(&r->arena, path, strlen(path));
		r->no_memory |= r->shown[r->count] == NULL;
	}
	r->count++;
	add_pattern(r, path);
}

static void
tell_open(struct check_readers *r, lint_fn fn, void *ctx)
{
	struct buf text = BUF_INIT(8192), hint = BUF_INIT(8192);
	size_t shown =
		r->count < CHECK_READERS_SHOWN ? r->count : CHECK_READERS_SHOWN;

	buf_printf(&text, "every reader can fetch ");
	for (size_t i = 0; i < shown; i++)
		buf_printf(&text, "%s%s", i > 0 ? ", " : "", r->shown[i]);
	if (r->count > shown)
		buf_printf(&text, " and %zu more like %s", r->count - shown,
			r->count - shown == 1 ? "it" : "them");
	buf_text(&hint,
		"if they are not meant to be read, write [http] hidden = [");
	for (size_t i = 0; i < r->pattern_count; i++)
		buf_printf(
			&hint, "%s\"%s\"", i > 0 ? ", " : "", r->patterns[i]);
	buf_text(&hint, "]; tools read them all the same");
	r->no_memory |= text.failed || hint.failed;
	if (!r->no_memory)
		fn(ctx,
			&(const struct ss_problem){ .level = SS_LEVEL_WARNING,
				.message = text.data,
				.hint = hint.data });
	buf_release(&text);
	buf_release(&hint);
}

bool
check_readers_tell(struct check_readers *r, lint_fn fn, void *ctx)
{
	const struct hidden *h = &r->documents->hidden;
	char text[512];

	if (r->count > 0 && !r->no_memory)
		tell_open(r, fn, ctx);
	for (size_t i = 0; i < h->count && !r->no_memory; i++) {
		if (r->matched[i])
			continue;
		snprintf(text, sizeof(text),
			"[http] hidden: \"%.300s\" matches no file of the site",
			h->patterns[i]);
		fn(ctx,
			&(const struct ss_problem){ .level = SS_LEVEL_WARNING,
				.message = text,
				.hint = "correct it, or take it out" });
	}
	return !r->no_memory;
}
