/* SPDX-License-Identifier: MIT */
/*
 * The structure of a TOML 1.0 document: lines, keys, tables, lists.  Scalars
 * are in toml_scalar.c.
 *
 * Most errors in TOML are tables that are defined twice.  So every table keeps
 * how it was made, and the rules are in three functions:
 * step_header, step_dotted and define_table.
 */
#include "page/toml.h"

#include "page/toml_scalar.h"

/* Levels of tables and lists, names with dots included.  It bounds our own
 * recursion and that of functions that walk the tree. */
#define DEPTH_MAX 64

enum origin {
	BY_PATH,     /* on the way to a [header]: may be defined later */
	BY_HEADER,   /* [name], or an element of [[name]] */
	BY_DOTS,     /* a.b = 1 made a */
	BY_VALUE,    /* {...} or [...] as a value: complete */
	BY_ELEMENTS, /* the list that [[name]] adds to */
};

/* The node of every mapping and list is the first member of one of these. */
struct table {
	struct node node;
	enum origin origin;
	unsigned depth;
	struct slot *slots; /* members by name, NULL while there are few */
	size_t slot_count;  /* a power of two, at least twice the members */
};

struct slot {
	struct node *member;
	uint32_t hash;
};

static struct table *
table_of(struct node *n)
{
	return (struct table *)n;
}

/* -------------------------------------------------------------- members -- */

/* Up to so many members a walk along the siblings is fast enough. */
#define FEW_MEMBERS 16

/* FNV-1a.  An author who makes collisions slows down only the reading of
 * their own file. */
static uint32_t
hash_of(const struct node *key)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < key->len; i++)
		h = (h ^ (unsigned char)key->text[i]) * 16777619u;
	return h;
}

static bool
same_key(const struct node *a, const struct node *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static struct node *
find_member(const struct table *map, const struct node *key)
{
	uint32_t hash = hash_of(key);
	size_t mask = map->slot_count - 1;

	if (map->slots == NULL) {
		for (struct node *n = map->node.first; n != NULL; n = n->next)
			if (same_key(n->key, key))
				return n;
		return NULL;
	}
	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct node *n = map->slots[i].member;

		if (n == NULL)
			return NULL;
		if (map->slots[i].hash == hash && same_key(n->key, key))
			return n;
	}
}

static void
index_member(struct table *map, struct node *n)
{
	uint32_t hash = hash_of(n->key);
	size_t mask = map->slot_count - 1, i = hash & mask;

	while (map->slots[i].member != NULL)
		i = (i + 1) & mask;
	map->slots[i] = (struct slot){ n, hash };
}

/* The caller has checked that the key is new. */
static bool
add_member(struct toml *t, struct table *map, const struct node *key,
	struct node *value)
{
	size_t wanted = map->slot_count > 0 ? map->slot_count * 2
					    : (size_t)4 * FEW_MEMBERS;

	value->key = key;
	node_append(&map->node, value);
	if (map->node.count <= FEW_MEMBERS)
		return true;
	if (map->node.count <= map->slot_count / 2) {
		index_member(map, value);
		return true;
	}
	map->slots = arena_array(t->r->arena, wanted, sizeof(*map->slots));
	if (map->slots == NULL)
		return false;
	map->slot_count = wanted;
	for (struct node *n = map->node.first; n != NULL; n = n->next)
		index_member(map, n);
	return true;
}

/* A new mapping or list inside another, at a place in the text. */
static enum ss_err
new_table(struct toml *t, enum node_kind kind, enum origin origin,
	struct node_place where, const struct table *parent, struct table **out)
{
	struct table *map;

	if (parent->depth == DEPTH_MAX)
		return toml_refuse(t, where,
			"found more than %d tables and lists in each other, "
			"expected fewer",
			DEPTH_MAX);
	map = arena_alloc(t->r->arena, sizeof(*map));
	if (map == NULL)
		return error_memory(t->r->err);
	map->node.kind = kind;
	map->node.line = where.line;
	map->node.column = where.column;
	map->node.text = "";
	map->origin = origin;
	map->depth = parent->depth + 1;
	*out = map;
	return SS_OK;
}

/* The same, as the member of a mapping. */
static enum ss_err
new_member_table(struct toml *t, struct table *parent, const struct node *key,
	enum node_kind kind, enum origin origin, struct table **out)
{
	struct node_place where = { key->line, key->column };
	enum ss_err code = new_table(t, kind, origin, where, parent, out);

	if (code != SS_OK)
		return code;
	return add_member(t, parent, key, &(*out)->node)
		? SS_OK
		: error_memory(t->r->err);
}

static enum ss_err
refuse_again(struct toml *t, const struct node *key, const struct node *first)
{
	struct node_place where = { key->line, key->column };
	const char *what = "a name that is new here";

	if (first->kind != NODE_MAP && first->kind != NODE_LIST)
		what = "another name, since it is a value already";
	return toml_refuse(t, where,
		"found the name \"%.*s\" again (line %u has it), expected %s",
		(int)utf8_cut(key->text, key->len, 80), key->text, first->line,
		what);
}

/* --------------------------------------------------- blanks and comments -- */

