/* SPDX-License-Identifier: MIT */
#include "page/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "page/near.h"

/* Bytes of a text that a message shows. */
#define SHOWN_BYTES 40

static bool
is_scalar(const struct node *n)
{
	return n->kind != NODE_LIST && n->kind != NODE_MAP;
}

/* Describes a node to its author: "a list", or the quoted text. */
static void
describe_node(const struct node *n, char *out, size_t cap)
{
	char shown[SHOWN_BYTES + 1];
	size_t len = utf8_cut(n->text, n->len, SHOWN_BYTES);

	if (!is_scalar(n) || n->kind == NODE_NULL) {
		snprintf(out, cap, "%s", node_kind_name(n));
		return;
	}
	memcpy(shown, n->text, len);
	shown[len] = '\0';
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)shown[i] < ' ' || shown[i] == 0x7f)
			shown[i] = '?';
	snprintf(out, cap, "\"%s%s\"", shown, len < n->len ? "…" : "");
}

static void
fill_refusal(const struct reading *r, const struct node *n, const char *found,
	const char *expected)
{
	error_set(r->err, SS_BAD_FRONTMATTER,
		"line %u, column %u: found %s, expected %s", n->line, n->column,
		found, expected);
	if (r->place != NULL)
		*r->place = (struct node_place){ n->line, n->column };
}

static void
fill_hint(const struct reading *r, const char *hint, va_list args)
{
	char text[512];

	if (hint == NULL)
		return;
	vsnprintf(text, sizeof(text), hint, args);
	error_hint(r->err, "%s", text);
}

enum ss_err
value_refuse(const struct reading *r, const struct node *n,
	const char *expected, const char *hint, ...)
{
	char found[SHOWN_BYTES + 16];
	va_list args;

	describe_node(n, found, sizeof(found));
	fill_refusal(r, n, found, expected);
	va_start(args, hint);
	fill_hint(r, hint, args);
	va_end(args);
	return SS_BAD_FRONTMATTER;
}

enum ss_err
value_refuse_found(const struct reading *r, const struct node *n,
	const char *found, const char *expected, const char *hint, ...)
{
	va_list args;

	fill_refusal(r, n, found, expected);
	va_start(args, hint);
	fill_hint(r, hint, args);
	va_end(args);
	return SS_BAD_FRONTMATTER;
}

enum ss_err
value_go_on(const struct reading *r, enum ss_err code)
{
	if (r->all == NULL || code != SS_BAD_FRONTMATTER)
		return code;
	if (r->err->code == SS_OK)
		return SS_OK;
	r->all->count++;
	r->all->take(r->all->ctx, r->place, r->err);
	error_clear(r->err);
	return SS_OK;
}

size_t
value_refusals(const struct reading *r)
{
	return r->all != NULL ? r->all->count : 0;
}

enum ss_err
value_since(const struct reading *r, size_t refusals)
{
	return value_refusals(r) > refusals ? SS_BAD_FRONTMATTER : SS_OK;
}

enum ss_err
value_untagged(const struct reading *r, const struct node *n)
{
	if (!n->tagged)
		return SS_OK;
	return value_refuse_found(r, n, "a tag that is not known",
		"a value without it",
		"a ! at the start of a word is a YAML tag: quote the word if "
		"it is text");
}

/* The names of the keys that a mapping may have. */
struct known_keys {
	const char *const *names;
	size_t count;
	const char *what; /* "a key of a tool" */
};

static enum ss_err
refuse_unknown_key(const struct reading *r, const struct node *member,
	const struct known_keys *known)
{
	const struct node *key = member->key;
	const char *meant = near_key((struct ss_text){ key->text, key->len },
		known->names, known->count);

	if (meant != NULL)
		return value_refuse(
			r, key, known->what, "did you mean %s?", meant);
	/* In { regex: a,b } the comma ended the text. */
	if (member->kind == NODE_NULL && member->len == 0)
		return value_refuse(r, key, known->what,
			"a comma or a brace ends unquoted text here: put the "
			"text in single quotes");
	return value_refuse(
		r, key, known->what, "remove the key, or correct its spelling");
}

enum ss_err
value_refuse_twice(const struct reading *r, const struct node *key)
{
	char found[SHOWN_BYTES + 32] = "the second ";
	size_t len = strlen(found);

	describe_node(key, found + len, sizeof(found) - len);
	return value_refuse_found(r, key, found, "each key once",
		"this mapping has the key twice: join the two");
}

