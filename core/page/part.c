/* SPDX-License-Identifier: MIT */
#include "page/part.h"

#include "page/template.h"

#define PART_EXPECTED                                                          \
	"a part: text, {}, {name}, { regex: '...' }, { literal: '...' }"

/* --------------------------------------------------------------- reading */

/* The piece of a PART_ARGUMENT. */
static enum ss_err
make_argument(const struct reading *r, struct part *out)
{
	out->kind = PART_ARGUMENT;
	out->pieces = arena_alloc(r->arena, sizeof(*out->pieces));
	if (out->pieces == NULL)
		return error_memory(r->err);
	out->pieces->argument =
		arena_alloc(r->arena, sizeof(*out->pieces->argument));
	if (out->pieces->argument == NULL)
		return error_memory(r->err);
	out->piece_count = 1;
	out->pieces->argument->line = out->line;
	out->pieces->argument->column = out->column;
	return SS_OK;
}

/* Keys of a part cannot name a placeholder in braces alone. */
static bool
is_reserved(struct ss_text t)
{
	return text_is(t, "regex") || text_is(t, "literal") ||
		text_is(t, "name") || text_is(t, "description");
}

static enum ss_err
refuse_reserved(
	const struct reading *r, const struct node *n, struct ss_text name)
{
	return value_refuse_found(r, n, "a reserved placeholder name",
		"another name",
		"write { %.*s: ... } for that key, { literal: \"{%.*s}\" } "
		"for text, {} for any word",
		(int)name.len, name.data, (int)name.len, name.data);
}

static enum ss_err
set_name(const struct reading *r, const struct node *n, struct ss_text name,
	struct part *out)
{
	struct argument *a = out->pieces->argument;

	if (!argument_is_name(name))
		return value_refuse(r, n,
			"a placeholder's name: letters, digits, _",
			"a name begins with a letter and holds no blank");
	a->name = arena_copy(r->arena, name.data, name.len);
	return a->name != NULL ? SS_OK : error_memory(r->err);
}

/* {} or {name}; an empty name gives none. */
static enum ss_err
make_named(const struct reading *r, const struct node *n, struct ss_text name,
	struct part *out)
{
	enum ss_err e = make_argument(r, out);

	if (e != SS_OK || name.len == 0)
		return e;
	return is_reserved(name) ? refuse_reserved(r, n, name)
				 : set_name(r, n, name, out);
}

static enum ss_err
parse_word(const struct reading *r, const struct node *n, struct part *out)
{
	struct ss_text name;
	enum ss_err e;

	if ((e = value_word(r, n, PART_EXPECTED, &out->text)) != SS_OK)
		return e;
	if (n->kind != NODE_STRING || out->text.len < 2 ||
		!text_starts(out->text, "{") || !text_ends(out->text, "}"))
		return SS_OK;
	name = (struct ss_text){ out->text.data + 1, out->text.len - 2 };
	if (name.len == 0 || argument_is_name(name))
		return make_named(r, n, name, out);
	return SS_OK;
}

/* Key `word` with no value: {word}. */
static bool
is_bare_name(const struct node *map)
{
	const struct node *n = map->first;

	return map->count == 1 && n->kind == NODE_NULL && n->len == 0 &&
		!n->tagged && n->key->kind == NODE_STRING && !n->key->tagged;
}

static enum ss_err
parse_literal(const struct reading *r, const struct node *map, struct part *out)
{
	static const char *const keys[] = { "literal" };
	enum ss_err e;

	e = value_keys(r, map, keys, 1, "literal alone in this part");
	if (e != SS_OK)
		return e;
	return value_word(r, map->first, "text for literal", &out->text);
}

/* { regex: R }, { name: N, type: integer }, ... */
static enum ss_err
parse_argument(
	const struct reading *r, const struct node *map, struct part *out)
{
	const struct node *n = node_member(map, "name");
	struct ss_text name;
	enum ss_err e = make_argument(r, out);
	struct argument *a;

	if (e != SS_OK ||
		(e = argument_parse(r, map, false, out->pieces->argument)) !=
			SS_OK)
		return e;
	a = out->pieces->argument;
	out->text = a->regex;
	out->optional = a->optional || a->initial != NULL;
	if (n != NULL) {
		e = value_word(r, n, "a placeholder's name", &name);
		return e == SS_OK ? set_name(r, n, name, out) : e;
	}
	if (a->regex.data == NULL)
		return value_refuse_found(r, map, "a part without a name",
			"name or regex with description",
			"write { name: word, description: ... }");
	return SS_OK;
}

static enum ss_err
parse_map(const struct reading *r, const struct node *map, struct part *out)
{
	const struct node *first = map->first;

	if (first == NULL)
		return make_named(r, map, TEXT(""), out);
	if (is_bare_name(map))
		return make_named(r, first->key,
			(struct ss_text){ first->key->text, first->key->len },
			out);
	if (node_member(map, "literal") != NULL)
		return parse_literal(r, map, out);
	if (node_member(map, "text") != NULL)
		return template_parse(r, map, out);
	return parse_argument(r, map, out);
}