static void
skip_blanks(struct toml *t)
{
	while (t->at < t->end && (*t->at == ' ' || *t->at == '\t'))
		t->at++;
}

static bool
cursor_at(const struct toml *t, char c)
{
	return t->at < t->end && *t->at == c;
}

static bool
cursor_take(struct toml *t, char c)
{
	if (!cursor_at(t, c))
		return false;
	t->at++;
	return true;
}

static void
skip_comment(struct toml *t)
{
	if (cursor_at(t, '#'))
		while (t->at < t->end && toml_newline(t->at, t->end) == 0)
			t->at++;
}

/* Skips blanks, line breaks and comments. */
static void
skip_empty(struct toml *t)
{
	size_t n;

	do {
		skip_blanks(t);
		skip_comment(t);
		n = toml_newline(t->at, t->end);
		t->at += n;
	} while (n > 0);
}

static enum ss_err
line_end(struct toml *t)
{
	size_t n;

	skip_blanks(t);
	skip_comment(t);
	n = toml_newline(t->at, t->end);
	if (n == 0 && t->at < t->end)
		return toml_expected(t, "the end of the line");
	t->at += n;
	return SS_OK;
}

/* ----------------------------------------------------------------- keys -- */

static enum ss_err
key_part(struct toml *t, struct node **out)
{
	struct node_place where = toml_here(t);
	const char *start = t->at;

	if (cursor_at(t, '"') || cursor_at(t, '\''))
		return toml_string(t, false, out);
	while (t->at < t->end && toml_is_bare(*t->at))
		t->at++;
	if (t->at == start)
		return toml_expected(t, "a name");
	*out = node_new(t->r->arena, NODE_STRING, where.line, where.column);
	if (*out == NULL)
		return error_memory(t->r->err);
	(*out)->plain = true;
	(*out)->len = (size_t)(t->at - start);
	(*out)->text = arena_copy(t->r->arena, start, (*out)->len);
	return (*out)->text != NULL ? SS_OK : error_memory(t->r->err);
}

/* One part of [a.b.c]: into a table, or the newest element of a list of
 * tables, but not into a value. */
static enum ss_err
step_header(struct toml *t, struct table **map, const struct node *key)
{
	struct node *found = find_member(*map, key);

	if (found == NULL)
		return new_member_table(t, *map, key, NODE_MAP, BY_PATH, map);
	if ((found->kind != NODE_MAP && found->kind != NODE_LIST) ||
		table_of(found)->origin == BY_VALUE)
		return refuse_again(t, key, found);
	*map = table_of(found->kind == NODE_LIST ? found->last : found);
	return SS_OK;
}

/* One part of a.b.c = 1: only into a table that such lines made, or that has
 * no line of its own yet. */
static enum ss_err
step_dotted(struct toml *t, struct table **map, const struct node *key)
{
	struct node *found = find_member(*map, key);

	if (found == NULL)
		return new_member_table(t, *map, key, NODE_MAP, BY_DOTS, map);
	if (found->kind != NODE_MAP ||
		(table_of(found)->origin != BY_DOTS &&
			table_of(found)->origin != BY_PATH))
		return refuse_again(t, key, found);
	*map = table_of(found);
	(*map)->origin = BY_DOTS;
	return SS_OK;
}

/* Walks to the table of the last part; the caller handles that part. */
static enum ss_err
key_path(struct toml *t, struct table **map, struct node **last,
	enum ss_err (*step)(
		struct toml *, struct table **, const struct node *))
{
	enum ss_err code;

	for (;;) {
		skip_blanks(t);
		if ((code = key_part(t, last)) != SS_OK)
			return code;
		skip_blanks(t);
		if (!cursor_take(t, '.'))
			return SS_OK;
		if ((code = step(t, map, *last)) != SS_OK)
			return code;
	}
}

/* --------------------------------------------------------------- values -- */

static enum ss_err
parse_value(struct toml *t, struct table *parent, struct node **out);

/* name = value, into a table. */
static enum ss_err
parse_pair(struct toml *t, struct table *map)
{
	struct node *key = NULL, *v = NULL, *found;
	enum ss_err code = key_path(t, &map, &key, step_dotted);

	if (code != SS_OK)
		return code;
	if (!cursor_take(t, '=')) {
		toml_expected(t, "\"=\" after the name");
		if (cursor_at(t, ':'))
			error_hint(t->r->err,
				"write name = value, not name: value");
		return t->code;
	}
	if ((found = find_member(map, key)) != NULL)
		return refuse_again(t, key, found);
	skip_blanks(t);
	if ((code = parse_value(t, map, &v)) != SS_OK)
		return code;
	return add_member(t, map, key, v) ? SS_OK : error_memory(t->r->err);
}

