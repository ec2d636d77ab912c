/* SPDX-License-Identifier: MIT */
/*
 * Translates what PCRE2 and ECMAScript both have: what they read alike is
 * copied, what differs only in spelling is rewritten (in ECMAScript '.' does
 * not match U+2028, and \s matches more), everything else is refused.  Sources:
 * pcre2pattern(3) and ECMA-262, section 22.2.1, with the u flag.
 */
#include "wire/ecma.h"

#define DEPTH_MAX 64
#define SPACES "\\t\\n\\v\\f\\r "
#define SYNTAX "^$\\.*+?()[]{}|/"

struct ecma {
	struct buf *out;
	const char *at, *end;
	bool atom;            /* a quantifier may follow */
	bool floats;          /* alternatives: ^ anchors only one of them */
	bool looks;           /* \B or look-around */
	bool look[DEPTH_MAX]; /* open groups: is it a look-around? */
	size_t depth;
};

static int
peek(const struct ecma *e, size_t ahead)
{
	return (size_t)(e->end - e->at) > ahead ? (unsigned char)e->at[ahead]
						: -1;
}

static bool
copy(struct ecma *e, size_t n, bool atom)
{
	buf_add(e->out, e->at, n);
	e->at += n;
	e->atom = atom;
	return true;
}

static bool
translate(struct ecma *e, size_t used, const char *text, bool atom)
{
	buf_text(e->out, text);
	e->at += used;
	e->atom = atom;
	return true;
}