enum ss_err
part_parse(const struct reading *r, const struct node *n, struct part *out)
{
	*out = (struct part){ .line = n->line, .column = n->column };
	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_LIST)
		return value_refuse(r, n, PART_EXPECTED,
			"a tool is one flat list of parts; quote text that "
			"begins with [");
	if (n->kind == NODE_MAP)
		return parse_map(r, n, out);
	return parse_word(r, n, out);
}

void
part_release(struct part *p)
{
	for (size_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].argument != NULL)
			argument_release(p->pieces[i].argument);
	p->piece_count = 0;
}

const struct argument *
part_argument(const struct part *p)
{
	return p->kind == PART_ARGUMENT ? p->pieces->argument : NULL;
}

bool
part_takes_any(const struct part *p)
{
	const struct argument *a = part_argument(p);

	return a != NULL && a->type == ARGUMENT_WORD && a->regex.data == NULL;
}

/* part_outline shows longer words as "…". */
#define OUTLINE_WORD_MAX 40

bool
part_is_long(const struct part *p)
{
	return p->kind != PART_ARGUMENT &&
		(p->text.len > OUTLINE_WORD_MAX ||
			memchr(p->text.data, '\n', p->text.len) != NULL);
}

/* -------------------------------------------------------------- printing */

/* Does the text mean the same without quotes in a YAML flow list? */
static bool
is_plain(struct ss_text t)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./+$=@%-";

	if (t.len == 0 || text_is(t, "null") || text_is(t, "Null") ||
		text_is(t, "NULL") || strchr("%@=", t.data[0]) != NULL ||
		text_is(t, "-"))
		return false;
	for (size_t i = 0; i < t.len; i++)
		if (t.data[i] == '\0' || strchr(safe, t.data[i]) == NULL)
			return false;
	return true;
}

/*
 * Length of the character at i when it needs an escape, else 0: controls, and
 * what YAML 1.1 reads as a line break or calls not printable.
 */
