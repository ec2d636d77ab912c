/* SPDX-License-Identifier: MIT */
#include "commands/check_names.h"

#include <stdio.h>
#include <stdlib.h>

#include "page/toolname.h"

struct check_name {
	struct check_name *next;
	const char *page;
	unsigned line;
	char name[TOOLCALL_NAME_MAX + 1]; /* were it the only tool */
	char label[TOOLCALL_NAME_MAX + 1];
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
	char where[64], message[512], used[TOOLCALL_NAME_MAX + 1];
	bool same = strcmp(mine->page, earlier->page) == 0;

	if (same)
		snprintf(where, sizeof(where), "the tool of line %u",
			earlier->line);
	else
		snprintf(
			where, sizeof(where), "a tool of %.40s", earlier->page);
	if (same)
		strcpy(used, mine->label);
	else if (!toolcall_qualify(mine->page, mine->label, used))
		strcpy(used, mine->hashed);
	snprintf(message, sizeof(message),
		"%s is named %s too: calls use %s for this one", where,
		mine->name, used);
	fn(ctx,
		&(const struct ss_problem){ .line = s->line,
			.column = s->column,
			.level = SS_LEVEL_WARNING,
			.message = message,
			.hint = "give each a name of its own: name: ...",
			.name = warning_name(WARN_CLASH) });
}

/*
 * Does the earlier one take the name away?  Tools of a page without names are
 * told apart by their words, as long as that is enough.
 */
static bool
clashes(const struct spec *s, const struct check_name *mine,
	const struct check_name *earlier)
{
	/* The same command twice is one tool, and told as a shadow. */
	if (strcmp(earlier->name, mine->name) != 0 ||
		strcmp(earlier->hashed, mine->hashed) == 0)
		return false;
	if (strcmp(earlier->page, mine->page) != 0)
		return strcmp(earlier->label, mine->label) == 0;
	return s->name != NULL || strcmp(mine->label, mine->hashed) == 0;
}

static bool
add_one(struct check_names *names, struct check_name *mine,
	const struct spec *s, lint_fn fn, void *ctx)
{
	struct check_name **bucket, *earlier;

	mine->line = s->line;
	if (!toolcall_name(s, mine->page, mine->name) ||
		!toolcall_hashed_name(s, mine->page, mine->hashed))
		return false;
	bucket = &names->buckets[bucket_of(mine->name)];
	for (earlier = *bucket; earlier != NULL; earlier = earlier->next)
		if (clashes(s, mine, earlier))
			break;
	if (earlier != NULL)
		report(s, mine, earlier, fn, ctx);
	mine->next = *bucket;
	*bucket = mine;
	return true;
}

bool
check_names_add(struct check_names *names, struct arena *arena,
	const struct frontmatter *front, const char *page, lint_fn fn,
	void *ctx)
{
	const char *path = arena_copy(arena, page, strlen(page));
	struct toolcall_label *labels =
		toolcall_labels(front->specs, front->spec_count, page);
	bool good = path != NULL && labels != NULL;

	for (size_t i = 0; good && i < front->spec_count; i++) {
		struct check_name *mine = arena_alloc(arena, sizeof(*mine));

		good = mine != NULL;
		if (!good)
			break;
		mine->page = path;
		strcpy(mine->label, labels[i].text);
		good = add_one(names, mine, &front->specs[i], fn, ctx);
	}
	free(labels);
	return good;
}
