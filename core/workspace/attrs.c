/* SPDX-License-Identifier: MIT */
#include "workspace/attrs.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#define OF_USER "user."
#define OF_OVERLAY "user.overlay."

struct attrs {
	char names[XATTR_LIST_MAX];
	size_t len;
};

static bool
is_own(const char *name)
{
	return strncmp(name, OF_USER, sizeof(OF_USER) - 1) == 0 &&
		strncmp(name, OF_OVERLAY, sizeof(OF_OVERLAY) - 1) != 0;
}

static void
list(int fd, struct attrs *a)
{
	ssize_t n = flistxattr(fd, a->names, sizeof(a->names));

	a->len = n > 0 ? (size_t)n : 0;
}

/* The next one of ours; NULL at the end. */
static const char *
next(const struct attrs *a, size_t *at)
{
	while (*at < a->len) {
		const char *name = a->names + *at;

		*at += strlen(name) + 1;
		if (is_own(name))
			return name;
	}
	return NULL;
}

static size_t
count(const struct attrs *a)
{
	size_t at = 0, n = 0;

	while (next(a, &at) != NULL)
		n++;
	return n;
}

static bool
value_same(int left, int right, const char *name)
{
	char *a = malloc(XATTR_SIZE_MAX * 2), *b;
	ssize_t n, m;
	bool same = false;

	if (a == NULL)
		return false;
	b = a + XATTR_SIZE_MAX;
	n = fgetxattr(left, name, a, XATTR_SIZE_MAX);
	m = fgetxattr(right, name, b, XATTR_SIZE_MAX);
	same = n >= 0 && n == m && memcmp(a, b, (size_t)n) == 0;
	free(a);
	return same;
}

static bool
lists_same(int left, int right, struct attrs *a, struct attrs *b)
{
	const char *name;
	size_t at = 0;

	list(left, a);
	list(right, b);
	if (count(a) != count(b))
		return false;
	while ((name = next(a, &at)) != NULL)
		if (!value_same(left, right, name))
			return false;
	return true;
}

bool
attrs_same(int left, int right)
{
	struct attrs *both;
	bool same;

	/* Most files have none: no memory is needed to know that. */
	if (flistxattr(left, NULL, 0) <= 0 && flistxattr(right, NULL, 0) <= 0)
		return true;
	both = malloc(2 * sizeof(*both));
	same = both != NULL && lists_same(left, right, both, both + 1);
	free(both);
	return same;
}

bool
attrs_has(int fd)
{
	struct attrs *a;
	bool has;

	if (flistxattr(fd, NULL, 0) <= 0)
		return false;
	a = malloc(sizeof(*a));
	if (a == NULL)
		return true;
	list(fd, a);
	has = count(a) > 0;
	free(a);
	return has;
}

static int
copy_value(int from, int to, const char *name)
{
	char *value = malloc(XATTR_SIZE_MAX);
	ssize_t n;
	int number = 0;

	if (value == NULL)
		return ENOMEM;
	n = fgetxattr(from, name, value, XATTR_SIZE_MAX);
	if (n < 0 || fsetxattr(to, name, value, (size_t)n, 0) < 0)
		number = errno;
	free(value);
	return number;
}

int
attrs_copy(int from, int to)
{
	struct attrs *a;
	const char *name;
	size_t at = 0;
	int number = 0;

	if (attrs_same(from, to))
		return 0;
	a = malloc(sizeof(*a));
	if (a == NULL)
		return ENOMEM;
	list(to, a);
	while (number == 0 && (name = next(a, &at)) != NULL)
		number = fremovexattr(to, name) < 0 ? errno : 0;
	at = 0;
	list(from, a);
	while (number == 0 && (name = next(a, &at)) != NULL)
		number = copy_value(from, to, name);
	free(a);
	return number;
}
