/* SPDX-License-Identifier: MIT */
/*
 * The tool's own parser decides, on a command in which a plausible word fills
 * each placeholder.
 */
#include "commands/check_builtin.h"

#define URL "https://example.org/"
/* Words that are tried at the end of a tool without ;. */
#define EXTRA_MAX 3

struct trial {
	const struct spec *spec;
	const struct tool *tool;
	const struct tool_bounds *bounds;
	struct arena *arena;
	char **argv; /* with space for EXTRA_MAX more words and the NULL */
	size_t count;
};

static bool
is_any(const char *word, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(word, list[i]) == 0)
			return true;
	return false;
}

/* A word that the tool takes after this one. */
static const char *
plausible(const struct tool *tool, const char *before)
{
	static const char *const ranges[] = { "-l", "-b" };
	static const char *const numbers[] = { "-A", "-B", "-C" };
	static const char *const methods[] = { "-X", "--request" };

	if (tool->http)
		return is_any(before, methods, ARRAY_LEN(methods)) ? "GET"
								   : URL;
	if (is_any(before, ranges, ARRAY_LEN(ranges)))
		return "1-2";
	return is_any(before, numbers, ARRAY_LEN(numbers)) ? "1" : "x";
}

/* Does the text of the page decide what the word is? */
static bool
is_fixed(const struct part *p)
{
	return p->kind == PART_TEXT &&
		memchr(p->text.data, '$', p->text.len) == NULL;
}

static bool
fill_words(struct trial *t)
{
	const struct spec *s = t->spec;

	t->argv = arena_array(
		t->arena, s->part_count + EXTRA_MAX + 1, sizeof(*t->argv));
	if (t->argv == NULL)
		return false;
	for (; t->count < s->part_count; t->count++) {
		const struct part *p = &s->parts[t->count];
		struct ss_text word = p->text;

		if (!is_fixed(p))
			word = text_of(plausible(t->tool,
				t->count > 0 ? t->argv[t->count - 1] : ""));
		t->argv[t->count] = arena_copy(t->arena, word.data, word.len);
		if (t->argv[t->count] == NULL)
			return false;
	}
	return true;
}

/* SS_OK when some command of the tool is one that the built-in takes. */
static enum ss_err
try_words(struct trial *t, struct ss_error *err)
{
	size_t extra = t->spec->locked ? 0 : EXTRA_MAX;
	const char *word = plausible(t->tool, "");
	enum ss_err code = tool_check(t->tool, t->argv, t->bounds, err);

	for (size_t i = 0; code == SS_BAD_REQUEST && i < extra; i++) {
		char *more = arena_copy(t->arena, word, strlen(word));

		t->argv[t->count + i] = more;
		t->argv[t->count + i + 1] = NULL;
		if (more != NULL &&
			tool_check(t->tool, t->argv, t->bounds, NULL) == SS_OK)
			code = SS_OK;
	}
	return code;
}

/* The first of the author's words that alone is refused in the same way. */
static const struct part *
find_refused(const struct trial *t, const struct ss_error *err)
{
	size_t first = strcmp(t->argv[0], "fs") == 0 ? 2 : 1;

	for (size_t i = first; i < t->spec->part_count; i++) {
		char *const two[] = { t->argv[0], t->argv[i], NULL };
		char *const three[] = { t->argv[0], t->argv[1], t->argv[i],
			NULL };
		struct ss_error own = { .code = SS_OK };

		if (is_fixed(&t->spec->parts[i]) &&
			tool_check(t->tool, first == 2 ? three : two, t->bounds,
				&own) == err->code &&
			strcmp(own.message, err->message) == 0)
			return &t->spec->parts[i];
	}
	return &t->spec->parts[0];
}

void
check_builtin(const struct spec *s, const struct tool_bounds *bounds,
	lint_fn fn, void *ctx)
{
	struct ss_error err = { .code = SS_OK };
	const struct part *refused;
	struct arena arena;
	struct trial t = { .spec = s,
		.tool = tool_find(s->parts[0].kind == PART_TEXT
				? s->parts[0].text.data
				: NULL),
		.bounds = bounds,
		.arena = &arena };

	if (t.tool == NULL)
		return;
	arena_init(&arena, 0);
	if (fill_words(&t) && try_words(&t, &err) != SS_OK) {
		refused = find_refused(&t, &err);
		fn(ctx,
			&(const struct ss_problem){ .line = refused->line,
				.column = refused->column,
				.level = SS_LEVEL_WARNING,
				.message = err.message,
				.hint = err.hint,
				.name = warning_name(WARN_BUILTIN) });
	}
	arena_release(&arena);
}
