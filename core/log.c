/* SPDX-License-Identifier: MIT */
#include "log.h"

#include "clock.h"

#define LINE_MAX_BYTES 4096
#define VALUE_MAX_BYTES 512

static void
escaped(struct buf *b, const char *value, size_t len)
{
	for (size_t i = 0, n; i < len; i += n) {
		unsigned char c = (unsigned char)value[i];

		n = utf8_sequence(value + i, len - i);
		if (n == 0) {
			n = 1;
			buf_text(b, "\xef\xbf\xbd");
		} else if (c == '"' || c == '\\') {
			buf_printf(b, "\\%c", c);
		} else if (c < 0x20 || c == 0x7f) {
			buf_printf(b, "\\u%04x", c);
		} else {
			buf_add(b, value + i, n);
		}
	}
}

/* logfmt: a value stands bare when nothing in it can be taken for syntax. */
static bool
is_bare(const char *value, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)value[i];

		if (c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\')
			return false;
	}
	return len > 0;
}

static void
key_of(struct log_line *l, const char *key)
{
	bool json = l->format == LOG_JSON;

	if (l->buf.len > (json ? 1 : 0))
		buf_char(&l->buf, json ? ',' : ' ');
	if (json)
		buf_char(&l->buf, '"');
	buf_text(&l->buf, key);
	buf_text(&l->buf, json ? "\":" : "=");
}

void
log_begin(struct log_line *l, enum log_format format, const char *event)
{
	char stamp[32];

	*l = (struct log_line){ .buf = BUF_INIT(LINE_MAX_BYTES),
		.format = format };
	if (format == LOG_JSON)
		buf_char(&l->buf, '{');
	clock_stamp(stamp);
	log_text(l, "time", stamp);
	log_text(l, "event", event);
}

void
log_text(struct log_line *l, const char *key, const char *value)
{
	size_t len, full;

	if (value == NULL)
		return;
	full = strlen(value);
	len = utf8_cut(value, full, VALUE_MAX_BYTES);
	key_of(l, key);
	if (l->format == LOG_LOGFMT && is_bare(value, len)) {
		buf_add(&l->buf, value, len);
		return;
	}
	buf_char(&l->buf, '"');
	escaped(&l->buf, value, len);
	buf_char(&l->buf, '"');
}

void
log_number(struct log_line *l, const char *key, int64_t value)
{
	key_of(l, key);
	buf_number(&l->buf, value);
}

void
log_ms(struct log_line *l, const char *key, uint64_t us)
{
	char fraction[] = { '.', (char)('0' + us / 100 % 10),
		(char)('0' + us / 10 % 10), (char)('0' + us % 10) };

	log_number(l, key, (int64_t)(us / 1000));
	buf_add(&l->buf, fraction, sizeof(fraction));
}

void
log_end(struct log_line *l, void (*fn)(void *ctx, const char *line, size_t len),
	void *ctx)
{
	if (l->format == LOG_JSON)
		buf_char(&l->buf, '}');
	if (fn != NULL && buf_ok(&l->buf))
		fn(ctx, l->buf.data, l->buf.len);
	buf_release(&l->buf);
}
