/* SPDX-License-Identifier: MIT */
#include "wire/progress.h"

#define DIGITS_MAX 12 /* in thousandths it fits, and a double has it exactly */

/* --------------------------------------------------------------- numbers -- */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Digits with at most three decimals; the bytes they take, 0: none. */
static size_t
read_number(struct ss_text t, uint64_t *out)
{
	size_t i = 0, decimals = 0;
	uint64_t n = 0;

	for (; i < t.len && is_digit(t.data[i]); i++)
		n = n * 10 + (uint64_t)(t.data[i] - '0');
	if (i == 0 || i > DIGITS_MAX)
		return 0;
	if (i + 1 < t.len && t.data[i] == '.' && is_digit(t.data[i + 1]))
		for (i++; i < t.len && is_digit(t.data[i]); i++)
			if (decimals < 3) {
				n = n * 10 + (uint64_t)(t.data[i] - '0');
				decimals++;
			}
	for (; decimals < 3; decimals++)
		n *= 10;
	*out = n;
	return i;
}

/*
 * The length of the escape sequence at s, which begins with ESC (ECMA-48
 * section 5.3): a control sequence, a string up to its end, or one character.
 */
static size_t
escape_len(const char *s, size_t len)
{
	size_t i = 2;

	if (len < 2)
		return len;
	if (s[1] == '[') {
		while (i < len && (unsigned char)s[i] >= 0x20 &&
			(unsigned char)s[i] < 0x40)
			i++;
		return i < len ? i + 1 : len;
	}
	if (strchr("]PX^_", s[1]) == NULL || s[1] == '\0') {
		for (i = 1; i < len && s[i] >= ' ' && s[i] <= '/'; i++)
			;
		return i < len ? i + 1 : len;
	}
	for (; i < len && s[i] != '\a' && s[i] != '\033'; i++)
		;
	if (i < len && s[i] == '\033')
		i++;
	return i < len ? i + 1 : len;
}

/*
 * "12/50" or "24%" at the start, behind blanks and escape sequences, followed by
 * a blank, a colon, an escape sequence or nothing, so that a date or a path is
 * text.  The bytes they take; 0: the line has none.
 */
static size_t
read_counts(struct ss_text t, uint64_t *value, uint64_t *total)
{
	struct ss_text rest;
	size_t start = 0, n, more;

	while (start < t.len &&
		(is_blank(t.data[start]) || t.data[start] == '\033'))
		start += is_blank(t.data[start])
			? 1
			: escape_len(t.data + start, t.len - start);
	rest = (struct ss_text){ t.data + start, t.len - start };
	n = read_number(rest, value);
	if (n == 0 || n == rest.len)
		return 0;
	rest = (struct ss_text){ rest.data + n + 1, rest.len - n - 1 };
	if (rest.data[-1] == '%') {
		*total = 100000;
		more = 0;
	} else if (rest.data[-1] == '/') {
		more = read_number(rest, total);
		if (more == 0)
			return 0;
	} else {
		return 0;
	}
	if (more < rest.len && !is_blank(rest.data[more]) &&
		rest.data[more] != ':' && rest.data[more] != '\033')
		return 0;
	if (*total == 0 || *value > *total)
		return 0;
	return start + n + 1 + more +
		(more < rest.len && rest.data[more] == ':');
}

/* ----------------------------------------------------------------- lines -- */

static void
end_line(struct progress *p)
{
	uint64_t value, total;

	if (p->len == 0)
		return;
	memcpy(p->text, p->line, p->len);
	p->text_len = p->len;
	p->len = 0;
	p->news = true;
	if (read_counts((struct ss_text){ p->text, p->text_len }, &value,
		    &total) == 0)
		return;
	p->value = value;
	p->total = total;
}

void
progress_read(struct progress *p, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (data[i] == '\n' || data[i] == '\r')
			end_line(p);
		else if (p->len < sizeof(p->line))
			p->line[p->len++] = data[i];
}

/* --------------------------------------------------------------- message -- */

/* Of two bytes or more: C1 controls, marks that are not seen, line breaks. */
static bool
is_invisible(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;
	unsigned c;

	if (n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	if (n != 3)
		return false;
	c = (u[0] & 0xfu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
	return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* One character of the line at s, written to out when it is seen. */
static size_t
clean_one(const char *s, size_t len, struct buf *out)
{
	size_t n = utf8_sequence(s, len);

	if (n == 0) {
		buf_text(out, "\xef\xbf\xbd");
		return utf8_ill_formed(s, len);
	}
	if (s[0] == '\033')
		return escape_len(s, len);
	if (n == 1 && ((unsigned char)s[0] < ' ' || s[0] == 0x7f))
		buf_char(out, ' ');
	else if (!is_invisible(s, n))
		buf_add(out, s, n);
	return n;
}

bool
progress_message(const struct progress *p, bool counted, struct buf *out)
{
	struct buf all = BUF_INIT(sizeof(p->text) * 3);
	struct ss_text line = { p->text, p->text_len };
	uint64_t value, total;
	size_t from = 0, len;
	size_t i = counted ? read_counts(line, &value, &total) : 0;

	while (i < p->text_len)
		i += clean_one(p->text + i, p->text_len - i, &all);
	while (from < all.len && all.data[from] == ' ')
		from++;
	len = utf8_cut(all.data + from, all.len - from, PROGRESS_TEXT_MAX);
	while (len > 0 && all.data[from + len - 1] == ' ')
		len--;
	buf_add(out, all.data + from, len);
	out->failed |= all.failed;
	buf_release(&all);
	return buf_ok(out);
}
