/* SPDX-License-Identifier: MIT */
#include "tools/wildcard.h"

/* ---------------------------------------------------------------- braces */

/* A group: its braces, and whether it has a comma. */
struct group {
	size_t open, close;
};

static size_t
escaped(const char *s)
{
	return s[0] == '\\' && s[1] != '\0' ? 2 : 1;
}

/* The end of the brace at s[open]; 0: none, or no comma between. */
static size_t
group_end(const char *s, size_t open)
{
	size_t depth = 0;
	bool comma = false;

	for (size_t i = open; s[i] != '\0'; i += escaped(s + i)) {
		if (s[i] == '{')
			depth++;
		else if (s[i] == ',' && depth == 1)
			comma = true;
		else if (s[i] == '}' && --depth == 0)
			return comma ? i : 0;
	}
	return 0;
}

static bool
find_group(const char *s, struct group *g)
{
	for (size_t i = 0; s[i] != '\0'; i += escaped(s + i)) {
		if (s[i] != '{' || (g->close = group_end(s, i)) == 0)
			continue;
		g->open = i;
		return true;
	}
	return false;
}

/* The end of the item of a group that begins at i. */
static size_t
item_end(const char *s, size_t i, size_t close)
{
	size_t depth = 0;

	for (; i < close; i += escaped(s + i)) {
		if (s[i] == ',' && depth == 0)
			return i;
		depth += s[i] == '{';
		depth -= s[i] == '}' && depth > 0;
	}
	return close;
}

static enum ss_err
too_many(struct ss_error *err)
{
	error_set(err, SS_BAD_REQUEST,
		"the braces of this pattern become more than %d patterns",
		WILDCARD_LISTS);
	error_hint(err, "use several patterns");
	return SS_BAD_REQUEST;
}

/* Appends a pattern for every item of the group. */
static enum ss_err
write_out(struct arena *arena, const char *s, const struct group *g,
	const char **list, size_t *count, struct ss_error *err)
{
	size_t at = g->open, end;

	do {
		at++;
		end = item_end(s, at, g->close);
		if (*count == WILDCARD_LISTS)
			return too_many(err);
		list[*count] = arena_printf(arena, "%.*s%.*s%s", (int)g->open,
			s, (int)(end - at), s + at, s + g->close + 1);
		if (list[(*count)++] == NULL)
			return error_memory(err);
		at = end;
	} while (at < g->close);
	return SS_OK;
}

/* A pattern that still has braces is taken from the end of the list. */
enum ss_err
wildcard_expand(struct arena *arena, const char *pattern,
	const char *out[static WILDCARD_LISTS], size_t *count,
	struct ss_error *err)
{
	const char *todo[WILDCARD_LISTS];
	size_t left = 1, len = strlen(pattern);
	enum ss_err code = SS_OK;
	struct group g;

	*count = 0;
	if (len == 0 || len > WILDCARD_BYTES)
		return error_set(err, SS_BAD_REQUEST,
			"the pattern is empty or longer than %d bytes",
			WILDCARD_BYTES);
	todo[0] = arena_copy(arena, pattern, len);
	if (todo[0] == NULL)
		return error_memory(err);
	while (code == SS_OK && left > 0) {
		const char *s = todo[--left];

		if (find_group(s, &g))
			code = write_out(arena, s, &g, todo, &left, err);
		else if (*count == WILDCARD_LISTS)
			code = too_many(err);
		else
			out[(*count)++] = s;
	}
	return code;
}

/* -------------------------------------------------------------- one part */

/* Decodes the character at s; an ill-formed byte sorts after all others. */
static size_t
decode(const char *s, size_t len, uint32_t *out)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = utf8_sequence(s, len);

	switch (n) {
	case 2: *out = (u[0] & 0x1fu) << 6 | (u[1] & 0x3fu); return n;
	case 3:
		*out = (u[0] & 0x0fu) << 12 | (u[1] & 0x3fu) << 6 |
			(u[2] & 0x3fu);
		return n;
	case 4:
		*out = (u[0] & 0x07u) << 18 | (u[1] & 0x3fu) << 12 |
			(u[2] & 0x3fu) << 6 | (u[3] & 0x3fu);
		return n;
	default: *out = n == 1 ? u[0] : 0x110000u + u[0]; return 1;
	}
}

static bool
between(uint32_t c, uint32_t low, uint32_t high)
{
	return c >= low && c <= high;
}

/* [:name:] of ASCII, as in the C locale. */
static bool
in_named(struct ss_text name, uint32_t c)
{
	bool upper = between(c, 'A', 'Z'), lower = between(c, 'a', 'z');
	bool digit = between(c, '0', '9');
	const struct {
		const char *name;
		bool in;
	} all[] = { { "alpha", upper || lower }, { "digit", digit },
		{ "alnum", upper || lower || digit }, { "upper", upper },
		{ "lower", lower }, { "space", c == ' ' || between(c, 9, 13) },
		{ "blank", c == ' ' || c == '\t' },
		{ "xdigit", digit || between(c | 0x20, 'a', 'f') },
		{ "punct", between(c, '!', '~') && !upper && !lower && !digit },
		{ "cntrl", c < 32 || c == 127 },
		{ "graph", between(c, '!', '~') },
		{ "print", between(c, ' ', '~') } };

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (text_is(name, all[i].name))
			return all[i].in;
	return false;
}

