/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as TOML: no crash; what is accepted can be walked, no deeper than
 * promised, and every node is inside the text; what is refused is refused
 * at a place inside the text.
 */
#include "fuzz.h"
#include "page/toml.h"

#define DEPTH 64

/* The column right behind the last character is inside. */
static void
inside(const char *text, size_t size, unsigned line, unsigned column)
{
	unsigned l = 1, characters = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n')
			l++;
		else if (l == line && ((unsigned char)text[i] & 0xc0) != 0x80)
			characters++;
	}
	promise(line >= 1 && line <= l);
	promise(column >= 1 && column <= characters + 1);
}

static void
walk(const struct node *n, const char *text, size_t size, unsigned depth)
{
	size_t count = 0;

	promise(depth <= DEPTH);
	inside(text, size, n->line, n->column);
	promise(n->text[n->len] == '\0');
	promise(utf8_valid(n->text, n->len));
	for (const struct node *c = n->first; c != NULL; c = c->next) {
		count++;
		promise((n->kind == NODE_MAP) == (c->key != NULL));
		if (c->key != NULL)
			inside(text, size, c->key->line, c->key->column);
		walk(c, text, size, depth + (c->first != NULL));
	}
	promise(count == n->count);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { .limit = (size_t)16 << 20 };
	struct node_place place = { 0, 0 };
	const struct reading r = {
		.arena = &arena, .place = &place, .err = NULL
	};
	struct node *root = NULL;
	const char *text = (const char *)data;
	enum ss_err code = toml_parse(
		&r, (struct ss_text){ text, size }, 1, SS_CONFIG, &root);

	promise((code == SS_OK) == (root != NULL));
	if (code == SS_OK)
		walk(root, text, size, 0);
	else if (code == SS_CONFIG)
		inside(text, size, place.line, place.column);
	arena_release(&arena);
	return 0;
}