static bool
is_hex(int c)
{
	return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* Escapes that mean the same inside a class and outside. */
static bool
common_escape(struct ecma *e, bool in_class)
{
	int c = peek(e, 1);

	if (c < 0)
		return false;
	if (strchr("dDwWnrtf", c) != NULL || strchr(SYNTAX, c) != NULL)
		return copy(e, 2, true);
	if (c == 's')
		return translate(
			e, 2, in_class ? SPACES : "[" SPACES "]", true);
	if (c == 'x' && is_hex(peek(e, 2)) && is_hex(peek(e, 3)))
		return copy(e, 4, true);
	if (c == '-' && in_class)
		return copy(e, 2, true);
	/* PCRE2: any other punctuation after a backslash is literal. */
	if (c > ' ' && c < 0x7f && !(c >= '0' && c <= '9') &&
		!((c | 32) >= 'a' && (c | 32) <= 'z')) {
		e->at++;
		return copy(e, 1, true);
	}
	return false;
}

static bool
escape(struct ecma *e)
{
	switch (peek(e, 1)) {
	case 'A': return translate(e, 2, "^", false);
	case 'z': return translate(e, 2, "$", false);
	case 'B': e->looks = true; return copy(e, 2, false);
	case 'b': return copy(e, 2, false);
	case 'S': return translate(e, 2, "[^" SPACES "]", true);
	default: return common_escape(e, false);
	}
}

/* A class escape, such as \d: it cannot end a range. */
static bool
is_set(const struct ecma *e)
{
	return peek(e, 0) == '\\' && peek(e, 1) > 0 &&
		strchr("dDwWs", peek(e, 1)) != NULL;
}

static bool
class_item(struct ecma *e)
{
	int c = peek(e, 0);

	if (c == '\\')
		return common_escape(e, true);
	if (c == '[' && peek(e, 1) > 0 && strchr(":.=", peek(e, 1)) != NULL)
		return false;
	if (c == '[')
		return translate(e, 1, "\\[", true);
	return copy(e, 1, true);
}

static bool
class_body(struct ecma *e)
{
	while (peek(e, 0) != ']') {
		bool set = is_set(e);

		if (peek(e, 0) < 0 || !class_item(e))
			return false;
		if (peek(e, 0) != '-' || peek(e, 1) == ']')
			continue;
		/* PCRE2 and u mode agree only on a range of two characters. */
		if (set)
			return false;
		copy(e, 1, true);
		if (peek(e, 0) < 0 || is_set(e) || !class_item(e))
			return false;
		if (peek(e, 0) == '-' && peek(e, 1) != ']')
			return false;
	}
	return copy(e, 1, true);
}

static bool
character_class(struct ecma *e)
{
	copy(e, 1, false);
	if (peek(e, 0) == '^')
		copy(e, 1, false);
	/* PCRE2: a first ']' is a character of the class. */
	return peek(e, 0) != ']' && class_body(e);
}

static bool
open_group(struct ecma *e)
{
	size_t n = 1;
	bool look = false;

	if (peek(e, 1) == '?') {
		bool behind = peek(e, 2) == '<';
		int c = peek(e, behind ? 3 : 2);

		look = c == '=' || c == '!';
		if (!look && (behind || c != ':'))
			return false;
		n = behind ? 4 : 3;
	}
	if (e->depth == DEPTH_MAX)
		return false;
	e->looks |= look;
	e->look[e->depth++] = look;
	return copy(e, n, false);
}

static bool
group_end(struct ecma *e)
{
	if (e->depth == 0)
		return false;
	return copy(e, 1, !e->look[--e->depth]);
}

/* Length of {n}, {n,} or {n,m}; 0 when the brace is literal. */
static size_t
bounds(const struct ecma *e)
{
	size_t i = 1, digits = 0;

	while (peek(e, i) >= '0' && peek(e, i) <= '9') {
		i++;
		digits++;
	}
	if (digits == 0)
		return 0;
	if (peek(e, i) == ',')
		for (i++; peek(e, i) >= '0' && peek(e, i) <= '9';)
			i++;
	return peek(e, i) == '}' ? i + 1 : 0;
}

static bool
quantifier(struct ecma *e, size_t n)
{
	if (!e->atom)
		return false;
	copy(e, n, false);
	if (peek(e, 0) == '?')
		copy(e, 1, false);
	return true; /* a possessive '+' finds no atom */
}

/* "{,n}" is text to older PCRE2 and a quantifier to newer. */
static bool
brace(struct ecma *e)
{
	size_t n = bounds(e);

	if (n > 0)
		return quantifier(e, n);
	return peek(e, 1) != ',' && peek(e, 1) != ' ' &&
		translate(e, 1, "\\{", true);
}

static bool
translate_next(struct ecma *e)
{
	switch (peek(e, 0)) {
	case '\\': return escape(e);
	case '[': return character_class(e);
	case '(': return open_group(e);
	case ')': return group_end(e);
	case '*':
	case '+':
	case '?': return quantifier(e, 1);
	case '{': return brace(e);
	case '}': return translate(e, 1, "\\}", true);
	case ']': return translate(e, 1, "\\]", true);
	case '.': return translate(e, 1, "[^\\n]", true);
	case '|': e->floats |= e->depth == 0; return copy(e, 1, false);
	case '^':
	case '$': return copy(e, 1, false);
	default:
		return copy(e, utf8_sequence(e->at, (size_t)(e->end - e->at)),
			true);
	}
}

bool
ecma_write(struct buf *out, const char *source, size_t len)
{
	struct ecma e = { .out = out, .at = source, .end = source + len };

	if (!utf8_valid(source, len))
		return false;
	while (e.at < e.end)
		if (!translate_next(&e))
			return false;
	if (e.depth > 0 || !buf_ok(out))
		return false;
	/*
	 * V8 also tries a match between the halves of a surrogate pair, where
	 * PCRE2 has no character.  Only a search that is anchored at the start
	 * never gets there.
	 */
	return !e.looks || (!e.floats && out->data[0] == '^');
}

/* A character, or punctuation after a backslash; 0: anything else. */
static size_t
plain(struct ss_text t, size_t at, char *out)
{
	char c = t.data[at];

	if (c == '\\' && at + 1 < t.len && t.data[at + 1] != '\0' &&
		strchr(SYNTAX, t.data[at + 1]) != NULL) {
		*out = t.data[at + 1];
		return 2;
	}
	*out = c;
	return c == '\0' || strchr(SYNTAX, c) != NULL ? 0 : 1;
}

bool
ecma_choices(struct buf *out, const char *source, size_t len)
{
	struct ss_text t = { source, len };
	size_t start = text_starts(t, "^(?:") ? 4 : 2, n, word = 0;

	if (!text_starts(t, "^(") || !text_ends(t, ")$") || len < start + 3 ||
		!utf8_valid(source, len))
		return false;
	for (size_t at = start; at < len - 2; at += n) {
		bool between = source[at] == '|';
		char c = '\0';

		n = between ? 1 : plain(t, at, &c);
		if (n == 0 || at + n > len - 2 || (between && out->len == word))
			return false;
		buf_char(out, c);
		if (between)
			word = out->len;
	}
	return out->len > word && buf_char(out, '\0') && buf_ok(out);
}
