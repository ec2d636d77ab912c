/* SPDX-License-Identifier: MIT */
/*
 * Confirmation of a tool with `confirm: true` over POST: the first request is
 * answered with a token, and the same request with the token runs.  A token is
 * valid for that command and that user, for SEAL_VALID_S, and once.
 */
#ifndef SS_SITE_CONFIRM_H
#define SS_SITE_CONFIRM_H

#include "base/arena.h"
#include "site/seal.h"
#include "wire/proto.h"

#define CONFIRM_TOKEN_MAX 127

struct confirm {
	struct arena *arena;
	struct seal *seal;
	const struct ss_document *doc; /* the page, as it is now */
	size_t tool;                   /* its place in the page */
	const char *user;              /* that the front verified; NULL */
	const struct proto_request *request;
	char *const *argv; /* what would run */
};

/*
 * Digests the page and its version, the tool, the user, the words, the
 * variables and standard input.  False: no memory.
 */
bool
confirm_about(const struct confirm *what, uint8_t about[static DIGEST_BYTES]);
/* Writes a token for it.  False: no memory or no random number. */
bool confirm_offer(
	const struct confirm *what, char out[static CONFIRM_TOKEN_MAX + 1]);
/* Is this a token for it, not too old and not used?  Marks it as used. */
bool confirm_accept(const struct confirm *what, const char *token);

#endif
