/* SPDX-License-Identifier: MIT */
#include "page/warning.h"

#include <stdio.h>

#include "page/near.h"

static const char *const names[WARN_COUNT] = {
	[WARN_ARGUMENT] = "argument",
	[WARN_BUILTIN] = "builtin",
	[WARN_CHARACTER] = "character",
	[WARN_CODE] = "code",
	[WARN_COMPONENT] = "component",
	[WARN_EMPTY] = "empty",
	[WARN_ENDLESS] = "endless",
	[WARN_ENV] = "env",
	[WARN_FENCE] = "fence",
	[WARN_KEY] = "key",
	[WARN_LIMIT] = "limit",
	[WARN_NAME] = "name",
	[WARN_NETWORK] = "network",
	[WARN_OPTION] = "option",
	[WARN_PLACEHOLDER] = "placeholder",
	[WARN_PROGRAM] = "program",
	[WARN_PROMPT] = "prompt",
	[WARN_QUOTE] = "quote",
	[WARN_REGEX] = "regex",
	[WARN_RUNNER] = "runner",
	[WARN_SECRET] = "secret",
	[WARN_SHADOW] = "shadow",
	[WARN_SHELL] = "shell",
	[WARN_STDIN] = "stdin",
	[WARN_TEMPLATE] = "template",
	[WARN_VARIABLE] = "variable",
	[WARN_WORD] = "word",
	[WARN_WRITE] = "write",
	[WARN_INSTALLED] = "installed",
	[WARN_CLASH] = "clash",
	[WARN_FILE] = "file",
	[WARN_GRANT] = "grant",
};

const char *
warning_name(enum warning w)
{
	return names[w];
}

bool
warning_is_of_word(const char *name)
{
	static const enum warning all[] = { WARN_CHARACTER, WARN_EMPTY,
		WARN_PLACEHOLDER, WARN_PROGRAM, WARN_QUOTE, WARN_VARIABLE,
		WARN_WORD };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (name == names[all[i]])
			return true;
	return false;
}

/* One item of a list under `allow`. */
struct acknowledged {
	struct acknowledged *next;
	const struct node *item;
	enum warning warning;
	/* The first place and the last that it is for; {0, 0}: the page. */
	struct node_place first, last;
	bool used;
};

struct allow {
	struct acknowledged *items;
	struct arena *arena;
	lint_fn fn;
	void *ctx;
};

/* ------------------------------------------------------------------ places */

static bool
is_before(struct node_place a, struct node_place b)
{
	return a.line < b.line || (a.line == b.line && a.column < b.column);
}

/* The last place where something of this node begins. */
static struct node_place
last_place(const struct node *n)
{
	struct node_place last = { n->line, n->column }, own;

	for (const struct node *m = n->first; m != NULL; m = m->next) {
		own = last_place(m);
		if (is_before(last, own))
			last = own;
	}
	return last;
}

/* ----------------------------------------------------------------- reading */

static void
report(const struct allow *a, const struct node *at, enum ss_level level,
	const char *message, const char *hint)
{
	const struct ss_problem p = { .line = at->line,
		.column = at->column,
		.level = level,
		.message = message,
		.hint = hint };

	a->fn(a->ctx, &p);
}

static void
report_unknown(const struct allow *a, const struct node *item)
{
	struct ss_text name = { item->text, item->len };
	const char *meant = near_word(name, names, WARN_COUNT);
	char message[160], hint[160];

	snprintf(message, sizeof(message), "allow: %.*s is no warning",
		(int)utf8_cut(item->text, item->len, 60), item->text);
	if (meant != NULL)
		snprintf(hint, sizeof(hint), "did you mean %s?", meant);
	else
		snprintf(hint, sizeof(hint),
			"check prints the name of a warning in brackets at "
			"the end of its line");
	report(a, item, SS_LEVEL_ERROR, message, hint);
}

static bool
add_item(struct allow *a, const struct node *item, const struct node *owner)
{
	struct acknowledged *new;
	size_t i = 0;

	while (i < WARN_COUNT &&
		!text_is((struct ss_text){ item->text, item->len }, names[i]))
		i++;
	if (i == WARN_COUNT || item->kind != NODE_STRING) {
		report_unknown(a, item);
		return true;
	}
	new = arena_alloc(a->arena, sizeof(*new));
	if (new == NULL)
		return false;
	*new = (struct acknowledged){
		.next = a->items, .item = item, .warning = (enum warning)i
	};
	if (owner != NULL) {
		new->first = (struct node_place){ owner->line, owner->column };
		new->last = last_place(owner);
	}
	a->items = new;
	return true;
}

/* The list under `allow` of a mapping; owner NULL: of the page. */
static bool
add_list(struct allow *a, const struct node *map, const struct node *owner)
{
	const struct node *list = node_member(map, "allow");
	bool ok = true;

	if (list == NULL)
		return true;
	if (list->kind != NODE_LIST) {
		report(a, list, SS_LEVEL_ERROR, "allow: is no list of warnings",
			"write allow: [shell]");
		return true;
	}
	for (const struct node *n = list->first; ok && n != NULL; n = n->next)
		ok = add_item(a, n, owner);
	return ok;
}

/* The list of a page's keys and those of its tools. */
static bool
add_lists(struct allow *a, const struct node *map)
{
	const struct node *tools = node_member(map, "tools");
	bool ok = add_list(a, map, NULL);

	if (tools == NULL || tools->kind != NODE_LIST)
		return ok;
	for (const struct node *n = tools->first; ok && n != NULL; n = n->next)
		ok = add_list(a, n, n);
	return ok;
}

struct allow *
allow_read(
	struct arena *arena, const struct frontmatter *f, lint_fn fn, void *ctx)
{
	/* A skill has our keys there. */
	const struct node *below =
		node_member(node_member(f->root, "metadata"), "statespace");
	struct allow *a = arena_alloc(arena, sizeof(*a));

	if (a == NULL)
		return NULL;
	*a = (struct allow){ .arena = arena, .fn = fn, .ctx = ctx };
	if (f->root == NULL)
		return a;
	return add_lists(a, f->root) && add_lists(a, below) ? a : NULL;
}

bool
allow_silences(struct allow *a, const struct ss_problem *p)
{
	const struct node_place at = { p->line, p->column };
	bool found = false;

	if (a == NULL || p->name == NULL)
		return false;
	for (struct acknowledged *i = a->items; i != NULL; i = i->next) {
		if (strcmp(names[i->warning], p->name) != 0 ||
			(i->first.line > 0 &&
				(is_before(at, i->first) ||
					is_before(i->last, at))))
			continue;
		i->used = found = true;
	}
	return found;
}

void
allow_report_unused(const struct allow *a, lint_fn fn, void *ctx)
{
	char message[64];

	for (const struct acknowledged *i = a->items; i != NULL; i = i->next) {
		const struct ss_problem p = { .line = i->item->line,
			.column = i->item->column,
			.level = SS_LEVEL_WARNING,
			.message = message,
			.hint = "remove it" };

		if (i->used || i->warning >= WARN_SITE)
			continue;
		snprintf(message, sizeof(message), "allow: %s silences nothing",
			names[i->warning]);
		fn(ctx, &p);
	}
}
