/* SPDX-License-Identifier: MIT */
/*
 * Composes nodes from the events of libyaml's parser (YAML 1.1): libyaml's own
 * composer does not bound what aliases expand to.  An alias shares its anchor's
 * children, so it costs one node; it counts as the nodes that a walk of the
 * tree visits.
 */
#include "page/yaml.h"

#include <stdio.h>
#include <yaml.h>

#define DEPTH_MAX 64     /* of the tree, aliases expanded */
#define NODES_MAX 200000 /* of the tree, aliases expanded */
#define ANCHORS_MAX 1000 /* searched for every alias */
#define ALIASES_MAX 10000

struct anchor {
	struct anchor *older;
	const char *name;
	const struct node *node;
	size_t weight;   /* nodes in it; while open: total before it */
	unsigned height; /* levels in it */
	bool open;       /* its collection has not ended */
};

struct level {
	struct node *node;
	const struct node *key; /* of a map: read, its value is next */
	struct anchor *anchor;
	unsigned height; /* of the highest child */
};

struct composer {
	const struct reading *r;
	yaml_parser_t parser;
	struct ss_text text;
	unsigned line;
	enum ss_err code;
	struct node *root;
	struct anchor *anchors; /* newest first: a later one hides it */
	size_t anchor_count, alias_count, total;
	unsigned depth;
	struct level levels[DEPTH_MAX];
};

/* ---------------------------------------------------------------- errors */

static enum ss_err
refuse_at(struct composer *c, yaml_mark_t mark, const char *found,
	const char *expected, const char *hint)
{
	unsigned line = c->line + (unsigned)mark.line;
	unsigned column = 1 + (unsigned)mark.column;

	error_set(c->r->err, c->code,
		"line %u, column %u: found %s, expected %s", line, column,
		found, expected);
	if (hint != NULL)
		error_hint(c->r->err, "%s", hint);
	if (c->r->place != NULL)
		*c->r->place = (struct node_place){ line, column };
	return c->code;
}

/* The byte at a mark; libyaml counts characters.  NULL: the end. */
static const char *
at_mark(const struct composer *c, yaml_mark_t mark)
{
	size_t i = 0, n;

	for (size_t left = mark.index; left > 0 && i < c->text.len; left--)
		i += (n = utf8_sequence(c->text.data + i, c->text.len - i)) ? n
									    : 1;
	return i < c->text.len ? c->text.data + i : NULL;
}

static void
describe_at(const struct composer *c, yaml_mark_t mark, char *out, size_t cap)
{
	const char *at = at_mark(c, mark);
	size_t n;

	if (at == NULL)
		snprintf(out, cap, "the end of the frontmatter");
	else if (*at == '\n' || *at == '\r')
		snprintf(out, cap, "the end of the line");
	else if (*at == '\t')
		snprintf(out, cap, "a tab");
	else {
		n = utf8_sequence(
			at, c->text.len - (size_t)(at - c->text.data));
		snprintf(out, cap, "'%.*s'", (int)n, at);
	}
}

/* libyaml's messages, and ours for them. */
static const struct {
	const char *problem;
	const char *expected;
	const char *hint;
} problems[] = {
	{ "found unknown escape character",
		"an escape that YAML knows after the backslash",
		"in double quotes a backslash begins an escape: put the text "
		"in single quotes, '\\.txt$'" },
	{ "did not find expected hexdecimal number",
		"hexadecimal digits after the escape",
		"in double quotes a backslash begins an escape: put the text "
		"in single quotes" },
	{ "found invalid Unicode character escape code", "a character's number",
		"in double quotes a backslash begins an escape: put the text "
		"in single quotes" },
	{ "did not find expected ',' or ']'", "',' or ']'",
		"in a list [ ] { } and , end unquoted text: put a regex or "
		"other text that holds them in single quotes" },
	{ "did not find expected ',' or '}'", "',' or '}'",
		"inside { } the characters [ ] { } and , end unquoted text: "
		"put the regex or text in single quotes, { regex: '^[a-z]+$' "
		"}" },
	{ "did not find expected key", "a key, or less indentation",
		"lines of one mapping begin at the same column; text after a "
		"closing quote or bracket is not allowed" },
	{ "did not find expected '-' indicator", "'-' for the next item",
		"items of one list begin at the same column, each with a "
		"dash and a space" },
	{ "did not find expected node content", "a value",
		"quote text that begins with a character of YAML's own" },
	{ "could not find expected ':'", "':' after the key",
		"write key: value; quote text that goes on over a line" },
	{ "mapping values are not allowed in this context",
		"no second ': ' in this value",
		"quote text that holds a colon and a space; check the "
		"indentation" },
	{ "mapping keys are not allowed in this context", "a value",
		"quote text that begins with '?'" },
	{ "block sequence entries are not allowed in this context",
		"a value on this line",
		"begin the list on a line of its own; quote a '-' that is "
		"text" },
	{ "found character that cannot start any token", "a value",
		"quote text that begins with %, @, ` or |" },
	{ "found a tab character that violates indentation", "spaces",
		"YAML indents with spaces only: replace the tabs" },
	{ "found a tab character where an indentation space is expected",
		"spaces", "YAML indents with spaces only: replace the tabs" },
	{ "did not find expected alphabetic or numeric character",
		"the name of an anchor or alias",
		"* and & at the start of a word are YAML's: quote the word, "
		"'*.md'" },
	{ "found unexpected end of stream", "a closing quote",
		"the quote is never closed" },
	{ "found unexpected document indicator", "a closing quote",
		"the quote is never closed" },
	{ "did not find expected <document start>", "one document",
		"frontmatter is one YAML document: remove what follows "
		"it" },
	{ "found undefined tag handle", "a tag that is known",
		"! at the start of a word is a YAML tag: quote the word" },
	{ "did not find expected whitespace or line break",
		"a blank after the tag",
		"! at the start of a word is a YAML tag: quote the word" },
	{ "did not find expected tag URI", "a tag",
		"! at the start of a word is a YAML tag: quote the word" },
	{ "found unexpected ':'", "a value", "quote text that holds a colon" },
	{ "did not find expected comment or line break",
		"the end of the line after | or >",
		"block text begins on the next line" },
};