/* One character of a class, or one end of a range. */
static const char *
class_char(const char *p, const char *end, uint32_t *out)
{
	if (*p == '\\' && p + 1 < end)
		p++;
	return p + decode(p, (size_t)(end - p), out);
}

/* Reads "[:name:]" at p; returns its end, or NULL. */
static const char *
class_name(const char *p, const char *end, struct ss_text *name)
{
	const char *q;

	if (end - p < 4 || p[0] != '[' || p[1] != ':')
		return NULL;
	for (q = p + 2; q + 1 < end; q++)
		if (q[0] == ':' && q[1] == ']') {
			*name = (struct ss_text){ p + 2, (size_t)(q - p) - 2 };
			return q + 2;
		}
	return NULL;
}

/* Is c in the class at p?  Returns its end; NULL: the bracket is text. */
static const char *
in_class(const char *p, const char *end, uint32_t c, bool *in)
{
	bool inverted = p + 1 < end && (p[1] == '!' || p[1] == '^');
	const char *first = p + 1 + inverted, *q = first, *behind;
	struct ss_text name;
	uint32_t low, high;

	*in = false;
	while (q < end && (*q != ']' || q == first)) {
		if ((behind = class_name(q, end, &name)) != NULL) {
			*in |= in_named(name, c);
			q = behind;
			continue;
		}
		q = class_char(q, end, &low);
		high = low;
		if (end - q >= 2 && q[0] == '-' && q[1] != ']')
			q = class_char(q + 1, end, &high);
		*in |= between(c, low, high);
	}
	*in ^= inverted;
	return q < end ? q + 1 : NULL;
}

/* Does the element at p (no star) match c?  *next is its end. */
static bool
element_matches(const char *p, const char *end, uint32_t c, const char **next)
{
	const char *behind;
	uint32_t own;
	bool in;

	if (*p == '?') {
		*next = p + 1;
		return true;
	}
	if (*p == '[' && (behind = in_class(p, end, c, &in)) != NULL) {
		*next = behind;
		return in;
	}
	*next = class_char(p, end, &own);
	return own == c;
}

/* Backtracks to the last star only: an earlier one cannot do better. */
bool
wildcard_part(
	const char *part, size_t part_len, const char *name, size_t name_len)
{
	const char *p = part, *end = part + part_len, *s = name;
	const char *stop = name + name_len, *star = NULL, *mark = s, *next;
	uint32_t c;
	size_t n;

	if (name_len > 0 && name[0] == '.' &&
		!(part_len > 0 && part[part[0] == '\\' && part_len > 1] == '.'))
		return false;
	while (s < stop) {
		n = decode(s, (size_t)(stop - s), &c);
		if (p < end && *p == '*') {
			star = ++p;
			mark = s;
		} else if (p < end && element_matches(p, end, c, &next)) {
			p = next;
			s += n;
		} else if (star != NULL) {
			mark += decode(mark, (size_t)(stop - mark), &c);
			p = star;
			s = mark;
		} else {
			return false;
		}
	}
	while (p < end && *p == '*')
		p++;
	return p == end;
}

bool
wildcard_is_text(const char *part, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (part[i] == '\\')
			i++;
		else if (memchr("*?[", part[i], 3) != NULL)
			return false;
	}
	return true;
}

size_t
wildcard_unescape(char *part, size_t len)
{
	size_t out = 0;

	for (size_t i = 0; i < len; i++) {
		if (part[i] == '\\' && i + 1 < len)
			i++;
		part[out++] = part[i];
	}
	return out;
}

bool
wildcard_is_deep(const char *part, size_t len)
{
	return len == 2 && part[0] == '*' && part[1] == '*';
}

/* ------------------------------------------------------------- the whole */

static struct ss_text
next_part(const char **at)
{
	struct ss_text part;

	*at += strspn(*at, "/");
	part = (struct ss_text){ *at, strcspn(*at, "/") };
	*at += part.len;
	return part;
}

/* As wildcard_part, with parts in place of characters. */
bool
wildcard_path(const char *pattern, const char *path)
{
	const char *p = pattern, *s = path, *star = NULL, *mark = s;
	const char *behind_p, *behind_s;
	struct ss_text part, name;

	for (;;) {
		behind_p = p;
		behind_s = s;
		part = next_part(&behind_p);
		name = next_part(&behind_s);
		if (wildcard_is_deep(part.data, part.len)) {
			star = p = behind_p;
			mark = s;
			continue;
		}
		if (name.len == 0 && part.len == 0)
			return true;
		if (name.len > 0 && part.len > 0 &&
			wildcard_part(
				part.data, part.len, name.data, name.len)) {
			p = behind_p;
			s = behind_s;
			continue;
		}
		/* One more part for `**`, which matches no dot entries. */
		name = next_part(&mark);
		if (star == NULL || name.len == 0 || name.data[0] == '.')
			return false;
		p = star;
		s = mark;
	}
}
