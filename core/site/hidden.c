/* SPDX-License-Identifier: MIT */
#include "site/hidden.h"

#include "tools/wildcard.h"
#include "wire/path.h"

#define PATTERNS_MAX 1024

/* ---------------------------------------------------------- the patterns -- */

/* A part that no path of a request has: it would hide nothing. */
static bool
is_dead_part(const char *part, size_t len)
{
	return (len == 1 && part[0] == '.') ||
		(len == 2 && part[0] == '.' && part[1] == '.');
}

static bool
is_path(const char *text)
{
	const char *at = text + strspn(text, "/");
	size_t len;

	if (text[0] != '/' || *at == '\0')
		return false;
	for (; *at != '\0'; at += len, at += strspn(at, "/")) {
		len = strcspn(at, "/");
		if (is_dead_part(at, len))
			return false;
	}
	return true;
}

bool
hidden_is_pattern(const char *text)
{
	const char *list[WILDCARD_LISTS];
	struct arena arena;
	size_t n = 0;
	bool fits;

	arena_init(&arena, 0);
	fits = wildcard_expand(&arena, text, list, &n, NULL) == SS_OK;
	for (size_t i = 0; fits && i < n; i++)
		fits = is_path(list[i]);
	arena_release(&arena);
	return fits;
}

static void
fold(char *text)
{
	for (; *text != '\0'; text++)
		if (*text >= 'A' && *text <= 'Z')
			*text = (char)(*text | 0x20);
}

static enum ss_err
add_pattern(struct hidden *h, struct arena *arena, const char *pattern,
	struct ss_error *err)
{
	char *folded = arena_copy(arena, pattern, strlen(pattern));

	if (folded == NULL)
		return error_memory(err);
	fold(folded);
	h->patterns[h->count] = pattern;
	h->folded[h->count++] = folded;
	return SS_OK;
}

static enum ss_err
add_written(struct hidden *h, struct arena *arena, const char *written,
	struct ss_error *err)
{
	const char *list[WILDCARD_LISTS];
	enum ss_err code;
	size_t n;

	code = wildcard_expand(arena, written, list, &n, err);
	if (code == SS_OK && h->count + n > PATTERNS_MAX)
		return error_set(err, SS_CONFIG,
			"[http] hidden has more than %d patterns",
			PATTERNS_MAX);
	for (size_t i = 0; code == SS_OK && i < n; i++)
		code = add_pattern(h, arena, list[i], err);
	return code;
}

enum ss_err
hidden_init(struct hidden *h, struct arena *arena, const char *const *patterns,
	size_t count, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	*h = (struct hidden){ .count = 0 };
	if (count == 0)
		return SS_OK;
	h->patterns = arena_array(arena, PATTERNS_MAX, sizeof(*h->patterns));
	h->folded = arena_array(arena, PATTERNS_MAX, sizeof(*h->folded));
	if (h->patterns == NULL || h->folded == NULL)
		return error_memory(err);
	for (size_t i = 0; code == SS_OK && i < count; i++)
		code = add_written(h, arena, patterns[i], err);
	return code;
}

/* -------------------------------------------------------------- a path -- */

/* The path, without a page's extension, then each directory above it. */
static bool
matches_way(const char *pattern, char path[static PATH_BYTES_MAX + 1])
{
	char *cut;

	if (wildcard_path(pattern, path))
		return true;
	if (path_is_page(path)) {
		*strrchr(path, '.') = '\0';
		if (wildcard_path(pattern, path))
			return true;
	}
	while ((cut = strrchr(path, '/')) != NULL) {
		*cut = '\0';
		if (wildcard_path(pattern, path))
			return true;
	}
	return false;
}

bool
hidden_matches(const struct hidden *h, size_t i, const char *path)
{
	char way[PATH_BYTES_MAX + 1];
	size_t len = strlen(path);

	if (len > PATH_BYTES_MAX)
		return true;
	memcpy(way, path, len + 1);
	if (matches_way(h->patterns[i], way))
		return true;
	memcpy(way, path, len + 1);
	fold(way);
	return matches_way(h->folded[i], way);
}

bool
hidden_has(const struct hidden *h, const char *path)
{
	for (size_t i = 0; i < h->count; i++)
		if (hidden_matches(h, i, path))
			return true;
	return false;
}
