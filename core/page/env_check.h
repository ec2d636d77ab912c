/* SPDX-License-Identifier: MIT */
/* What a page may say of variables, checked when it is loaded.  Pure. */
#ifndef SS_PAGE_ENV_CHECK_H
#define SS_PAGE_ENV_CHECK_H

#include "page/env.h"

/* Names of `env:` at page load: SS_BAD_FRONTMATTER names the wrong one. */
enum ss_err env_check_list(const struct name_list *list,
	struct node_place *place, struct ss_error *err);
/*
 * At page load: the word after an interpreter's -c or -e must not hold $NAME
 * of the server's table that is not listed (rule 2), nor an argument that
 * could be anything but a number, a date or one of a list.  scope needs server
 * and page.
 */
enum ss_err
env_check_spec(const struct spec *spec, const struct env_scope *scope,
	struct node_place *place, struct ss_error *err);

/* Which variables pages may name: [grant] env. */
struct env_grant {
	bool any;
	const char *const *names;
	size_t count;
};
/*
 * At page load: the page's env: and the $NAME of the server's that are filled
 * in words (rule 2) must be granted.  SS_CAPABILITY_REFUSED.
 */
enum ss_err
env_check_grant(const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err);
enum ss_err env_check_spec_grant(const struct spec *spec,
	const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err);

#endif
