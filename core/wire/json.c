/* SPDX-License-Identifier: MIT */
#include "wire/json.h"

#include <stdlib.h>

/* --------------------------------------------------------------- scanner -- */

/* A member's name between its quotes, not yet decoded. */
struct key {
	const char *at, *end;
};

struct scan {
	const char *start, *at, *end;
	struct ss_error *err;
	bool whole; /* a value or a whole container ends at `at` */
	size_t depth;
	char closer[JSON_DEPTH_MAX];
	size_t first_key[JSON_DEPTH_MAX]; /* of the open objects, in keys */
	struct key *keys;
	size_t key_count, key_cap;
};

static enum ss_err
scan_refuse(const struct scan *s, const char *what)
{
	return error_set(s->err, SS_BAD_REQUEST, "invalid JSON: %s at byte %zu",
		what, (size_t)(s->at - s->start) + 1);
}

static int
peek(const struct scan *s)
{
	return s->at < s->end ? (unsigned char)*s->at : -1;
}

static void
skip_space(struct scan *s)
{
	while (s->at < s->end &&
		(*s->at == ' ' || *s->at == '\n' || *s->at == '\r' ||
			*s->at == '\t'))
		s->at++;
}

/* Four hexadecimal digits, -1 when they are not. */
static long
read_hex4(const char *p, const char *end)
{
	long unit = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i], lower = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			unit = unit << 4 | (c - '0');
		else if (lower >= 'a' && lower <= 'f')
			unit = unit << 4 | (lower - 'a' + 10);
		else
			return -1;
	}
	return unit;
}

/* Reads a \u escape at *p; returns NULL, or what is wrong with it. */
static const char *
read_unicode(const char **p, const char *end, uint32_t *out)
{
	long high = read_hex4(*p + 2, end), low;

	if (high < 0)
		return "\\u without four hexadecimal digits";
	if (high == 0)
		return "\\u0000, which no string may hold,";
	*out = (uint32_t)high;
	*p += 6;
	if (high < 0xd800 || high > 0xdfff)
		return NULL;
	if (high > 0xdbff || end - *p < 6 || (*p)[0] != '\\' || (*p)[1] != 'u')
		return "a lone surrogate";
	low = read_hex4(*p + 2, end);
	if (low < 0xdc00 || low > 0xdfff)
		return "a lone surrogate";
	*out = 0x10000 + (((uint32_t)high & 0x3ff) << 10) +
		((uint32_t)low & 0x3ff);
	*p += 6;
	return NULL;
}

static const char *
read_escape(const char **p, const char *end, uint32_t *out)
{
	static const char written[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (end - *p < 2)
		return "an escape that is cut";
	if ((*p)[1] == 'u')
		return read_unicode(p, end, out);
	found = memchr(written, (*p)[1], sizeof(written) - 1);
	if (found == NULL)
		return "an unknown escape";
	*out = (unsigned char)meant[found - written];
	*p += 2;
	return NULL;
}

/* Scans from the opening quote to after the closing one. */
static enum ss_err
scan_string(struct scan *s)
{
	for (s->at++; peek(s) != '"';) {
		int c = peek(s);
		const char *wrong;
		uint32_t unused;
		size_t n;

		if (c < 0)
			return scan_refuse(s, "a string that does not end");
		if (c < 0x20)
			return scan_refuse(s, "a control byte in a string");
		if (c == '\\') {
			wrong = read_escape(&s->at, s->end, &unused);
			if (wrong != NULL)
				return scan_refuse(s, wrong);
			continue;
		}
		n = utf8_sequence(s->at, (size_t)(s->end - s->at));
		if (n == 0)
			return scan_refuse(s, "a byte that is not UTF-8");
		s->at += n;
	}
	s->at++;
	return SS_OK;
}

static size_t
scan_digits(struct scan *s)
{
	const char *first = s->at;

	while (peek(s) >= '0' && peek(s) <= '9')
		s->at++;
	return (size_t)(s->at - first);
}

static enum ss_err
scan_number(struct scan *s)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0')
		s->at++;
	else if (scan_digits(s) == 0)
		return scan_refuse(s, "a number without digits");
	if (peek(s) == '.') {
		s->at++;
		if (scan_digits(s) == 0)
			return scan_refuse(s, "a fraction without digits");
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		if (scan_digits(s) == 0)
			return scan_refuse(s, "an exponent without digits");
	}
	return SS_OK;
}

