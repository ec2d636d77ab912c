/* SPDX-License-Identifier: MIT */
#include "page/template.h"

#include <stdio.h>

#include "wire/path.h"
#include "wire/proto.h"

/* Ways to divide a word that are tried: each may run a regex. */
#define TRIES_MAX 10000
#define TRY_BYTES 64 /* that a try costs beside the value's own */
/* Arguments of one template. */
#define ARGUMENTS_MAX 64
#define PIECES_MAX (2 * ARGUMENTS_MAX + 1)

/* --------------------------------------------------------------- reading */

/* Keys of the mapping that are no arguments. */
static bool
is_own_key(struct ss_text key)
{
	return text_is(key, "text") || text_is(key, "optional") ||
		text_is(key, "description");
}

/* The placeholder at the start of text, "{id}": its length, else 0. */
static size_t
placeholder_at(struct ss_text text, struct ss_text *name)
{
	const char *end;

	if (text.len < 3 || text.data[0] != '{')
		return 0;
	end = memchr(text.data, '}', text.len);
	if (end == NULL)
		return 0;
	*name = (struct ss_text){ text.data + 1,
		(size_t)(end - text.data) - 1 };
	return argument_is_name(*name) ? name->len + 2 : 0;
}

static struct argument *
find_earlier(const struct part *out, struct ss_text name)
{
	for (size_t i = 0; i < out->piece_count; i++) {
		struct argument *a = out->pieces[i].argument;

		if (a != NULL && text_is(name, a->name))
			return a;
	}
	return NULL;
}

static const struct node *
member_of(const struct node *map, struct ss_text name)
{
	for (const struct node *n = map->first; n != NULL; n = n->next)
		if (text_equal(name,
			    (struct ss_text){ n->key->text, n->key->len }))
			return n;
	return NULL;
}

/*
 * Is the next value in the query of a URL (RFC 3986 section 3.4), behind a '?'
 * of the author's with no '/' after it?
 */
static bool
is_in_query(const struct part *out)
{
	bool query = false;

	for (size_t i = 0; i < out->piece_count; i++)
		for (size_t k = 0; out->pieces[i].argument == NULL &&
			k < out->pieces[i].text.len;
			k++) {
			char c = out->pieces[i].text.data[k];

			query = c == '?' || (query && c != '/');
		}
	return query;
}

static enum ss_err
add_argument(const struct reading *r, const struct node *map,
	struct ss_text name, struct part *out)
{
	const struct node *n = member_of(map, name);
	bool query = is_in_query(out);
	struct piece *piece;

	if (is_own_key(name))
		return value_refuse_found(r, map, "a reserved argument name",
			"another name than text, optional and description",
			NULL);
	if (n == NULL)
		return value_refuse_found(r, map,
			"a placeholder without its pattern",
			"a key for each {name} in text",
			"add %.*s: '^[0-9]+$' with what it may hold",
			(int)name.len, name.data);
	if (out->piece_count > 0 &&
		out->pieces[out->piece_count - 1].argument != NULL)
		return value_refuse_found(r, map,
			"two placeholders side by side", "text between them",
			"nothing tells where the first value ends");
	if (out->piece_count + 2 > PIECES_MAX)
		return value_refuse_found(r, map, "more than 64 placeholders",
			"at most 64 in one word", "divide the text");
	piece = &out->pieces[out->piece_count++];
	piece->argument = find_earlier(out, name);
	if (piece->argument != NULL) {
		piece->argument->query &= query;
		return SS_OK;
	}
	piece->argument = arena_alloc(r->arena, sizeof(*piece->argument));
	if (piece->argument == NULL)
		return error_memory(r->err);
	*piece->argument = (struct argument){ .line = n->line,
		.column = n->column,
		.query = query,
		.name = arena_copy(r->arena, name.data, name.len) };
	if (piece->argument->name == NULL)
		return error_memory(r->err);
	return argument_parse(r, n, true, piece->argument);
}

