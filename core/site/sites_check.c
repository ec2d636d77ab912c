/* SPDX-License-Identifier: MIT */
#include "site/sites_check.h"

#include <limits.h>
#include <stdlib.h>

#include "base/error.h"
#include "sandbox/grant_path.h"

static bool
overlap(const char *a, const char *b)
{
	return grant_path_is_below(a, b) || grant_path_is_below(b, a);
}

/* The main site has no table: then it is the other one's that is named. */
static enum ss_err
refuse(const struct site_claim *one, const char *path,
	const struct site_claim *other, struct ss_error *err)
{
	const struct config_site *at = one->at != NULL ? one->at : other->at;

	error_set(err, SS_CONFIG,
		"%s:%u: [site.\"%.100s\"]: %.200s%s lies in the root of %.100s, "
		"or contains it",
		at->file, at->line, at->name, path,
		one->at != NULL ? "" : " of the main site",
		other->at != NULL ? other->at->name : "the main site");
	error_hint(err,
		"one site of a pool never sees the files of another; a second "
		"name of the same site is listed in its [http] hosts");
	return SS_CONFIG;
}

static bool
same_root(const struct site_claim *a, const struct site_claim *b)
{
	return overlap(a->root, b->root) ||
		(a->device == b->device && a->inode == b->inode);
}

static enum ss_err
check_roots(const struct site_claim *claims, size_t count, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i && claims[i].root[0] != '\0'; k++)
			if (claims[k].root[0] != '\0' &&
				same_root(&claims[i], &claims[k]))
				return refuse(&claims[i], claims[i].root,
					&claims[k], err);
	return SS_OK;
}

/* path as the operator wrote it, and where its links lead; NULL: nowhere. */
static enum ss_err
check_grant(const struct site_claim *claims, size_t count, size_t owner,
	const char *path, const char *real, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++)
		if (i != owner && claims[i].root[0] != '\0' &&
			(overlap(path, claims[i].root) ||
				(real != NULL &&
					overlap(real, claims[i].root))))
			return refuse(&claims[owner], path, &claims[i], err);
	return SS_OK;
}

static enum ss_err
check_grants(const struct site_claim *claims, size_t count, size_t owner,
	struct ss_error *err)
{
	const struct grant *g = claims[owner].grant;
	const struct path_list *lists[] = { &g->read, &g->write,
		&g->unix_sockets, &g->exec };
	enum ss_err code = SS_OK;
	char path[PATH_MAX];
	bool optional;

	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->count && code == SS_OK; i++) {
			char *real;

			/* A bare name of a program is looked up. */
			if (lists[k] == &g->exec &&
				strchr(lists[k]->items[i], '/') == NULL)
				continue;
			if (!grant_path_outside(lists[k]->items[i], g->root,
				    path, sizeof(path), &optional))
				continue;
			real = realpath(path, NULL);
			code = check_grant(
				claims, count, owner, path, real, err);
			free(real);
		}
	return code;
}

enum ss_err
sites_check(const struct site_claim *claims, size_t count, struct ss_error *err)
{
	enum ss_err code = check_roots(claims, count, err);

	for (size_t i = 0; i < count && code == SS_OK; i++)
		code = check_grants(claims, count, i, err);
	return code;
}