static enum ss_err
check_key(const struct reading *r, const struct node *member,
	const struct known_keys *known, uint64_t *seen)
{
	const struct node *key = member->key;
	uint64_t bit;
	size_t i = 0;

	while (i < known->count &&
		!text_is((struct ss_text){ key->text, key->len },
			known->names[i]))
		i++;
	if (i == known->count || key->kind != NODE_STRING)
		return refuse_unknown_key(r, member, known);
	if (key->tagged)
		return value_untagged(r, key);
	bit = (uint64_t)1 << i;
	if (*seen & bit)
		return value_refuse(r, key, "every key at most once",
			"this mapping has the key twice: remove one");
	*seen |= bit;
	return SS_OK;
}

enum ss_err
value_keys(const struct reading *r, const struct node *map,
	const char *const *names, size_t count, const char *what)
{
	const struct known_keys known = { names, count, what };
	size_t before = value_refusals(r);
	uint64_t seen = 0;
	enum ss_err e;

	for (const struct node *n = map->first; n != NULL; n = n->next)
		if ((e = value_go_on(r, check_key(r, n, &known, &seen))) !=
			SS_OK)
			return e;
	return value_since(r, before);
}

enum ss_err
value_word(const struct reading *r, const struct node *n, const char *expected,
	struct ss_text *out)
{
	char *copy;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_NULL)
		return value_refuse_found(r, n,
			n->len > 0 ? "an unquoted null" : "an empty value",
			expected, "quote it if the text is meant: '%s'",
			n->text);
	if (n->kind != NODE_STRING && n->kind != NODE_INTEGER &&
		n->kind != NODE_BOOL)
		return value_refuse_found(r, n, node_kind_name(n), expected,
			is_scalar(n) ? "quote it to make it text"
				     : "quote text that begins with [ or {");
	if (memchr(n->text, '\0', n->len) != NULL)
		return value_refuse_found(r, n, "a NUL byte", expected,
			"no program can be given a NUL");
	copy = arena_copy(r->arena, n->text, n->len);
	if (copy == NULL)
		return error_memory(r->err);
	*out = (struct ss_text){ copy, n->len };
	return SS_OK;
}

enum ss_err
value_text(const struct reading *r, const struct node *n, const char **out)
{
	struct ss_text text = { NULL, 0 };
	char expected[96];
	enum ss_err e;

	snprintf(expected, sizeof(expected), "text for %.40s",
		n->key != NULL ? n->key->text : "this item");
	e = value_word(r, n, expected, &text);
	if (e != SS_OK)
		return e;
	if (text.len == 0)
		return value_refuse_found(r, n, "an empty text", expected,
			"remove the key, or give it a text");
	*out = text.data;
	return SS_OK;
}

/* YAML 1.2's spellings; a quoted word is text. */
bool
value_is_bool(const struct node *n, bool *out)
{
	static const char *const words[] = { "false", "False", "FALSE", "true",
		"True", "TRUE" };

	if (n->kind == NODE_BOOL) {
		*out = n->value.truth;
		return true;
	}
	if (n->kind != NODE_STRING || !n->plain)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_is((struct ss_text){ n->text, n->len }, words[i])) {
			*out = i >= 3;
			return true;
		}
	return false;
}

enum ss_err
value_bool(const struct reading *r, const struct node *n, bool *out)
{
	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (!value_is_bool(n, out))
		return value_refuse(r, n, "true or false",
			"write %s: true or %s: false, without quotes",
			n->key->text, n->key->text);
	return SS_OK;
}

/* Decimal digits, at most one point within; no sign, no exponent. */
static bool
is_decimal(const struct node *n, bool fraction)
{
	size_t points = 0;

	if (n->kind != NODE_STRING || !n->plain || n->len == 0 || n->len > 40)
		return false;
	for (size_t i = 0; i < n->len; i++) {
		if (isdigit((unsigned char)n->text[i]))
			continue;
		if (n->text[i] != '.' || !fraction || ++points > 1 || i == 0 ||
			i + 1 == n->len)
			return false;
	}
	return true;
}

