/* SPDX-License-Identifier: MIT */
#include "mcp/uri.h"
#include "wire/path.h"

static bool
is_unreserved(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		strchr("-._~/", c) != NULL;
}

void
mcp_uri_escape(struct mcp *m, const char *path)
{
	for (const char *c = path; *c != '\0'; c++)
		if (is_unreserved(*c))
			buf_char(m->out, *c);
		else
			buf_printf(m->out, "%%%02X", (unsigned char)*c);
}

/* The base may be written without its last slash. */
static const char *
slash_behind(const char *base)
{
	return text_ends(text_of(base), "/") ? "" : "/";
}

void
mcp_uri_begin(struct mcp *m)
{
	const char *base = m->site->config.mcp.uri;

	buf_printf(m->out, "\"%s%s", base, slash_behind(base));
}

void
mcp_uri(struct mcp *m, const char *path)
{
	mcp_uri_begin(m);
	mcp_uri_escape(m, path);
	buf_char(m->out, '"');
}

static int
hex_value(char c)
{
	char lower = (char)(c | 0x20);

	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

const char *
mcp_uri_path(struct mcp *m, const char *uri)
{
	const char *base = m->site->config.mcp.uri;
	const char *slash = slash_behind(base);
	size_t n = strlen(base);

	if (strncmp(uri, base, n) != 0 ||
		strncmp(uri + n, slash, strlen(slash)) != 0)
		return NULL;
	return mcp_uri_decode(m, uri + n + strlen(slash));
}

const char *
mcp_uri_decode(struct mcp *m, const char *uri)
{
	char *plain, *path;
	size_t len = 0;

	plain = arena_alloc(&m->site->arena, strlen(uri) + 1);
	path = arena_alloc(&m->site->arena, PATH_BYTES_MAX + 1);
	if (plain == NULL || path == NULL)
		return NULL;
	for (; *uri != '\0'; uri++) {
		if (*uri == '?' || *uri == '#')
			return NULL;
		plain[len] = *uri;
		if (*uri == '%') {
			int high = hex_value(uri[1]);
			int low = high >= 0 ? hex_value(uri[2]) : -1;

			if (low < 0)
				return NULL;
			plain[len] = (char)(high << 4 | low);
			uri += 2;
		}
		len++;
	}
	if (len > 0 && plain[0] == '/') /* the base has the slash */
		return NULL;
	return ss_path_clean(plain, len, path, PATH_BYTES_MAX + 1, NULL) ==
			SS_OK
		? path
		: NULL;
}
