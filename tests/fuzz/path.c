/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes request paths.  Properties: what is clean stays so, cleaning twice
 * changes nothing, and a path that is refused as a path is refused as a URI
 * that spells it in escapes.
 */
#include "fuzz.h"
#include "wire/path.h"

#include <stdio.h>
#include <stdlib.h>

static void
check_clean(const char *out)
{
	char again[PATH_BYTES_MAX + 1];
	size_t len = strlen(out);

	promise(len <= PATH_BYTES_MAX && utf8_valid(out, len));
	promise(strstr(out, "..") == NULL && strstr(out, "//") == NULL);
	promise(out[0] != '/' && out[0] != '.' && strstr(out, "/.") == NULL);
	promise(len == 0 || out[len - 1] != '/');
	promise(ss_path_clean(out, len, again, sizeof(again), NULL) == SS_OK);
	promise(strcmp(out, again) == 0);
	promise(path_dir_len(out) <= len);
	promise(!path_word_climbs(text_of(out)));
}

/* The URI with each byte escaped has the same verdict, dot names aside. */
static void
check_escaped(const char *raw, size_t len, enum ss_err code)
{
	char *uri = malloc(3 * len + 1);

	if (uri == NULL)
		return;
	uri[0] = '\0';
	for (size_t i = 0; i < len; i++)
		snprintf(uri + 3 * i, 4, "%%%02x", (unsigned char)raw[i]);
	promise(path_check_uri(uri, NULL) ==
		(code == SS_NOT_FOUND ? SS_OK : code));
	free(uri);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *raw = (const char *)data;
	char out[PATH_BYTES_MAX + 1], *uri;
	struct ss_error err = { 0 };
	enum ss_err code = ss_path_clean(raw, size, out, sizeof(out), &err);

	promise(code == SS_OK || code == SS_BAD_REQUEST ||
		code == SS_PATH_REFUSED || code == SS_NOT_FOUND);
	promise(err.code == code);
	if (code == SS_OK)
		check_clean(out);
	check_escaped(raw, size, code);

	uri = strndup(raw, size);
	if (uri != NULL)
		path_check_uri(uri, NULL);
	free(uri);
	return 0;
}
