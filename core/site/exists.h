/* SPDX-License-Identifier: MIT */
/*
 * Arguments with `exists: true`: their paths name a file beneath the page's
 * directory, by the rules of GET (statespace-page(7), Arguments).  Tells an
 * agent before the run; what a tool may open is the sandbox's decision.
 */
#ifndef SS_SITE_EXISTS_H
#define SS_SITE_EXISTS_H

#include "page/match.h"
#include "site/documents.h"

/* Errors  SS_BAD_REQUEST that names the argument; SS_INTERNAL. */
enum ss_err
exists_check(const struct command *command, const struct documents *documents,
	const struct ss_document *page, struct ss_error *err);

/* Is there such a file, by the same rules? */
bool exists_below(const struct documents *documents,
	const struct ss_document *page, struct ss_text path);

#endif