/* Refuses bytes that are not YAML: libyaml gives a byte offset. */
static enum ss_err
refuse_byte(struct composer *c)
{
	size_t offset = c->parser.problem_offset;
	yaml_mark_t mark = { 0, 0, 0 };
	size_t n;

	for (size_t i = 0; i < offset && i < c->text.len; i += n) {
		n = utf8_sequence(c->text.data + i, c->text.len - i);
		n = n != 0 ? n : 1;
		mark.column = c->text.data[i] == '\n' ? 0 : mark.column + 1;
		mark.line += c->text.data[i] == '\n';
	}
	if (offset < c->text.len && c->text.data[offset] == '\0')
		return refuse_at(
			c, mark, "a NUL byte", "text", "remove the byte");
	if (offset < c->text.len &&
		utf8_sequence(c->text.data + offset, c->text.len - offset))
		return refuse_at(c, mark, "a control character", "text",
			"remove it, or write it as an escape in double "
			"quotes");
	return refuse_at(c, mark, "bytes that are not UTF-8", "UTF-8 text",
		"save the file as UTF-8");
}

/* Does a tab indent the line in which libyaml failed? */
static bool
is_tab_indented(const struct composer *c, yaml_mark_t mark)
{
	const char *at = at_mark(c, mark);

	if (at == NULL)
		at = c->text.data + c->text.len;
	while (at > c->text.data && at[-1] != '\n')
		at--;
	while (at < c->text.data + c->text.len && *at == ' ')
		at++;
	return at < c->text.data + c->text.len && *at == '\t';
}

/* A line that begins with [ below one that does: their dashes are missing. */
static bool
is_list_after_list(const struct composer *c, yaml_mark_t mark)
{
	const char *at = at_mark(c, mark), *line;

	if (at == NULL || *at != '[' || at == c->text.data)
		return false;
	for (line = at - 1; line > c->text.data && *line == ' '; line--)
		;
	if (*line != '\n')
		return false;
	while (line > c->text.data && line[-1] != '\n')
		line--;
	line += strspn(line, " ");
	return *line == '[';
}

static enum ss_err
refuse_syntax(struct composer *c)
{
	const yaml_parser_t *p = &c->parser;
	const char *expected = "YAML", *hint = NULL;
	char found[64];

	if (p->error == YAML_MEMORY_ERROR)
		return error_memory(c->r->err);
	if (p->error == YAML_READER_ERROR)
		return refuse_byte(c);
	describe_at(c, p->problem_mark, found, sizeof(found));
	for (size_t i = 0; i < ARRAY_LEN(problems); i++)
		if (p->problem != NULL &&
			strcmp(p->problem, problems[i].problem) == 0) {
			expected = problems[i].expected;
			hint = problems[i].hint;
		}
	if (strcmp(found, "':'") == 0 && expected[0] == '\'')
		hint = "quote text that holds a colon and a blank: 'a: b'";
	if (is_list_after_list(c, p->problem_mark)) {
		expected = "a dash before each list";
		hint = "begin each of them with a dash: - [ls]";
	}
	if (is_tab_indented(c, p->problem_mark)) {
		expected = "spaces";
		hint = "YAML indents with spaces only: replace the tabs";
	}
	refuse_at(c, p->problem_mark, found, expected,
		hint != NULL ? hint : p->problem);
	return c->code;
}

