/* SPDX-License-Identifier: MIT */
/*
 * Confirmation of a tool with `confirm: true` over POST: the first request is
 * answered with a token, and runs when it comes again with it.  The token is
 * good for that command alone, of that user, for a while, and once.
 */
#ifndef SS_SITE_CONFIRM_H
#define SS_SITE_CONFIRM_H

#include "site/seal.h"
#include "wire/proto.h"

#define CONFIRM_TOKEN_MAX 127

struct confirm {
	const struct ss_document *doc; /* the page, as it is now */
	size_t tool;                   /* its place in the page */
	const char *user;              /* whom the front verified; NULL */
	const struct proto_request *request;
	char *const *argv; /* what would run */
};

/* A token for it.  False: no memory or no random number. */
bool confirm_offer(struct ss_site *site, const struct confirm *what,
	char out[static CONFIRM_TOKEN_MAX + 1]);
/* Is this a token for it, not too old, and not used?  Now it is used. */
bool confirm_accept(
	struct ss_site *site, const struct confirm *what, const char *token);

#endif