static enum ss_err
add_pieces(const struct reading *r, const struct node *map, struct part *out)
{
	struct ss_text name, rest = out->text;
	size_t text = 0, used;
	enum ss_err e = SS_OK;

	out->pieces =
		arena_array(r->arena, PIECES_MAX + 1, sizeof(*out->pieces));
	if (out->pieces == NULL)
		return error_memory(r->err);
	for (size_t i = 0; e == SS_OK && i <= rest.len; i += used) {
		struct ss_text from = { rest.data + i, rest.len - i };

		used = placeholder_at(from, &name);
		if ((used > 0 || i == rest.len) && i > text)
			out->pieces[out->piece_count++] = (struct piece){
				.text = { rest.data + text, i - text }
			};
		if (used > 0) {
			e = add_argument(r, map, name, out);
			text = i + used;
		} else {
			used = 1;
		}
	}
	return e;
}

/* Each key but ours is a placeholder of the text. */
static enum ss_err
check_names(
	const struct reading *r, const struct node *map, const struct part *out)
{
	for (const struct node *n = map->first; n != NULL; n = n->next) {
		struct ss_text key = { n->key->text, n->key->len };

		if (value_untagged(r, n->key) != SS_OK)
			return SS_BAD_FRONTMATTER;
		if (member_of(map, key) != n)
			return value_refuse_twice(r, n->key);
		if (!is_own_key(key) && find_earlier(out, key) == NULL)
			return value_refuse(r, n->key,
				"text, optional, description or a placeholder "
				"of text",
				"text has no {%.*s}", (int)key.len, key.data);
	}
	return SS_OK;
}

size_t
template_count_before(const struct part *p, size_t i, char mark)
{
	size_t count = 0;

	for (size_t k = 0; k < i; k++)
		for (size_t b = 0; p->pieces[k].argument == NULL &&
			b < p->pieces[k].text.len;
			b++)
			count += p->pieces[k].text.data[b] == mark;
	return count;
}

/* An escape for quoted text protects nothing outside of quotes. */
static enum ss_err
check_quotes(
	const struct reading *r, const struct node *map, const struct part *out)
{
	for (size_t i = 0; i < out->piece_count; i++) {
		const struct argument *a = out->pieces[i].argument;
		bool sql = a != NULL && a->escape == ESCAPE_SQL;
		bool json = a != NULL && a->escape == ESCAPE_JSON;

		if (sql && template_count_before(out, i, '\'') % 2 == 0)
			return value_refuse_found(r, map,
				"an SQL value outside of quotes",
				"it between single quotes",
				"write '... name = ''{%s}''' in the text",
				a->name);
		if (json && template_count_before(out, i, '"') % 2 == 0)
			return value_refuse_found(r, map,
				"a JSON value outside of quotes",
				"it between double quotes",
				"write \"{%s}\" in the text, or give it a type "
				"instead of escape",
				a->name);
	}
	return SS_OK;
}

/* With a default for each argument the whole word may be left out, too. */
static bool
has_defaults(const struct part *p)
{
	for (size_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].argument != NULL &&
			p->pieces[i].argument->initial == NULL)
			return false;
	return true;
}

enum ss_err
template_parse(
	const struct reading *r, const struct node *map, struct part *out)
{
	const struct node *optional = node_member(map, "optional"),
			  *described = node_member(map, "description");
	enum ss_err e;

	out->kind = PART_TEMPLATE;
	e = value_word(r, node_member(map, "text"), "text with {name} in it",
		&out->text);
	if (e == SS_OK && optional != NULL)
		e = value_bool(r, optional, &out->optional);
	if (e == SS_OK && described != NULL)
		e = value_text(r, described, &out->description);
	if (e == SS_OK)
		e = add_pieces(r, map, out);
	if (e == SS_OK)
		e = check_names(r, map, out);
	if (e == SS_OK)
		e = check_quotes(r, map, out);
	if (e != SS_OK)
		return e;
	if (out->piece_count == 0 ||
		(out->piece_count == 1 && out->pieces[0].argument == NULL))
		return value_refuse_found(r, map, "a text without {name}",
			"a placeholder in it",
			"write { literal: ... } for text alone");
	out->optional |= has_defaults(out);
	return SS_OK;
}

/* -------------------------------------------------------------- escaping */

static bool
is_unreserved(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		(c != '\0' && strchr("-._~", c) != NULL);
}

