/* SPDX-License-Identifier: MIT */
/*
 * The scalars of TOML 1.0: strings, numbers, booleans, dates and times, and the
 * cursor and the messages that toml.c uses too.  Standard: toml.io/en/v1.0.0;
 * dates are RFC 3339.
 */
#include "page/toml_scalar.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Bytes of a wrong word that a message shows. */
#define SHOWN_BYTES 40

/* ------------------------------------------------- the cursor, messages -- */

struct node_place
toml_here(struct toml *t)
{
	for (; t->mark < t->at; t->mark++) {
		if (*t->mark == '\n') {
			t->mark_place.line++;
			t->mark_place.column = 1;
		} else if (((unsigned char)*t->mark & 0xc0) != 0x80) {
			t->mark_place.column++;
		}
	}
	/* Inside a sequence: its first byte has been counted already. */
	return t->mark_place;
}

enum ss_err
toml_refuse(struct toml *t, struct node_place where, const char *format, ...)
{
	char text[sizeof(t->r->err->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (t->r->place != NULL)
		*t->r->place = where;
	return error_set(t->r->err, t->code, "line %u, column %u: %s",
		where.line, where.column, text);
}

bool
toml_is_bare(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
		(c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

/* A number or a date may also hold these. */
static bool
is_word(char c)
{
	return toml_is_bare(c) || c == '+' || c == '.' || c == ':';
}

static size_t
word_length(const char *p, const char *end)
{
	size_t n = 0;

	while (p + n < end && is_word(p[n]))
		n++;
	return n;
}

enum ss_err
toml_expected(struct toml *t, const char *what)
{
	struct node_place where = toml_here(t);
	size_t n = word_length(t->at, t->end);

	if (t->at == t->end)
		return toml_refuse(t, where,
			"found the end of the text, expected %s", what);
	if (toml_newline(t->at, t->end) > 0)
		return toml_refuse(t, where,
			"found the end of the line, expected %s", what);
	if (*t->at == '\t')
		return toml_refuse(t, where, "found a tab, expected %s", what);
	if (n == 0)
		n = utf8_sequence(t->at, (size_t)(t->end - t->at));
	return toml_refuse(t, where, "found %s%.*s%s%s, expected %s",
		*t->at == '"' ? "'" : "\"",
		(int)(n < SHOWN_BYTES ? n : SHOWN_BYTES), t->at,
		n > SHOWN_BYTES ? "..." : "", *t->at == '"' ? "'" : "\"", what);
}

size_t
toml_newline(const char *p, const char *end)
{
	if (p < end && *p == '\n')
		return 1;
	return end - p >= 2 && p[0] == '\r' && p[1] == '\n' ? 2 : 0;
}

enum ss_err
toml_check_text(struct toml *t)
{
	struct toml look = *t; /* leaves the cursor where it is */
	size_t n;

	for (; look.at < look.end; look.at += n) {
		unsigned char c = (unsigned char)*look.at;

		n = utf8_sequence(look.at, (size_t)(look.end - look.at));
		if (n == 0)
			return toml_refuse(&look, toml_here(&look),
				"found the byte 0x%02X, expected UTF-8", c);
		if ((c < 0x20 || c == 0x7f) && c != '\t' &&
			toml_newline(look.at, look.end) == 0)
			return toml_refuse(&look, toml_here(&look),
				"found the control character U+%04X, expected "
				"text",
				c);
		if (c == '\r')
			n = 2;
	}
	return SS_OK;
}

static struct node *
new_scalar(struct toml *t, enum node_kind kind, struct node_place where,
	const char *text, size_t len)
{
	struct node *n = node_new(t->r->arena, kind, where.line, where.column);

	if (n == NULL)
		return NULL;
	n->text = text;
	n->len = len;
	n->plain = true;
	return n;
}

/* -------------------------------------------------------------- strings -- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * The quote (or the first of three) that ends the string.  NULL when there is
 * none; the cursor is then where it was expected.
 */
static const char *
closing_quote(struct toml *t, const char *body, char quote, bool three)
{
	const char *p = body;

	for (; p < t->end; p++) {
		if (!three && toml_newline(p, t->end) > 0)
			break;
		if (*p == '\\' && quote == '"' && t->end - p > 1 &&
			(three || p[1] != '\n'))
			p++;
		else if (*p == quote && !three)
			return p;
		else if (t->end - p >= 3 && *p == quote && p[1] == quote &&
			p[2] == quote)
			break;
	}
	if (p == t->end || *p != quote) {
		t->at = p;
		return NULL;
	}
	/* One or two quotes may precede the closing three. */
	for (int extra = 0; extra < 2 && t->end - p > 3; extra++)
		if (p[3] == quote)
			p++;
	return p;
}

/* 0 to 15, or 16 when it is no digit. */
static unsigned
digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned)(c - 'A') + 10;
	return 16;
}

/* \uXXXX, \UXXXXXXXX: digits is 4 or 8; false when it is no scalar value. */
static bool
hex_escape(const char *p, const char *end, size_t digits, uint32_t *out)
{
	uint32_t c = 0;

	if ((size_t)(end - p) < digits)
		return false;
	for (size_t i = 0; i < digits; i++) {
		if (digit_value(p[i]) > 15 || c > 0x0fffffff)
			return false;
		c = c << 4 | digit_value(p[i]);
	}
	*out = c;
	return c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

/* A backslash at the end of a line skips all white space up to the text. */
static const char *
skip_line_end(const char *p, const char *end)
{
	const char *q = p;
	size_t n;

	while (q < end && is_blank(*q))
		q++;
	if (toml_newline(q, end) == 0)
		return NULL;
	for (; q < end; q += n)
		if ((n = is_blank(*q) ? 1 : toml_newline(q, end)) == 0)
			break;
	return q;
}

/* Decodes the escape at *in (a backslash) to *out and advances both. */
static enum ss_err
decode_escape(struct toml *t, const char **in, const char *end, bool three,
	char **out)
{
	static const char letters[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
	const char *p = *in + 1, *next;
	const char *letter =
		p < end ? memchr(letters, *p, sizeof(letters) - 1) : NULL;
	size_t digits = p < end && *p == 'u' ? 4 : p < end && *p == 'U' ? 8 : 0;
	size_t n = p < end ? utf8_sequence(p, (size_t)(end - p)) : 0;
	uint32_t c;

	if (letter != NULL) {
		*(*out)++ = bytes[letter - letters];
		*in = p + 1;
		return SS_OK;
	}
	if (three && (next = skip_line_end(p, end)) != NULL) {
		*in = next;
		return SS_OK;
	}
	t->at = *in;
	if (digits == 0) {
		toml_refuse(t, toml_here(t),
			"found the escape \\%.*s, expected one of \\b \\t "
			"\\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX",
			(int)n, p);
		error_hint(t->r->err,
			"use single quotes, in which a backslash is only a "
			"backslash");
		return t->code;
	}
	if (!hex_escape(p + 1, end, digits, &c))
		return toml_refuse(t, toml_here(t),
			"found \\%c without a character's number, expected "
			"%zu hexadecimal digits of one",
			*p, digits);
	*out += utf8_encode(c, *out);
	*in = p + 1 + digits;
	return SS_OK;
}

/*
 * Decodes the text between the quotes.  No escape is shorter than what it
 * means, so the source's length suffices.  Line breaks become LF, as in YAML.
 */
static enum ss_err
unquote(struct toml *t, const char *p, const char *end, char quote, bool three,
	struct node *n)
{
	char *text = arena_alloc(t->r->arena, (size_t)(end - p) + 1),
	     *out = text;
	enum ss_err code;

	if (text == NULL)
		return error_memory(t->r->err);
	while (p < end) {
		if (*p == '\\' && quote == '"') {
			code = decode_escape(t, &p, end, three, &out);
			if (code != SS_OK)
				return code;
		} else if (*p == '\r') {
			p++;
		} else {
			*out++ = *p++;
		}
	}
	n->text = text;
	n->len = (size_t)(out - text);
	return SS_OK;
}

enum ss_err
toml_string(struct toml *t, bool multiline, struct node **out)
{
	struct node_place where = toml_here(t);
	const char quote = *t->at, *body = t->at + 1, *close;
	bool three = multiline && t->end - body >= 2 && body[0] == quote &&
		body[1] == quote;
	struct node *n = new_scalar(t, NODE_STRING, where, "", 0);
	enum ss_err code;

	if (n == NULL)
		return error_memory(t->r->err);
	n->plain = false;
	if (three) {
		body += 2;
		body += toml_newline(body, t->end);
	}
	close = closing_quote(t, body, quote, three);
	if (close == NULL) {
		toml_expected(t,
			three ? "three closing quotes" : "the closing quote");
		error_hint(t->r->err, "the text begins in line %u, column %u",
			where.line, where.column);
		return t->code;
	}
	code = unquote(t, body, close, quote, three, n);
	if (code != SS_OK)
		return code;
	t->at = close + (three ? 3 : 1);
	*out = n;
	return SS_OK;
}

/* -------------------------------------------------------------- numbers -- */

/* Length of digits with single underscores between them; 0: no such run. */
static size_t
digit_run(const char *p, unsigned base)
{
	size_t n = 0;

	if (digit_value(p[0]) >= base)
		return 0;
	while (digit_value(p[n]) < base ||
		(p[n] == '_' && digit_value(p[n + 1]) < base))
		n++;
	return p[n] == '_' ? 0 : n;
}

static bool
to_integer(const char *p, unsigned base, bool negative, int64_t *out)
{
	int64_t sum = 0;

	for (; *p != '\0'; p++) {
		int64_t d = (int64_t)digit_value(*p);

		if (*p == '_')
			continue;
		if (__builtin_mul_overflow(sum, (int64_t)base, &sum) ||
			__builtin_add_overflow(sum, negative ? -d : d, &sum))
			return false;
	}
	*out = sum;
	return true;
}

/* strtod(3) reads the decimal point of the host's locale. */
static bool
to_float(const char *text, size_t len, struct arena *arena, double *out)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	char *copy = arena_copy(arena, text, len), *q = copy;

	if (plain != (locale_t)0 && copy != NULL) {
		for (const char *p = text; *p != '\0'; p++)
			if (*p != '_')
				*q++ = *p;
		*q = '\0';
		*out = strtod_l(copy, NULL, plain);
	}
	if (plain != (locale_t)0)
		freelocale(plain);
	return plain != (locale_t)0 && copy != NULL;
}

enum shape { SHAPE_NONE, SHAPE_INTEGER, SHAPE_FLOAT };

/* Reads the shape of a decimal number; p is after the sign. */
static enum shape
decimal_shape(const char *p)
{
	size_t n = digit_run(p, 10);
	enum shape shape = SHAPE_INTEGER;

	if (strcmp(p, "inf") == 0 || strcmp(p, "nan") == 0)
		return SHAPE_FLOAT;
	if (n == 0 || (n > 1 && p[0] == '0'))
		return SHAPE_NONE;
	p += n;
	if (*p == '.') {
		shape = SHAPE_FLOAT;
		if ((n = digit_run(++p, 10)) == 0)
			return SHAPE_NONE;
		p += n;
	}
	if (*p == 'e' || *p == 'E') {
		shape = SHAPE_FLOAT;
		p++;
		p += *p == '+' || *p == '-';
		if ((n = digit_run(p, 10)) == 0)
			return SHAPE_NONE;
		p += n;
	}
	return *p == '\0' ? shape : SHAPE_NONE;
}

static unsigned
prefix_base(const char *p)
{
	if (p[0] != '0')
		return 10;
	return p[1] == 'x' ? 16 : p[1] == 'o' ? 8 : p[1] == 'b' ? 2 : 10;
}

/* n's text is the whole word; SHAPE_NONE when it is no number. */
static enum ss_err
parse_number(struct toml *t, struct node *n, bool *is_number)
{
	const char *p = n->text;
	unsigned base = prefix_base(p);
	bool negative = *p == '-';
	enum shape shape = SHAPE_NONE;

	if (base != 10) {
		p += 2;
		if (digit_run(p, base) == strlen(p))
			shape = *p != '\0' ? SHAPE_INTEGER : SHAPE_NONE;
	} else {
		p += *p == '-' || *p == '+';
		shape = decimal_shape(p);
	}
	*is_number = shape != SHAPE_NONE;
	if (shape == SHAPE_FLOAT) {
		n->kind = NODE_FLOAT;
		if (!to_float(n->text, n->len, t->r->arena, &n->value.number))
			return error_memory(t->r->err);
	}
	if (shape != SHAPE_INTEGER)
		return SS_OK;
	n->kind = NODE_INTEGER;
	if (!to_integer(p, base, negative, &n->value.integer))
		return toml_expected(t, "an integer that fits into 64 bits");
	return SS_OK;
}

/* ------------------------------------------------------ dates and times -- */

/* Reads exactly that many digits and moves *p after them. */
static bool
take_digits(const char **p, int count, unsigned *out)
{
	*out = 0;
	for (; count > 0; count--, (*p)++) {
		if (digit_value(**p) > 9)
			return false;
		*out = *out * 10 + digit_value(**p);
	}
	return true;
}

static bool
take_char(const char **p, char c)
{
	if (**p != c)
		return false;
	(*p)++;
	return true;
}

static unsigned
days_in(unsigned year, unsigned month)
{
	static const unsigned char days[] = { 31, 28, 31, 30, 31, 30, 31, 31,
		30, 31, 30, 31 };
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return month == 2 && leap ? 29 : days[month - 1];
}

static bool
take_date(const char **p)
{
	unsigned year, month, day;

	return take_digits(p, 4, &year) && take_char(p, '-') &&
		take_digits(p, 2, &month) && take_char(p, '-') &&
		take_digits(p, 2, &day) && month >= 1 && month <= 12 &&
		day >= 1 && day <= days_in(year, month);
}

/* A second 60 is allowed: RFC 3339 section 5.7, leap seconds. */
static bool
take_time(const char **p)
{
	unsigned hour, minute, second;

	if (!take_digits(p, 2, &hour) || !take_char(p, ':') ||
		!take_digits(p, 2, &minute) || !take_char(p, ':') ||
		!take_digits(p, 2, &second))
		return false;
	if (hour > 23 || minute > 59 || second > 60)
		return false;
	if (take_char(p, '.')) {
		if (digit_value(**p) > 9)
			return false;
		while (digit_value(**p) <= 9)
			(*p)++;
	}
	return true;
}

static bool
take_offset(const char **p)
{
	unsigned hour, minute;

	if (take_char(p, 'Z') || take_char(p, 'z'))
		return true;
	if (!take_char(p, '+') && !take_char(p, '-'))
		return false;
	return take_digits(p, 2, &hour) && take_char(p, ':') &&
		take_digits(p, 2, &minute) && hour <= 23 && minute <= 59;
}

/* Does it look like a date, valid or not, so that a message on dates helps? */
static bool
looks_like_date(const char *text, size_t len)
{
	unsigned ignored;
	const char *p = text;

	if (len >= 3 && take_digits(&p, 2, &ignored) && *p == ':')
		return true;
	p = text;
	return len >= 5 && take_digits(&p, 4, &ignored) && *p == '-';
}

static enum ss_err
date_or_time(struct toml *t, struct node *n)
{
	const char *p = n->text;
	bool right;

	if (n->text[2] == ':') {
		n->kind = NODE_LOCAL_TIME;
		right = take_time(&p);
	} else if (!take_date(&p)) {
		right = false;
	} else if (*p == '\0') {
		n->kind = NODE_LOCAL_DATE;
		right = true;
	} else {
		right = strchr("Tt ", *p++) != NULL && take_time(&p);
		n->kind = *p == '\0' ? NODE_LOCAL_DATETIME : NODE_DATETIME;
		if (right && *p != '\0')
			right = take_offset(&p);
	}
	if (!right || *p != '\0')
		return toml_expected(t,
			"a date or time like 1979-05-27T07:32:00Z, or text in "
			"quotes");
	return SS_OK;
}

/* --------------------------------------------------------- without quotes -- */

/* A hint for what is valid in another language. */
static void
hint_for_word(struct toml *t, const struct node *n)
{
	const char *digits = n->text + (*n->text == '-' || *n->text == '+');

	if (strcasecmp(n->text, "true") == 0 ||
		strcasecmp(n->text, "false") == 0)
		error_hint(t->r->err, "write true and false in small letters");
	else if (strcasecmp(n->text, "null") == 0 ||
		strcasecmp(n->text, "none") == 0)
		error_hint(t->r->err,
			"TOML has no empty value: leave the key out");
	else if (digit_value(*digits) > 9)
		error_hint(t->r->err, "put text in quotes: \"%.*s\"",
			SHOWN_BYTES, n->text);
	else if (digits[0] == '0' && digit_value(digits[1]) <= 9)
		error_hint(t->r->err, "a number has no zeros in front");
	else
		error_hint(t->r->err,
			"a number is written like 1, -2, 1_000, 0.5 or 1e6; "
			"text needs quotes");
}

/* One blank is allowed between a date and its time. */
static size_t
value_length(const char *p, const char *end)
{
	size_t n = word_length(p, end);

	if (n == 10 && looks_like_date(p, n) && end - p > 11 && p[10] == ' ' &&
		digit_value(p[11]) <= 9)
		n = 11 + word_length(p + 11, end);
	return n;
}

enum ss_err
toml_bare_value(struct toml *t, struct node **out)
{
	static const char what[] = "a value (text in quotes, a number, a date, "
				   "true, false, [...] or {...})";
	size_t len = value_length(t->at, t->end);
	char *text = arena_copy(t->r->arena, t->at, len);
	struct node *n = new_scalar(t, NODE_BOOL, toml_here(t), text, len);
	bool known = true;
	enum ss_err code = SS_OK;

	if (text == NULL || n == NULL)
		return error_memory(t->r->err);
	if (len == 0)
		return toml_expected(t, what);
	if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
		n->value.truth = *text == 't';
	else if (looks_like_date(text, len))
		code = date_or_time(t, n);
	else
		code = parse_number(t, n, &known);
	if (code != SS_OK)
		return code;
	if (!known) {
		toml_expected(t, what);
		hint_for_word(t, n);
		return t->code;
	}
	t->at += len;
	*out = n;
	return SS_OK;
}