/* --------------------------------------------------------------- scalars */

/*
 * Tags of YAML that mean what we do anyway.  `!` alone and !!str make a text of
 * a scalar that would be null.
 */
static bool
is_known_tag(const char *tag, const char *const *known)
{
	static const char prefix[] = "tag:yaml.org,2002:";

	if (tag == NULL || strcmp(tag, "!") == 0)
		return true;
	if (strncmp(tag, prefix, sizeof(prefix) - 1) != 0)
		return false;
	for (; *known != NULL; known++)
		if (strcmp(tag + sizeof(prefix) - 1, *known) == 0)
			return true;
	return false;
}

static bool
is_null(const char *text, size_t len)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_is((struct ss_text){ text, len }, words[i]))
			return true;
	return false;
}

static enum ss_err
new_node(struct composer *c, enum node_kind kind, yaml_mark_t mark,
	struct node **out)
{
	if (++c->total > NODES_MAX)
		return refuse_at(c, mark, "too many values",
			"at most 200000, aliases expanded", NULL);
	*out = node_new(c->r->arena, kind, c->line + (unsigned)mark.line,
		1 + (unsigned)mark.column);
	return *out != NULL ? SS_OK : error_memory(c->r->err);
}

static enum ss_err
new_scalar(struct composer *c, const yaml_event_t *event, struct node **out)
{
	static const char *const tags[] = { "str", "int", "float", "bool",
		"null", "timestamp", NULL };
	const char *text = (const char *)event->data.scalar.value;
	const char *tag = (const char *)event->data.scalar.tag;
	size_t len = event->data.scalar.length;
	enum ss_err e;

	e = new_node(c, NODE_STRING, event->start_mark, out);
	if (e != SS_OK)
		return e;
	(*out)->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	(*out)->text = arena_copy(c->r->arena, text, len);
	(*out)->len = len;
	(*out)->tagged = !is_known_tag(tag, tags);
	if ((*out)->text == NULL)
		return error_memory(c->r->err);
	if (tag != NULL ? strcmp(tag, YAML_NULL_TAG) == 0
			: (*out)->plain && is_null(text, len))
		(*out)->kind = NODE_NULL;
	return SS_OK;
}

/* ----------------------------------------------------------- composition */

/* Adds a value, complete or just opened, to the innermost level. */
static void
place_node(struct composer *c, struct node *n)
{
	struct level *top = c->depth > 0 ? &c->levels[c->depth - 1] : NULL;

	if (top == NULL)
		c->root = n;
	else if (top->node->kind == NODE_MAP && top->key == NULL)
		top->key = n;
	else {
		n->key = top->key;
		top->key = NULL;
		node_append(top->node, n);
	}
}

/* A value of that many levels ended below the innermost level. */
static void
raise_height(struct composer *c, unsigned height)
{
	struct level *top = c->depth > 0 ? &c->levels[c->depth - 1] : NULL;

	if (top != NULL && top->height < height)
		top->height = height;
}

/* Remembers an anchor, *out NULL when the node has none. */
static enum ss_err
add_anchor(struct composer *c, const yaml_char_t *name, yaml_mark_t mark,
	const struct node *n, struct anchor **out)
{
	struct anchor *a;

	*out = NULL;
	if (name == NULL)
		return SS_OK;
	if (++c->anchor_count > ANCHORS_MAX)
		return refuse_at(
			c, mark, "too many anchors", "at most 1000", NULL);
	a = arena_alloc(c->r->arena, sizeof(*a));
	if (a == NULL)
		return error_memory(c->r->err);
	a->name = arena_copy(
		c->r->arena, (const char *)name, strlen((const char *)name));
	if (a->name == NULL)
		return error_memory(c->r->err);
	a->node = n;
	a->weight = a->height = 1;
	a->older = c->anchors;
	c->anchors = *out = a;
	return SS_OK;
}

static enum ss_err
on_scalar(struct composer *c, const yaml_event_t *event)
{
	struct anchor *anchor;
	struct node *n;
	enum ss_err e;

	if ((e = new_scalar(c, event, &n)) != SS_OK)
		return e;
	place_node(c, n);
	raise_height(c, 1);
	return add_anchor(
		c, event->data.scalar.anchor, event->start_mark, n, &anchor);
}