static enum ss_err
scan_word(struct scan *s, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
		return scan_refuse(s, "an unknown word");
	s->at += n;
	return SS_OK;
}

static enum ss_err
scan_scalar(struct scan *s)
{
	s->whole = true;
	switch (peek(s)) {
	case '"': return scan_string(s);
	case 't': return scan_word(s, "true");
	case 'f': return scan_word(s, "false");
	case 'n': return scan_word(s, "null");
	case -1: return scan_refuse(s, "the end where a value is expected");
	default: break;
	}
	if (peek(s) == '-' || (peek(s) >= '0' && peek(s) <= '9'))
		return scan_number(s);
	return scan_refuse(s, "something that is no value");
}

/* The next code point of a name that was scanned before. */
static uint32_t
key_next(const char **p, const char *end)
{
	unsigned char lead = (unsigned char)**p;
	uint32_t c = lead;

	if (lead == '\\') {
		read_escape(p, end, &c);
		return c;
	}
	++*p;
	if (lead < 0x80)
		return c;
	c &= lead < 0xe0 ? 0x1f : lead < 0xf0 ? 0x0f : 0x07;
	for (; *p < end && ((unsigned char)**p & 0xc0) == 0x80; ++*p)
		c = c << 6 | ((unsigned char)**p & 0x3f);
	return c;
}

/* Compares names as decoded: "\u0061" is "a". */
static int
key_compare(const void *left, const void *right)
{
	struct key a = *(const struct key *)left;
	struct key b = *(const struct key *)right;

	while (a.at < a.end && b.at < b.end) {
		uint32_t x = key_next(&a.at, a.end), y = key_next(&b.at, b.end);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a.at < a.end) - (b.at < b.end);
}

static enum ss_err
remember_key(struct scan *s, const char *at, const char *end)
{
	if (s->key_count == s->key_cap) {
		size_t cap = s->key_cap ? s->key_cap * 2 : 32;
		struct key *keys = reallocarray(s->keys, cap, sizeof(*keys));

		if (keys == NULL)
			return error_memory(s->err);
		s->keys = keys;
		s->key_cap = cap;
	}
	s->keys[s->key_count++] = (struct key){ at, end };
	return SS_OK;
}

/* Scans a member's name and its colon. */
static enum ss_err
scan_name(struct scan *s)
{
	const char *name;
	enum ss_err code;

	skip_space(s);
	if (peek(s) != '"')
		return scan_refuse(s, "no name where a member is expected");
	name = s->at + 1;
	code = scan_string(s);
	if (code == SS_OK)
		code = remember_key(s, name, s->at - 1);
	if (code != SS_OK)
		return code;
	skip_space(s);
	if (peek(s) != ':')
		return scan_refuse(s, "no colon after a member's name");
	s->at++;
	return SS_OK;
}

/*
 * Closes the innermost container.  The names of an object are sorted and each
 * compared with the next one, so that many members cost n log n.
 */
static enum ss_err
scan_close(struct scan *s)
{
	size_t first = s->first_key[--s->depth];
	size_t count = s->key_count - first;
	struct key *keys;

	s->at++;
	s->whole = true;
	s->key_count = first;
	if (count < 2)
		return SS_OK;
	keys = s->keys + first;
	qsort(keys, count, sizeof(*keys), key_compare);
	for (size_t i = 1; i < count; i++) {
		if (key_compare(&keys[i - 1], &keys[i]) != 0)
			continue;
		s->at = keys[i - 1].at > keys[i].at ? keys[i - 1].at
						    : keys[i].at;
		return scan_refuse(s, "a member that is there twice,");
	}
	return SS_OK;
}

static bool
in_object(const struct scan *s)
{
	return s->closer[s->depth - 1] == '}';
}

static enum ss_err
scan_open(struct scan *s)
{
	if (s->depth == JSON_DEPTH_MAX)
		return scan_refuse(s, "too many levels");
	s->closer[s->depth] = *s->at == '{' ? '}' : ']';
	s->first_key[s->depth++] = s->key_count;
	s->at++;
	s->whole = false;
	skip_space(s);
	if (peek(s) == s->closer[s->depth - 1])
		return scan_close(s);
	return in_object(s) ? scan_name(s) : SS_OK;
}

/* Scans what follows a value in a container: a comma, or the end. */
static enum ss_err
scan_after(struct scan *s)
{
	skip_space(s);
	if (peek(s) == s->closer[s->depth - 1])
		return scan_close(s);
	if (peek(s) != ',')
		return scan_refuse(
			s, "neither a comma nor the end of what is open");
	s->at++;
	s->whole = false;
	return in_object(s) ? scan_name(s) : SS_OK;
}