static void
escape_json(char c, struct buf *out)
{
	if (c == '"' || c == '\\')
		buf_printf(out, "\\%c", c);
	else if ((unsigned char)c < ' ')
		buf_printf(out, "\\u%04x", (unsigned)(unsigned char)c);
	else
		buf_char(out, c);
}

void
template_escape(
	enum argument_escape escape, struct ss_text value, struct buf *out)
{
	if (escape == ESCAPE_NONE) {
		buf_add(out, value.data, value.len);
		return;
	}
	for (size_t i = 0; i < value.len; i++) {
		char c = value.data[i];

		if (escape == ESCAPE_JSON)
			escape_json(c, out);
		else if (escape == ESCAPE_SQL)
			buf_text(out, c == '\'' ? "''" : (char[]){ c, '\0' });
		else if (is_unreserved(c))
			buf_char(out, c);
		else
			buf_printf(out, "%%%02X", (unsigned)(unsigned char)c);
	}
}

static int
hex_value(const char *data, size_t count)
{
	int value = 0;

	for (size_t i = 0; i < count; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *at =
			data[i] != '\0' ? strchr(digits, data[i] | 0x20) : NULL;

		if (at == NULL)
			return -1;
		value = value * 16 + (int)(at - digits);
	}
	return value;
}

/* One word while its values are looked for. */
struct split {
	const struct part *part;
	struct arena *arena;
	struct ss_text *values;
	unsigned tries;
	size_t *left;                /* bytes that may still be tried */
	enum pattern_result stopped; /* a limit or no memory; PATTERN_NO */
};

/* One escape at the start of raw: its byte, its length in *used; else 0. */
static int
unescape_at(enum argument_escape escape, struct ss_text raw, size_t *used)
{
	*used = 0;
	if (escape == ESCAPE_SQL && text_starts(raw, "''"))
		return *used = 2, '\'';
	if (escape == ESCAPE_URL && raw.len >= 3 && raw.data[0] == '%')
		return *used = 3, hex_value(raw.data + 1, 2);
	if (escape == ESCAPE_JSON && raw.len >= 6 && text_starts(raw, "\\u"))
		return *used = 6, hex_value(raw.data + 2, 4);
	if (escape == ESCAPE_JSON && raw.len >= 2 && raw.data[0] == '\\')
		return *used = 2, raw.data[1];
	return 0;
}

/*
 * The value that template_escape writes as raw, in the arena.  False: there is
 * none.  Comparing the result with raw refuses every other spelling.
 */
static bool
unescape(enum argument_escape escape, struct ss_text raw, struct split *s,
	struct ss_text *value)
{
	struct buf again = BUF_INIT(PROTO_WORD_MAX);
	char *data;
	size_t len = 0, used;
	bool same;

	*value = raw;
	if (escape == ESCAPE_NONE)
		return true;
	data = arena_alloc(s->arena, raw.len + 1);
	if (data == NULL) {
		s->stopped = PATTERN_MEMORY;
		return false;
	}
	for (size_t i = 0; i<raw.len; i += used> 0 ? used : 1) {
		int byte = unescape_at(escape,
			(struct ss_text){ raw.data + i, raw.len - i }, &used);

		if (used > 0 && (byte <= 0 || byte > 0xff))
			return false;
		data[len++] = used > 0 ? (char)byte : raw.data[i];
	}
	*value = (struct ss_text){ data, len };
	template_escape(escape, *value, &again);
	same = buf_ok(&again) && text_equal(buf_view(&again), raw) &&
		utf8_valid(data, len);
	if (again.failed)
		s->stopped = PATTERN_MEMORY;
	buf_release(&again);
	return same;
}

/* ------------------------------------------------------------- splitting */

