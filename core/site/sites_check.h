/* SPDX-License-Identifier: MIT */
/*
 * Sites of one pool have nothing in common: no root lies in another one, and no
 * path of [grant] leads into the root of another site.
 */
#ifndef SS_SITE_SITES_CHECK_H
#define SS_SITE_SITES_CHECK_H

#include <sys/types.h>

#include "sandbox/grant.h"
#include "site/config.h"

/* A site as far as it can be in another one's way; all is borrowed. */
struct site_claim {
	const struct config_site *at; /* its table; NULL: the main site */
	const char *root;             /* a real path; "": none */
	dev_t device;
	ino_t inode;
	const struct grant *grant;
};

/* SS_CONFIG, naming file and line of one of the two; SS_INTERNAL. */
enum ss_err sites_check(
	const struct site_claim *claims, size_t count, struct ss_error *err);

#endif
