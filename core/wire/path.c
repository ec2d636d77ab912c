/* SPDX-License-Identifier: MIT */
/*
 * Request paths as text (statespace-protocol(7), PATHS).  Only refuses and
 * normalizes: the kernel decides what a path names, see files/root.c.
 */
#include "wire/path.h"

/*
 * Refuses what neither a path nor a URI may hold once decoded: 400 for bytes
 * that are no text first, then 403 for a path that leads out
 * (statespace-protocol(7), PATHS).
 */
static enum ss_err
check_text(const char *path, size_t len, struct ss_error *err)
{
	if (len > PATH_BYTES_MAX)
		return error_set(err, SS_BAD_REQUEST,
			"the path is longer than %d bytes", PATH_BYTES_MAX);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
			return error_set(err, SS_BAD_REQUEST,
				"the path holds a control byte");
	if (!utf8_valid(path, len))
		return error_set(err, SS_BAD_REQUEST, "the path is not UTF-8");
	if (memmem(path, len, "..", 2) != NULL) {
		error_set(err, SS_PATH_REFUSED, "the path holds \"..\"");
		error_hint(err, "paths begin at the root of the site");
		return SS_PATH_REFUSED;
	}
	if (len >= 2 && path[0] == '/' && path[1] == '/')
		return error_set(err, SS_PATH_REFUSED,
			"the path begins with more than one slash");
	return SS_OK;
}

enum ss_err
ss_path_clean(const char *raw, size_t len, char *out, size_t cap,
	struct ss_error *err)
{
	enum ss_err code = check_text(raw, len, err);
	size_t used = 0, end;

	if (code != SS_OK)
		return code;
	if (cap <= len)
		return error_set(err, SS_BAD_REQUEST,
			"the path is longer than %zu bytes", cap ? cap - 1 : 0);
	for (size_t at = 0; at < len; at = end + 1) {
		for (end = at; end < len && raw[end] != '/'; end++)
			;
		if (end == at || (end == at + 1 && raw[at] == '.'))
			continue;
		if (raw[at] == '.')
			return error_set(err, SS_NOT_FOUND, "no such file");
		if (used > 0)
			out[used++] = '/';
		memcpy(out + used, raw + at, end - at);
		used += end - at;
	}
	out[used] = '\0';
	return SS_OK;
}

/* "http://host/x" to "/x"; a URI that is a path stays (RFC 9112 3.2). */
static const char *
skip_authority(const char *uri)
{
	size_t scheme = strcspn(uri, ":/?");

	if (strncmp(uri + scheme, "://", 3) != 0)
		return uri;
	uri += scheme + 3;
	return uri + strcspn(uri, "/?");
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

enum ss_err
path_check_uri(const char *uri, struct ss_error *err)
{
	char path[PATH_BYTES_MAX + 1];
	const char *p = skip_authority(uri), *end = p + strcspn(p, "?");
	size_t len = 0;

	/* Keep one byte beyond the limit: check_text() refuses it. */
	for (; p < end && len < sizeof(path); p++) {
		int high, low;

		if (*p != '%') {
			path[len++] = *p;
			continue;
		}
		high = hex_digit(p[1]);
		low = high < 0 ? -1 : hex_digit(p[2]);
		if (low < 0)
			return error_set(err, SS_BAD_REQUEST,
				"the path holds a broken %%-escape");
		path[len++] = (char)(high << 4 | low);
		p += 2;
	}
	return check_text(path, len, err);
}

bool
path_is_page(const char *path)
{
	struct ss_text t = text_of(path);

	return text_ends(t, ".md") || text_ends(t, ".markdown");
}

size_t
path_dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) : 0;
}

bool
path_word_climbs(struct ss_text word)
{
	for (size_t i = 0; i + 1 < word.len; i++) {
		if (word.data[i] != '.' || word.data[i + 1] != '.')
			continue;
		if (i > 0 && word.data[i - 1] != '/' && word.data[i - 1] != '=')
			continue;
		if (i + 2 == word.len || word.data[i + 2] == '/')
			return true;
	}
	return false;
}
