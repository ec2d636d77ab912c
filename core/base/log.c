/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/clock.h"

#define VALUE_MAX_BYTES 512
/* Bytes kept for the end of a cut line: a quote, cut=true, a brace, a NUL. */
#define END_BYTES 16
#define FIELDS_MAX (LOG_LINE_MAX - END_BYTES)

static void
append(struct log_line *l, const char *data, size_t len)
{
	memcpy(l->text + l->len, data, len);
	l->len += len;
}

/* Appends nothing more once something did not fit. */
static void
line_add(struct log_line *l, const char *data, size_t len)
{
	if (l->len + len > FIELDS_MAX)
		l->full = true;
	if (!l->full)
		append(l, data, len);
}

static void
add_char(struct log_line *l, char c)
{
	line_add(l, &c, 1);
}

static void
add_escape(struct log_line *l, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	const char code[] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };

	if (c == '"' || c == '\\')
		line_add(l, (const char[]){ '\\', (char)c }, 2);
	else
		line_add(l, code, sizeof(code));
}

/* As much of it as fits, cut at a character. */
static void
add_plain(struct log_line *l, const char *data, size_t len)
{
	size_t fits = utf8_cut(data, len, FIELDS_MAX - l->len);

	if (l->full)
		return;
	append(l, data, fits);
	l->full = fits < len;
}

/* Bytes at the start of value that are written as they are. */
static size_t
plain_run(const char *value, size_t len)
{
	size_t i = 0, n;

	for (; i < len; i += n) {
		unsigned char c = (unsigned char)value[i];

		if (c == '"' || c == '\\' || c < 0x20 || c == 0x7f)
			break;
		n = c < 0x80 ? 1 : utf8_sequence(value + i, len - i);
		if (n == 0)
			break;
	}
	return i;
}

static void
escaped(struct log_line *l, const char *value, size_t len)
{
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = plain_run(value + i, len - i);
		add_plain(l, value + i, n);
		if (i + n == len)
			break;
		if ((unsigned char)value[i + n] >= 0x80)
			line_add(l, "\xef\xbf\xbd", 3);
		else
			add_escape(l, (unsigned char)value[i + n]);
		n++;
	}
}

/* logfmt: a value needs no quotes when it holds no byte of the syntax. */
static bool
is_bare(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c > '=' ? c >= 0x7f || c == '\\'
			    : c <= ' ' || c == '"' || c == '=')
			return false;
	}
	return len > 0;
}

static void
key_of(struct log_line *l, const char *key)
{
	bool json = l->format == LOG_JSON;

	if (l->len > (json ? 1 : 0))
		add_char(l, json ? ',' : ' ');
	if (json)
		add_char(l, '"');
	line_add(l, key, strlen(key));
	line_add(l, json ? "\":" : "=", json ? 2 : 1);
}

void
log_begin(struct log_line *l, enum log_format format, const char *event)
{
	char stamp[CLOCK_STAMP];

	l->format = format;
	l->len = 0;
	l->full = false;
	if (format == LOG_JSON)
		add_char(l, '{');
	clock_stamp(stamp);
	log_text(l, "time", stamp);
	log_text(l, "event", event);
}

void
log_text(struct log_line *l, const char *key, const char *value)
{
	log_text_max(l, key, value, VALUE_MAX_BYTES);
}

void
log_text_max(struct log_line *l, const char *key, const char *value, size_t max)
{
	size_t start = l->len, len;
	bool bare;

	if (value == NULL)
		return;
	len = utf8_cut(value, strlen(value), max);
	bare = l->format == LOG_LOGFMT && is_bare(value, len);
	key_of(l, key);
	if (!bare)
		add_char(l, '"');
	if (l->full) {
		l->len = start;
		return;
	}
	if (bare)
		add_plain(l, value, len);
	else
		escaped(l, value, len);
	if (!bare)
		append(l, "\"", 1);
}

/* A number that does not fit is left out: it must not be cut. */
static void
add_number(struct log_line *l, const char *key, const char *digits, size_t len)
{
	size_t start = l->len;

	key_of(l, key);
	line_add(l, digits, len);
	if (l->full)
		l->len = start;
}

void
log_number(struct log_line *l, const char *key, int64_t value)
{
	char digits[NUMBER_MAX];
	size_t len = text_number(digits, value);

	add_number(l, key, digits, len);
}

void
log_ms(struct log_line *l, const char *key, uint64_t us)
{
	char digits[NUMBER_MAX];
	size_t len = text_ms(digits, us);

	add_number(l, key, digits, len);
}

void
log_end(struct log_line *l, void (*fn)(void *ctx, const char *line, size_t len),
	void *ctx)
{
	bool json = l->format == LOG_JSON;

	if (l->full)
		append(l, json ? ",\"cut\":true" : " cut=true", json ? 11 : 9);
	if (json)
		append(l, "}", 1);
	l->text[l->len] = '\0';
	if (fn != NULL)
		fn(ctx, l->text, l->len);
}