/* Takes raw as the value of piece i; an earlier value must be the same. */
static bool
take_value(struct split *s, size_t i, struct ss_text raw)
{
	const struct argument *a = s->part->pieces[i].argument;
	enum pattern_result taken;
	struct ss_text value;

	if (s->tries++ >= TRIES_MAX || raw.len + TRY_BYTES > *s->left) {
		s->stopped = PATTERN_LIMIT;
		return false;
	}
	*s->left -= raw.len + TRY_BYTES;
	if (!unescape(a->escape, raw, s, &value))
		return false;
	for (size_t k = 0; k < i; k++)
		if (s->part->pieces[k].argument == a)
			return text_equal(s->values[a->index], value);
	taken = argument_takes(a, value);
	if (taken != PATTERN_YES && taken != PATTERN_NO)
		s->stopped = taken;
	if (taken != PATTERN_YES)
		return false;
	s->values[a->index] = value;
	return true;
}

/* The first way to divide rest among the pieces from i on. */
static bool
split_from(struct split *s, size_t i, struct ss_text rest)
{
	const struct part *p = s->part;
	const char *at;
	struct ss_text next;

	if (i < p->piece_count && p->pieces[i].argument == NULL) {
		next = p->pieces[i].text;
		if (rest.len < next.len ||
			memcmp(rest.data, next.data, next.len) != 0)
			return false;
		rest.data += next.len;
		rest.len -= next.len;
		i++;
	}
	if (i == p->piece_count)
		return rest.len == 0;
	if (i + 1 == p->piece_count)
		return take_value(s, i, rest);
	next = p->pieces[i + 1].text;
	for (size_t from = 0; s->stopped == PATTERN_NO;
		from = (size_t)(at - rest.data) + 1) {
		at = memmem(
			rest.data + from, rest.len - from, next.data, next.len);
		if (at == NULL)
			return false;
		if (take_value(s, i,
			    (struct ss_text){
				    rest.data, (size_t)(at - rest.data) }) &&
			split_from(s, i + 1,
				(struct ss_text){ at,
					rest.len - (size_t)(at - rest.data) }))
			return true;
	}
	return false;
}

enum pattern_result
template_split(const struct part *p, struct ss_text word, struct arena *arena,
	struct ss_text *values, size_t *left)
{
	struct split s = {
		.part = p, .arena = arena, .values = values, .left = left
	};

	if (template_adds_dash(p, word))
		return PATTERN_NO;
	if (split_from(&s, 0, word))
		return PATTERN_YES;
	return s.stopped;
}

/* --------------------------------------------------------------- filling */

void
template_fill(
	const struct part *p, const struct ss_text *values, struct buf *out)
{
	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL)
			template_escape(a->escape, values[a->index], out);
		else
			buf_add(out, p->pieces[i].text.data,
				p->pieces[i].text.len);
	}
}

bool
template_adds_dash(const struct part *p, struct ss_text word)
{
	const struct argument *first = p->pieces[0].argument;

	return first != NULL && text_starts(word, "-") && !first->dash &&
		first->type != ARGUMENT_ENUM &&
		!(first->min.text != NULL && first->min.value < 0);
}

/* How many components of the word, or of what follows a '=', are "..". */
static size_t
count_climbs(struct ss_text word)
{
	size_t count = 0, start = 0;

	for (size_t i = 0; i <= word.len; i++) {
		if (i < word.len && word.data[i] != '/' && word.data[i] != '=')
			continue;
		count += i - start == 2 &&
			memcmp(word.data + start, "..", 2) == 0;
		start = i + 1;
	}
	return count;
}

/* Compared with the same word whose values are all "x". */
enum pattern_result
template_climbs(const struct part *p, const struct ss_text *values)
{
	struct buf filled = BUF_INIT(PROTO_WORD_MAX + 1),
		   neutral = BUF_INIT(PROTO_WORD_MAX + 1);
	bool climbs, failed;

	template_fill(p, values, &filled);
	for (size_t i = 0; i < p->piece_count; i++) {
		if (p->pieces[i].argument != NULL)
			buf_char(&neutral, 'x');
		else
			buf_add(&neutral, p->pieces[i].text.data,
				p->pieces[i].text.len);
	}
	climbs = !buf_ok(&filled) || !buf_ok(&neutral) ||
		count_climbs(buf_view(&filled)) >
			count_climbs(buf_view(&neutral));
	failed = filled.failed || neutral.failed;
	buf_release(&filled);
	buf_release(&neutral);
	if (failed)
		return PATTERN_MEMORY;
	return climbs ? PATTERN_YES : PATTERN_NO;
}
