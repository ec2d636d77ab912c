/* SPDX-License-Identifier: MIT */
#include "sandbox/grant_path.h"

#include <limits.h>
#include <stdio.h>

bool
grant_path_is_below(const char *path, const char *directory)
{
	size_t n = directory != NULL ? strlen(directory) : 0;

	if (n == 0)
		return false; /* a host without a site */
	if (n == 1 && directory[0] == '/')
		return path[0] == '/';
	return strncmp(path, directory, n) == 0 &&
		(path[n] == '\0' || path[n] == '/');
}

bool
grant_path_is_below_any(const char *path, const char *const *directories)
{
	for (; *directories != NULL; directories++)
		if (grant_path_is_below(path, *directories))
			return true;
	return false;
}

/* Removes ".", doubled and last slashes; false for "..". */
static bool
clean_path(char *path)
{
	char *in = path, *out = path, *start;
	size_t n;

	while (*in != '\0') {
		in += strspn(in, "/");
		n = strcspn(in, "/");
		start = in;
		in += n;
		if (n == 0 || (n == 1 && start[0] == '.'))
			continue;
		if (n == 2 && start[0] == '.' && start[1] == '.')
			return false;
		*out++ = '/';
		memmove(out, start, n);
		out += n;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
	return true;
}

bool
grant_path_outside(const char *path, const char *root, char *out, size_t cap,
	bool *optional)
{
	size_t len = strlen(path);
	int n;

	*optional = len > 1 && path[len - 1] == '?';
	len -= *optional;
	if (path[0] != '/' && (root == NULL || root[0] == '\0'))
		return false;
	/*
	 * clean_path begins each part with a slash: the copy starts with one.
	 */
	n = path[0] == '/'
		? snprintf(out, cap, "%.*s", (int)len, path)
		: snprintf(out, cap, "%s/%.*s", root, (int)len, path);
	return n > 0 && (size_t)n < cap && clean_path(out);
}

bool
grant_path_inside(const char *path, const char *root, const char *site,
	char *out, size_t cap, bool *optional)
{
	char whole[PATH_MAX];
	const char *rest = whole;
	int n;

	if (!grant_path_outside(path, root, whole, sizeof(whole), optional))
		return false;
	if (!grant_path_is_below(whole, root))
		site = "";
	else
		rest += strlen(root);
	n = snprintf(out, cap, "%s%s", site, rest);
	return n > 0 && (size_t)n < cap;
}
