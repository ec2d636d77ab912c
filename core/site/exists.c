/* SPDX-License-Identifier: MIT */
#include "site/exists.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "page/toolcall.h"
#include "wire/path.h"

/*
 * Is there such a file?  ENOENT also for what GET does not show: a dot entry,
 * a path or link that leaves the directory.
 */
static int
find_file(const struct documents *documents, const struct ss_document *page,
	struct ss_text value)
{
	const struct root dir = { .fd = page->dir_fd,
		.walk = documents->root.walk };
	char path[PATH_BYTES_MAX + 1];
	int fd, failed;

	if (value.len == 0 || value.data[0] == '/' || dir.fd < 0 ||
		ss_path_clean(value.data, value.len, path, sizeof(path),
			NULL) != SS_OK)
		return ENOENT;
	failed = root_find(&dir, path, O_PATH, &fd);
	if (failed == 0)
		close(fd);
	return failed;
}

static enum ss_err
check_argument(const struct command *command, const struct argument *a,
	const struct documents *documents, const struct ss_document *page,
	struct ss_error *err)
{
	struct ss_text value = command->values[a->index];
	char name[TOOLCALL_PROPERTY_MAX + 1];
	int failed;

	if (value.data == NULL || argument_is_authors(a, value))
		return SS_OK;
	failed = find_file(documents, page, value);
	if (failed == 0)
		return SS_OK;
	if (failed == ENOMEM || failed == EMFILE || failed == ENFILE)
		return error_internal(err, failed, "openat2 of an argument");
	toolcall_property(command->spec, a, name);
	error_set(err, SS_BAD_REQUEST,
		"the argument \"%s\" names no file: \"%.*s\"", name,
		(int)utf8_cut(value.data, value.len, 64), value.data);
	error_hint(err,
		"it takes the path of a file that exists in the page's "
		"directory or below it");
	return SS_BAD_REQUEST;
}

enum ss_err
exists_check(const struct command *command, const struct documents *documents,
	const struct ss_document *page, struct ss_error *err)
{
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < command->spec->argument_count;
		i++) {
		const struct argument *a = command->spec->arguments[i];

		if (a->exists)
			code = check_argument(command, a, documents, page, err);
	}
	return code;
}

bool
exists_below(const struct documents *documents, const struct ss_document *page,
	struct ss_text path)
{
	return find_file(documents, page, path) == 0;
}
