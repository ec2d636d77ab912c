/* SPDX-License-Identifier: MIT */
#include "page/node.h"

struct node *
node_new(struct arena *arena, enum node_kind kind, unsigned line,
	unsigned column)
{
	struct node *n = arena_alloc(arena, sizeof(*n));

	if (n == NULL)
		return NULL;
	n->kind = kind;
	n->line = line;
	n->column = column;
	n->text = "";
	return n;
}

void
node_append(struct node *parent, struct node *child)
{
	if (parent->last != NULL)
		parent->last->next = child;
	else
		parent->first = child;
	parent->last = child;
	parent->count++;
}

struct node *
node_member(const struct node *map, const char *key)
{
	if (map == NULL || map->kind != NODE_MAP)
		return NULL;
	for (struct node *n = map->first; n != NULL; n = n->next)
		if (n->key != NULL && n->key->len == strlen(key) &&
			memcmp(n->key->text, key, n->key->len) == 0)
			return n;
	return NULL;
}

const char *
node_kind_name(const struct node *n)
{
	switch (n->kind) {
	case NODE_NULL: return "an empty value";
	case NODE_STRING: return "a string";
	case NODE_INTEGER: return "an integer";
	case NODE_FLOAT: return "a float";
	case NODE_BOOL: return "a boolean";
	case NODE_DATETIME:
	case NODE_LOCAL_DATETIME:
	case NODE_LOCAL_DATE:
	case NODE_LOCAL_TIME: return "a date or time";
	case NODE_LIST: return "a list";
	case NODE_MAP: return "a mapping";
	}
	return "a value";
}
