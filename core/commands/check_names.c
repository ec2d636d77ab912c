/* SPDX-License-Identifier: MIT */
#include "commands/check_names.h"

#include <stdio.h>

#include "page/toolcall.h"

struct check_name {
	struct check_name *next;
	const char *page;
	unsigned line;
	char name[TOOLCALL_NAME_MAX + 1];
	char hashed[TOOLCALL_NAME_MAX + 1];
};

/* FNV-1a. */
static size_t
bucket_of(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h % CHECK_NAMES_BUCKETS;
}

static void
report(const struct spec *s, const struct check_name *mine,
	const struct check_name *earlier, lint_fn fn, void *ctx)
{
	char where[64], message[512];
	bool same = strcmp(mine->page, earlier->page) == 0;

	if (same)
		snprintf(where, sizeof(where), "the tool of line %u",
			earlier->line);
	else
		snprintf(
			where, sizeof(where), "a tool of %.40s", earlier->page);
	snprintf(message, sizeof(message),
		"%s is named %s too: calls use %s for this one", where,
		mine->name, mine->hashed);
	fn(ctx,
		&(const struct ss_problem){ .line = s->line,
			.column = s->column,
			.level = SS_LEVEL_WARNING,
			.message = message,
			.hint = "give each a name of its own: name: ...",
			.name = warning_name(WARN_CLASH) });
}

bool
check_names_add(struct check_names *names, struct arena *arena,
	const struct frontmatter *front, const char *page, lint_fn fn,
	void *ctx)
{
	const char *path = arena_copy(arena, page, strlen(page));
	struct check_name *mine, **bucket, *earlier;

	for (size_t i = 0; path != NULL && i < front->spec_count; i++) {
		mine = arena_alloc(arena, sizeof(*mine));
		if (mine == NULL)
			return false;
		mine->page = path;
		mine->line = front->specs[i].line;
		if (!toolcall_name(&front->specs[i], path, mine->name) ||
			!toolcall_hashed_name(
				&front->specs[i], path, mine->hashed))
			return false;
		bucket = &names->buckets[bucket_of(mine->name)];
		for (earlier = *bucket; earlier != NULL;
			earlier = earlier->next)
			if (strcmp(earlier->name, mine->name) == 0)
				break;
		/* The same command twice is one tool, and told as a shadow. */
		if (earlier != NULL &&
			strcmp(earlier->hashed, mine->hashed) != 0)
			report(&front->specs[i], mine, earlier, fn, ctx);
		if (earlier != NULL)
			continue;
		mine->next = *bucket;
		*bucket = mine;
	}
	return path != NULL;
}