static enum ss_err
scan_value(struct scan *s)
{
	enum ss_err code;

	do {
		skip_space(s);
		if (peek(s) == '{' || peek(s) == '[')
			code = scan_open(s);
		else
			code = scan_scalar(s);
		while (code == SS_OK && s->whole && s->depth > 0)
			code = scan_after(s);
	} while (code == SS_OK && !s->whole);
	return code;
}

enum ss_err
json_check(const char *text, size_t len, struct ss_error *err)
{
	struct scan s = {
		.start = text, .at = text, .end = text + len, .err = err
	};
	enum ss_err code = scan_value(&s);

	if (code == SS_OK) {
		skip_space(&s);
		if (s.at < s.end)
			code = scan_refuse(&s, "something after the value");
	}
	free(s.keys);
	return code;
}

/* The length of the string that begins at text. */
static size_t
string_len(const char *text, size_t len)
{
	size_t i = 1;

	while (i < len && text[i] != '"')
		i += text[i] == '\\' ? 2 : 1;
	return i < len ? i + 1 : len;
}

bool
json_compact(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		n = 0;
		while (i + n < len && text[i + n] != '"' &&
			memchr(" \t\r\n", text[i + n], 4) == NULL)
			n++;
		if (n == 0 && text[i] == '"')
			n = string_len(text + i, len - i);
		buf_add(out, text + i, n);
		n += n == 0;
	}
	return buf_ok(out);
}

/* ---------------------------------------------------------------- strings -- */

/*
 * How many bytes at the start are ASCII that a JSON string holds without an
 * escape.  Eight at a time: a byte is special when it is above 0x7f, below
 * 0x20, a quote or a backslash ("has a byte less than n", Bit Twiddling Hacks).
 */
static size_t
plain_run(const char *data, size_t len)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		uint64_t w, quote, slash;

		memcpy(&w, data + i, sizeof(w));
		quote = w ^ ones * '"';
		slash = w ^ ones * '\\';
		if (((w | (w - ones * 0x20) | (quote - ones) | (slash - ones)) &
			    tops) != 0)
			break;
	}
	for (; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c < 0x20 || c > 0x7f || c == '"' || c == '\\')
			break;
	}
	return i;
}

/* Writes the first byte, or ill-formed bytes, of data; returns how many. */
static size_t
add_special(struct buf *out, const char *data, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	static const char written[] = "\"\\bfnrt", meant[] = "\"\\\b\f\n\r\t";
	unsigned char c = (unsigned char)*data;
	const char *found = memchr(meant, c, sizeof(meant) - 1);
	char escape[] = "\\u0000";

	if (found != NULL) {
		escape[1] = written[found - meant];
		buf_add(out, escape, 2);
		return 1;
	}
	if (c < 0x20) {
		escape[4] = hex[c >> 4];
		escape[5] = hex[c & 15];
		buf_add(out, escape, 6);
		return 1;
	}
	buf_add(out, "\xef\xbf\xbd", 3);
	return utf8_ill_formed(data, len);
}

bool
json_string(struct buf *out, const char *data, size_t len)
{
	size_t done = 0, n;

	buf_char(out, '"');
	for (size_t i = 0; i < len;) {
		n = plain_run(data + i, len - i);
		if (n == 0 && (unsigned char)data[i] >= 0x80)
			n = utf8_sequence(data + i, len - i);
		i += n;
		if (n > 0 && i < len)
			continue;
		buf_add(out, data + done, i - done);
		if (i < len)
			i += add_special(out, data + i, len - i);
		done = i;
	}
	return buf_char(out, '"');
}

size_t
json_fit(const char *data, size_t len, size_t most, size_t *used)
{
	struct buf one = BUF_INIT(16);
	size_t i = 0, n, cost;

	*used = 2; /* the quotes */
	while (i < len) {
		n = cost = plain_run(data + i, len - i);
		if (n > 0 && *used < most && cost > most - *used)
			n = cost = most - *used;
		if (n == 0 && (unsigned char)data[i] >= 0x80)
			n = cost = utf8_sequence(data + i, len - i);
		if (n == 0) {
			buf_clear(&one);
			n = add_special(&one, data + i, len - i);
			cost = one.len;
		}
		if (*used + cost > most)
			break;
		*used += cost;
		i += n;
	}
	buf_release(&one);
	return i;
}