static enum ss_err
on_start(struct composer *c, const yaml_event_t *event)
{
	static const char *const list_tags[] = { "seq", NULL };
	static const char *const map_tags[] = { "map", NULL };
	bool list = event->type == YAML_SEQUENCE_START_EVENT;
	const yaml_char_t *name = list ? event->data.sequence_start.anchor
				       : event->data.mapping_start.anchor;
	const yaml_char_t *tag = list ? event->data.sequence_start.tag
				      : event->data.mapping_start.tag;
	struct level *level;
	struct node *n;
	enum ss_err e;

	if (c->depth == DEPTH_MAX)
		return refuse_at(c, event->start_mark,
			"a value nested too deep", "at most 64 levels", NULL);
	e = new_node(c, list ? NODE_LIST : NODE_MAP, event->start_mark, &n);
	if (e != SS_OK)
		return e;
	n->tagged =
		!is_known_tag((const char *)tag, list ? list_tags : map_tags);
	place_node(c, n);
	level = &c->levels[c->depth++];
	*level = (struct level){ .node = n };
	e = add_anchor(c, name, event->start_mark, n, &level->anchor);
	if (e == SS_OK && level->anchor != NULL) {
		level->anchor->open = true;
		level->anchor->weight = c->total - 1;
	}
	return e;
}

static enum ss_err
on_end(struct composer *c)
{
	const struct level *level = &c->levels[--c->depth];

	if (level->anchor != NULL) {
		level->anchor->open = false;
		level->anchor->weight = c->total - level->anchor->weight;
		level->anchor->height = level->height + 1;
	}
	raise_height(c, level->height + 1);
	return SS_OK;
}

/* SS_OK when the anchor may be used here once more. */
static enum ss_err
check_alias(struct composer *c, yaml_mark_t mark, const struct anchor *a)
{
	if (a == NULL)
		return refuse_at(c, mark, "an alias",
			"one whose anchor is "
			"before it",
			"* at the start of a word is a YAML "
			"alias: quote the word if it is text");
	if (a->open)
		return refuse_at(c, mark, "an alias inside its own anchor",
			"an anchor that has ended", NULL);
	if (c->depth + a->height > DEPTH_MAX)
		return refuse_at(c, mark, "aliases nested too deep",
			"at most 64 levels", NULL);
	if (a->weight > NODES_MAX - c->total || ++c->alias_count > ALIASES_MAX)
		return refuse_at(c, mark, "aliases that expand to too much",
			"at most 200000 values and 10000 aliases", NULL);
	return SS_OK;
}

static enum ss_err
on_alias(struct composer *c, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *a = c->anchors;
	struct node *n, kept;
	enum ss_err e;

	while (a != NULL && strcmp(a->name, name) != 0)
		a = a->older;
	if ((e = check_alias(c, event->start_mark, a)) != SS_OK ||
		(e = new_node(c, a->node->kind, event->start_mark, &n)) !=
			SS_OK)
		return e;
	c->total += a->weight - 1;
	kept = *n;
	*n = *a->node;
	n->line = kept.line;
	n->column = kept.column;
	n->key = NULL;
	n->next = NULL;
	place_node(c, n);
	raise_height(c, a->height);
	return SS_OK;
}

static enum ss_err
on_document(struct composer *c, const yaml_event_t *event)
{
	if (c->root == NULL)
		return SS_OK;
	return refuse_at(c, event->start_mark, "a second document",
		"one document",
		"frontmatter is one YAML document: remove what follows "
		"it");
}

static enum ss_err
on_event(struct composer *c, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT: return on_document(c, event);
	case YAML_ALIAS_EVENT: return on_alias(c, event);
	case YAML_SCALAR_EVENT: return on_scalar(c, event);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT: return on_start(c, event);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT: return on_end(c);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT: return SS_OK;
	}
	return SS_OK;
}

static enum ss_err
compose(struct composer *c)
{
	yaml_event_t event;
	bool more = true;
	enum ss_err e = SS_OK;

	while (e == SS_OK && more) {
		if (!yaml_parser_parse(&c->parser, &event))
			return refuse_syntax(c);
		more = event.type != YAML_STREAM_END_EVENT;
		e = on_event(c, &event);
		yaml_event_delete(&event);
	}
	return e;
}

enum ss_err
yaml_parse(const struct reading *r, struct ss_text text, unsigned line,
	enum ss_err code, struct node **out)
{
	struct composer c = {
		.r = r, .text = text, .line = line, .code = code
	};
	enum ss_err e;

	*out = NULL;
	if (!yaml_parser_initialize(&c.parser))
		return error_memory(r->err);
	yaml_parser_set_encoding(&c.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&c.parser, (const unsigned char *)text.data, text.len);
	e = compose(&c);
	yaml_parser_delete(&c.parser);
	if (e == SS_OK)
		*out = c.root;
	return e;
}
