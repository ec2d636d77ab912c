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