/* Not strtod, which reads the point as the host's locale writes it. */
static double
read_decimal(const char *text)
{
	double value = 0, unit = 1;

	for (; isdigit((unsigned char)*text); text++)
		value = value * 10 + (*text - '0');
	if (*text == '.')
		for (text++; isdigit((unsigned char)*text); text++)
			value += (*text - '0') * (unit /= 10);
	return value;
}

/* "30s" */
static bool
is_seconds_with_unit(const struct node *n)
{
	struct node number = *n;

	number.len -= n->len > 0;
	return n->kind == NODE_STRING && n->len > 1 &&
		n->text[n->len - 1] == 's' && is_decimal(&number, true);
}

/* The bytes of "64MB", "64M" or "64MiB"; 0: it is nothing such. */
static uint64_t
bytes_with_unit(const struct node *n)
{
	static const char units[] = "kmgt";
	char *end = NULL;
	const char *unit;
	unsigned long long value = strtoull(n->text, &end, 10);

	if (n->kind != NODE_STRING || !isdigit((unsigned char)n->text[0]) ||
		*end == '\0' || value > 1000000)
		return 0;
	end += strspn(end, " ");
	unit = strchr(units, tolower((unsigned char)*end));
	if (*end == '\0' || unit == NULL ||
		(end[1] != '\0' && strcmp(end + 1, "B") != 0 &&
			strcmp(end + 1, "b") != 0 &&
			strcmp(end + 1, "iB") != 0))
		return 0;
	return value << 10 * (unsigned)(unit - units + 1);
}

enum ss_err
value_seconds(const struct reading *r, const struct node *n, double *out)
{
	double value = -1;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_INTEGER)
		value = (double)n->value.integer;
	else if (n->kind == NODE_FLOAT)
		value = n->value.number;
	else if (is_decimal(n, true))
		value = read_decimal(n->text);
	/* Also refuses a NaN, which compares with nothing. */
	if (!(value >= 0.001 && value <= VALUE_SECONDS_MAX))
		return value_refuse(r, n, "seconds, from 0.001 to 4000000",
			is_seconds_with_unit(n)
				? "write the seconds without a unit: %s: %.*s"
				: "write a number such as %s: 2.5",
			n->key->text, (int)n->len - 1, n->text);
	*out = value;
	return SS_OK;
}

enum ss_err
value_count(const struct reading *r, const struct node *n, uint64_t *out)
{
	unsigned long long value = 0;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind == NODE_INTEGER && n->value.integer > 0)
		value = (unsigned long long)n->value.integer;
	else if (is_decimal(n, false)) {
		errno = 0;
		value = strtoull(n->text, NULL, 10);
		if (errno != 0)
			value = 0;
	}
	if ((value == 0 || value > INT64_MAX) && bytes_with_unit(n) > 0)
		return value_refuse(r, n, "a whole number from 1 on",
			"write the number without a unit: %s: %llu",
			n->key->text, (unsigned long long)bytes_with_unit(n));
	if (value == 0 || value > INT64_MAX)
		return value_refuse(r, n, "a whole number from 1 on",
			"write the number in digits, without a unit");
	*out = value;
	return SS_OK;
}

enum ss_err
value_names(
	const struct reading *r, const struct node *n, struct name_list *out)
{
	const struct node *item;
	size_t i = 0, before = value_refusals(r);
	enum ss_err e;

	if (value_untagged(r, n) != SS_OK)
		return SS_BAD_FRONTMATTER;
	if (n->kind != NODE_LIST)
		return value_refuse(r, n, "a list of texts",
			n->kind == NODE_STRING
				? "put brackets around it: %s: [%.100s]"
				: "write %s: [one, two], or [] for none",
			n->key->text, n->text);
	if (n->count > VALUE_NAMES_MAX)
		return value_refuse(r, n, "a list of at most 1000 texts",
			"%s has %zu of them", n->key->text, n->count);
	out->names = arena_array(r->arena, n->count + 1, sizeof(*out->names));
	if (out->names == NULL)
		return error_memory(r->err);
	for (item = n->first; item != NULL; item = item->next) {
		e = value_text(r, item, &out->names[i]);
		i += e == SS_OK;
		if (value_go_on(r, e) != SS_OK)
			return e;
	}
	out->set = true;
	out->count = i;
	out->line = n->key->line;
	out->column = n->key->column;
	return value_since(r, before);
}
