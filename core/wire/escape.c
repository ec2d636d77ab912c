/* SPDX-License-Identifier: MIT */
#include "wire/escape.h"

#define REPLACEMENT "\xef\xbf\xbd"
#define UNRESERVED                                                             \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"

/* What a byte of ASCII becomes; NULL: itself. */
static const char *
html_for(unsigned char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	case '\t':
	case '\n':
	case '\r': return NULL;
	default: return c < ' ' || c == 0x7f ? REPLACEMENT : NULL;
	}
}

/* Bytes that need no escape are copied in runs. */
void
escape_html(struct buf *out, const char *data, size_t len)
{
	size_t kept = 0, i = 0;

	while (i < len) {
		size_t n = utf8_sequence(data + i, len - i);
		const char *instead = n == 0 ? REPLACEMENT
			: n == 1             ? html_for((unsigned char)data[i])
					     : NULL;

		n += n == 0;
		if (instead != NULL) {
			buf_add(out, data + kept, i - kept);
			buf_text(out, instead);
			kept = i + n;
		}
		i += n;
	}
	buf_add(out, data + kept, len - kept);
}

void
escape_path(struct buf *out, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];

		if (c != '\0' && (c == '/' || strchr(UNRESERVED, c) != NULL))
			buf_char(out, data[i]);
		else
			buf_printf(out, "%%%02X", c);
	}
}

void
escape_line(struct buf *out, const char *data, size_t len)
{
	bool blank = false;

	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)data[i] <= ' ' || data[i] == 0x7f) {
			blank = true;
			continue;
		}
		if (blank && i > 0)
			buf_char(out, ' ');
		blank = false;
		buf_char(out, data[i]);
	}
}

/* The characters of a word that needs no quotes. */
static bool
is_one_word(const char *data, size_t len)
{
	size_t n = 0;

	while (n < len && data[n] != '\0' &&
		(strchr("/:=@%+,", data[n]) != NULL ||
			(data[n] != '~' &&
				strchr(UNRESERVED, data[n]) != NULL)))
		n++;
	return n == len && len > 0;
}

/*
 * Controls; characters of no width; those that change the direction of text
 * (Unicode Standard Annex 9) or are tags (U+E0000).
 */
static bool
is_unseen(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
		(c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
		(c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
		(c >= 0xe0000 && c <= 0xe0fff);
}

static uint32_t
codepoint_of(const char *data, size_t n)
{
	const unsigned char *s = (const unsigned char *)data;
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3fu);
	return c;
}

void
escape_shown(struct buf *out, const char *data, size_t len)
{
	if (is_one_word(data, len)) {
		buf_add(out, data, len);
		return;
	}
	buf_char(out, '"');
	for (size_t i = 0, n; i < len; i += n) {
		uint32_t c;

		n = utf8_sequence(data + i, len - i);
		if (n == 0) {
			buf_printf(out, "\\x%02x", (unsigned char)data[i]);
			n = 1;
			continue;
		}
		c = codepoint_of(data + i, n);
		if (is_unseen(c)) {
			if (c == '\n')
				buf_text(out, "\\n");
			else
				buf_printf(out, "\\u%04x", (unsigned)c);
			continue;
		}
		buf_text(out, c == '"' || c == '\\' ? "\\" : "");
		buf_add(out, data + i, n);
	}
	buf_char(out, '"');
}

void
escape_shell(struct buf *out, const char *data, size_t len)
{
	size_t plain = 0;

	while (plain < len && data[plain] != '\0' &&
		(data[plain] == '/' || data[plain] == ':' ||
			strchr(UNRESERVED, data[plain]) != NULL))
		plain++;
	if (plain == len && len > 0) {
		buf_add(out, data, len);
		return;
	}
	buf_char(out, '\'');
	for (size_t i = 0; i < len; i++)
		if (data[i] == '\'')
			buf_text(out, "'\\''");
		else
			buf_char(out, data[i]);
	buf_char(out, '\'');
}
