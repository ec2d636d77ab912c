/* SPDX-License-Identifier: MIT */
/* What the parent decides for all processes that it confines. */
#ifndef SS_SANDBOX_SANDBOX_PLAN_H
#define SS_SANDBOX_SANDBOX_PLAN_H

#include "sandbox/account.h"
#include "sandbox/grant.h"
#include "sandbox/sandbox.h"
#include "sandbox/view_plan.h"

/* Texts are borrowed and outlive the plan.  Start from SANDBOX_PLAN_INIT. */
struct sandbox_plan {
	enum sandbox_mode mode;
	const char *root;    /* the site, absolute; NULL: on no disk */
	int root_fd;         /* the same, open; -1: by its name */
	const char *libexec; /* our helper programs; NULL: none */
	bool one_program;    /* libexec is a file, each helper by its argv[0] */
	const struct grant *grant;     /* NULL: nothing is granted */
	const struct view_site *sites; /* besides root, each for itself */
	size_t site_count;
	const char *store;        /* the workspaces' directory; NULL: none */
	int store_fd;             /* the same, open; -1 */
	const char *user, *group; /* to become when root; NULL: default */
	uint64_t scratch_bytes;   /* of the private /tmp */
	uint64_t scratch_files;
	int landlock_abi_max; /* 0: what the kernel has; for tests */

	/* Filled by sandbox_prepare. */
	struct account account;
	/* Filled when the first process starts. */
	bool decided;
	enum sandbox_level level;
	char why[256];            /* why no higher level, for the log; "" */
	char remedy[512];         /* what would give it (remedy.h); "" */
	struct dotfiles dotfiles; /* of the site's root, if they are known */
};

#define SANDBOX_PLAN_INIT                                                      \
	((struct sandbox_plan){ .root_fd = -1,                                 \
		.store_fd = -1,                                                \
		.scratch_bytes = (uint64_t)64 << 20,                           \
		.scratch_files = 10000 })

/*
 * Finds the account, unless it is filled in already, and checks the grants.
 * Errors  SS_CONFIG: as account_find, or a grant that would show a tool the
 *         host's processes or its whole tree; SS_INTERNAL.
 */
enum ss_err sandbox_prepare(struct sandbox_plan *plan, struct ss_error *err);
/* The site, "" for a host whose documents lie on no disk. */
const char *sandbox_plan_site(const struct sandbox_plan *plan);
/* Reads the site's dot entries for children to come, if that is possible. */
void sandbox_plan_keep_dotfiles(struct sandbox_plan *plan);

#endif
