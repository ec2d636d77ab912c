/* SPDX-License-Identifier: MIT */
/*
 * The remedy for a step of the sandbox that failed: one command, or one line of
 * a named file.  What `statespace doctor`, the log's first line and an answer's
 * `sandbox` say is decided here.  No text has a path of the site.
 */
#ifndef SS_SANDBOX_REMEDY_H
#define SS_SANDBOX_REMEDY_H

#include "sandbox/account.h"
#include "sandbox/place.h"
#include "sandbox/step.h"

/* Never NULL.  Two steps that fail for one cause have one text. */
const char *remedy_of(const struct step *failed, const struct account *account,
	const struct place *place);
/*
 * Adds the remedy to a list of sentences, "A; and B", unless it is there;
 * one that does not fit is left out.
 */
void remedy_add(char *list, size_t cap, const char *remedy);

#endif
