/* SPDX-License-Identifier: MIT */
#include "page/lint_component.h"

#include <stdio.h>

#include "page/fence.h"

static bool
goes_on(char c)
{
	return c == '_' || (c >= '0' && c <= '9') ||
		((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/*
 * Where a script has $NAME, ${NAME} or ${NAME:-...}; NULL: nowhere.  Quotes are
 * not read: awk '{ print $NAME }' counts as well.
 */
static const char *
find_use(struct ss_text script, const char *name)
{
	const char *at = script.data, *end = script.data + script.len;
	size_t len = strlen(name);

	while ((at = memchr(at, '$', (size_t)(end - at))) != NULL) {
		const char *word = at + 1 + (end - at > 1 && at[1] == '{');

		if ((size_t)(end - word) >= len &&
			memcmp(word, name, len) == 0 &&
			(word + len == end || !goes_on(word[len])))
			return at;
		at++;
	}
	return NULL;
}

static const char *
find_in_blocks(
	const struct frontmatter *f, struct ss_text text, const char *name)
{
	struct fence_scan scan = { text.data, text.len, f->body };
	const char *use = NULL;
	struct fence_block b;

	while (use == NULL && fence_next(&scan, &b))
		use = find_use(
			(struct ss_text){ text.data + b.script, b.script_len },
			name);
	return use;
}

void
lint_components(const struct frontmatter *f, struct ss_text text,
	const struct env_scope *scope, lint_fn fn, void *ctx)
{
	char message[256], hint[256];
	const char *name, *use;

	for (size_t i = 0; i < scope->server_count; i++) {
		unsigned line = 1, column = 1;

		name = scope->server[i].name;
		if (!env_is_allowed(name) ||
			name_list_has(&f->env, text_of(name)) ||
			(use = find_in_blocks(f, text, name)) == NULL)
			continue;
		for (const char *c = text.data; c < use; c++) {
			column = *c == '\n' ? 1 : column + 1;
			line += *c == '\n';
		}
		snprintf(message, sizeof(message),
			"a component uses $%.64s, which the page does not list: "
			"there it is empty",
			name);
		snprintf(hint, sizeof(hint), "list it: env: [%.64s]", name);
		fn(ctx,
			&(const struct ss_problem){ .line = line,
				.column = column,
				.level = SS_LEVEL_WARNING,
				.message = message,
				.hint = hint,
				.name = warning_name(WARN_ENV) });
	}
}