static enum ss_err
parse_list(struct toml *t, struct table *parent, struct node **out)
{
	struct node_place where = toml_here(t);
	struct table *l = NULL;
	struct node *item = NULL;
	enum ss_err code = new_table(t, NODE_LIST, BY_VALUE, where, parent, &l);

	if (code != SS_OK)
		return code;
	t->at++;
	for (;;) {
		skip_empty(t);
		if (cursor_take(t, ']'))
			break;
		if (l->node.count > 0 && !cursor_take(t, ','))
			return toml_expected(t, "\",\" or \"]\"");
		skip_empty(t);
		if (l->node.count > 0 && cursor_take(t, ']'))
			break;
		if ((code = parse_value(t, l, &item)) != SS_OK)
			return code;
		node_append(&l->node, item);
	}
	*out = &l->node;
	return SS_OK;
}

static enum ss_err
inline_table(struct toml *t, struct table *parent, struct node **out)
{
	struct node_place where = toml_here(t);
	struct table *map = NULL;
	enum ss_err code =
		new_table(t, NODE_MAP, BY_VALUE, where, parent, &map);

	if (code != SS_OK)
		return code;
	*out = &map->node;
	t->at++;
	skip_blanks(t);
	if (cursor_take(t, '}'))
		return SS_OK;
	do {
		if ((code = parse_pair(t, map)) != SS_OK)
			return code;
		skip_blanks(t);
	} while (cursor_take(t, ','));
	if (cursor_take(t, '}'))
		return SS_OK;
	toml_expected(t, "\",\" or \"}\"");
	if (toml_newline(t->at, t->end) > 0)
		error_hint(t->r->err,
			"{...} stays on one line; a [table] may take many");
	return t->code;
}

static enum ss_err
parse_value(struct toml *t, struct table *parent, struct node **out)
{
	if (cursor_at(t, '"') || cursor_at(t, '\''))
		return toml_string(t, true, out);
	if (cursor_at(t, '['))
		return parse_list(t, parent, out);
	if (cursor_at(t, '{'))
		return inline_table(t, parent, out);
	return toml_bare_value(t, out);
}

/* -------------------------------------------------------------- headers -- */

/* [name] */
static enum ss_err
define_table(struct toml *t, struct table **map, const struct node *key)
{
	struct node *found = find_member(*map, key);

	if (found == NULL)
		return new_member_table(t, *map, key, NODE_MAP, BY_HEADER, map);
	if (found->kind != NODE_MAP || table_of(found)->origin != BY_PATH)
		return refuse_again(t, key, found);
	*map = table_of(found);
	(*map)->origin = BY_HEADER;
	return SS_OK;
}

/* [[name]] */
static enum ss_err
define_element(struct toml *t, struct table **map, const struct node *key)
{
	struct node *found = find_member(*map, key);
	struct node_place where = { key->line, key->column };
	struct table *l = NULL;
	enum ss_err code = SS_OK;

	if (found == NULL)
		code = new_member_table(
			t, *map, key, NODE_LIST, BY_ELEMENTS, &l);
	else if (found->kind == NODE_LIST &&
		table_of(found)->origin == BY_ELEMENTS)
		l = table_of(found);
	else
		code = refuse_again(t, key, found);
	if (code != SS_OK)
		return code;
	code = new_table(t, NODE_MAP, BY_HEADER, where, l, map);
	if (code == SS_OK)
		node_append(&l->node, &(*map)->node);
	return code;
}

/* [a.b] or [[a.b]]; *map is the root before and the table after. */
static enum ss_err
parse_header(struct toml *t, struct table **map)
{
	struct node *key = NULL;
	bool element;
	enum ss_err code;

	t->at++;
	element = cursor_take(t, '[');
	if ((code = key_path(t, map, &key, step_header)) != SS_OK)
		return code;
	if (!cursor_take(t, ']'))
		return toml_expected(t, "\".\" or \"]\" after the name");
	if (element && !cursor_take(t, ']'))
		return toml_expected(t, "a second \"]\"");
	return element ? define_element(t, map, key)
		       : define_table(t, map, key);
}

static enum ss_err
parse_document(struct toml *t, struct table *root)
{
	struct table *current = root;
	enum ss_err code;

	for (skip_empty(t); t->at < t->end; skip_empty(t)) {
		if (cursor_at(t, '[')) {
			current = root;
			code = parse_header(t, &current);
		} else {
			code = parse_pair(t, current);
		}
		if (code == SS_OK)
			code = line_end(t);
		if (code != SS_OK)
			return code;
	}
	return SS_OK;
}

enum ss_err
toml_parse(const struct reading *r, struct ss_text text, unsigned line,
	enum ss_err code, struct node **out)
{
	const bool marked = text_starts(text, "\xef\xbb\xbf");
	const char *start = text.data + (marked ? 3 : 0); /* byte order mark */
	struct toml t = {
		.r = r,
		.at = start,
		.end = text.data + text.len,
		.mark = start,
		.mark_place = { line, 1 },
		.code = code,
	};
	struct table *root = arena_alloc(r->arena, sizeof(*root));
	enum ss_err result;

	*out = NULL;
	if (root == NULL)
		return error_memory(r->err);
	root->node.kind = NODE_MAP;
	root->node.line = line;
	root->node.column = 1;
	root->node.text = "";
	root->origin = BY_HEADER;
	if ((result = toml_check_text(&t)) != SS_OK)
		return result;
	if ((result = parse_document(&t, root)) != SS_OK)
		return result;
	*out = &root->node;
	return SS_OK;
}