static size_t
needs_escape(struct ss_text t, size_t i, unsigned *codepoint)
{
	const unsigned char *s = (const unsigned char *)t.data + i;
	size_t n = utf8_sequence(t.data + i, t.len - i);

	*codepoint = s[0];
	if (n == 1)
		return s[0] < ' ' || s[0] == 0x7f;
	if (n == 2)
		*codepoint = (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
	else if (n == 3)
		*codepoint = (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 |
			(s[2] & 0x3fu);
	else
		return 0;
	return *codepoint < 0xa0 || *codepoint == 0x2028 ||
			*codepoint == 0x2029 || *codepoint == 0xfeff ||
			*codepoint >= 0xfffe
		? n
		: 0;
}

/* In double quotes, where YAML has escapes. */
static void
print_escaped(struct ss_text t, struct buf *out)
{
	unsigned codepoint;
	size_t n;

	buf_char(out, '"');
	for (size_t i = 0; i<t.len; i += n> 0 ? n : 1) {
		n = needs_escape(t, i, &codepoint);
		if (n > 0 && codepoint == '\n')
			buf_text(out, "\\n");
		else if (n > 0)
			buf_printf(out, "\\u%04x", codepoint);
		else if (t.data[i] == '"' || t.data[i] == '\\')
			buf_printf(out, "\\%c", t.data[i]);
		else
			buf_char(out, t.data[i]);
	}
	buf_char(out, '"');
}

static void
print_quoted(struct ss_text t, struct buf *out)
{
	unsigned codepoint;

	for (size_t i = 0; i < t.len; i++)
		if (needs_escape(t, i, &codepoint) > 0) {
			print_escaped(t, out);
			return;
		}
	buf_char(out, '\'');
	for (size_t i = 0; i < t.len; i++) {
		buf_text(out, t.data[i] == '\'' ? "'" : "");
		buf_char(out, t.data[i]);
	}
	buf_char(out, '\'');
}

static void
print_text(struct ss_text t, struct buf *out)
{
	if (is_plain(t))
		buf_add(out, t.data, t.len);
	else
		print_quoted(t, out);
}

/* Would this text be read back as a placeholder or a lock? */
static bool
needs_literal(struct ss_text t, bool last)
{
	struct ss_text inner = { t.data + 1, t.len - 2 };

	if (last && text_is(t, ";"))
		return true;
	return t.len >= 2 && text_starts(t, "{") && text_ends(t, "}") &&
		(inner.len == 0 || argument_is_name(inner));
}

/* One key of a mapping, after a comma where one is needed. */
static void
begin_key(struct buf *out, const char *key)
{
	bool first = out->len >= 2 && out->data[out->len - 2] == '{' &&
		out->data[out->len - 1] == ' ';

	buf_printf(out, "%s%s: ", first ? "" : ", ", key);
}

static void
print_key(struct buf *out, const char *key, const char *text, bool quoted)
{
	if (text == NULL)
		return;
	begin_key(out, key);
	if (quoted)
		print_quoted(text_of(text), out);
	else
		print_text(text_of(text), out);
}

static void
print_names(struct buf *out, const char *key, const struct name_list *list)
{
	if (list->count == 0)
		return;
	begin_key(out, key);
	buf_char(out, '[');
	for (size_t i = 0; i < list->count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		print_text(text_of(list->names[i]), out);
	}
	buf_char(out, ']');
}

static void
print_flag(struct buf *out, const char *key, bool set)
{
	if (set) {
		begin_key(out, key);
		buf_text(out, "true");
	}
}

/* The keys that say what it takes.  examples: say nothing of that. */
static void
print_keys(const struct argument *a, bool described, struct buf *out)
{
	static const char *const types[] = { [ARGUMENT_INTEGER] = "integer",
		[ARGUMENT_NUMBER] = "number",
		[ARGUMENT_BOOLEAN] = "boolean",
		[ARGUMENT_DATE] = "date",
		[ARGUMENT_ENUM] = NULL };
	static const char *const escapes[] = { [ESCAPE_NONE] = NULL,
		[ESCAPE_URL] = "url",
		[ESCAPE_SQL] = "sql",
		[ESCAPE_JSON] = "json" };

	print_key(out, "type", types[a->type], false);
	if (a->type == ARGUMENT_TEXT || a->type == ARGUMENT_PATH)
		print_key(out, "kind",
			a->type == ARGUMENT_TEXT ? "text" : "path", false);
	print_names(out, "enum", &a->choices);
	print_key(out, "min", a->min.text, false);
	print_key(out, "max", a->max.text, false);
	print_key(out, "default", a->initial, false);
	print_flag(out, "optional", a->optional);
	print_flag(out, "dash", a->dash);
	print_flag(out, "exists", a->exists);
	print_key(out, "escape", escapes[a->escape], false);
	print_key(out, "description", described ? a->description : NULL, true);
}

static void
print_argument(const struct argument *a, bool described, struct buf *out)
{
	buf_text(out, "{ ");
	print_key(out, "regex", a->regex.data, true);
	print_key(out, "name", a->name, false);
	print_keys(a, described, out);
	buf_text(out, " }");
}

static void
print_template(const struct part *p, bool described, struct buf *out)
{
	bool own = true;

	for (size_t i = 0; i < p->piece_count; i++)
		own &= p->pieces[i].argument == NULL ||
			p->pieces[i].argument->initial != NULL;
	buf_text(out, "{ ");
	print_key(out, "text", p->text.data, true);
	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;
		bool again = false;

		for (size_t k = 0; k < i; k++)
			again |= p->pieces[k].argument == a;
		if (a == NULL || again)
			continue;
		begin_key(out, a->name);
		buf_text(out, "{ ");
		print_key(out, "regex", a->regex.data, true);
		print_keys(a, described, out);
		buf_text(out, " }");
	}
	print_flag(out, "optional", p->optional && !own);
	buf_text(out, " }");
}

/* Says no more than a name. */
static bool
is_bare(const struct argument *a, bool described)
{
	return a->type == ARGUMENT_WORD && a->regex.data == NULL &&
		(a->description == NULL || !described) && a->initial == NULL &&
		!a->optional && !a->dash &&
		(a->name == NULL || !is_reserved(text_of(a->name)));
}

static void
print_part(const struct part *p, bool last, bool described, struct buf *out)
{
	const struct argument *a = part_argument(p);

	if (p->kind == PART_TEMPLATE)
		print_template(p, described, out);
	else if (a != NULL && is_bare(a, described))
		buf_printf(out, "{%s}", a->name != NULL ? a->name : "");
	else if (a != NULL)
		print_argument(a, described, out);
	else if (needs_literal(p->text, last)) {
		buf_text(out, "{ literal: ");
		print_quoted(p->text, out);
		buf_text(out, " }");
	} else
		print_text(p->text, out);
}

void
part_print(const struct part *p, bool last, struct buf *out)
{
	print_part(p, last, true, out);
}

void
part_identify(const struct part *p, bool last, struct buf *out)
{
	print_part(p, last, false, out);
}

void
part_outline(const struct part *p, bool last, struct buf *out)
{
	const struct argument *a = part_argument(p);

	if (a != NULL)
		buf_printf(out, "{%s}", a->name != NULL ? a->name : "");
	else if (part_is_long(p))
		buf_text(out, "…");
	else if (p->kind == PART_TEMPLATE)
		print_quoted(p->text, out);
	else
		part_print(p, last, out);
}
