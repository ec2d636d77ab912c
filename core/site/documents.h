/* SPDX-License-Identifier: MIT */
/*
 * The documents of a site: the resolver that opens them, the root that the
 * built-in one opens them beneath, and which of them a tool could have written.
 */
#ifndef SS_SITE_DOCUMENTS_H
#define SS_SITE_DOCUMENTS_H

#include "files/root.h"
#include "sandbox/policy.h"

struct documents {
	struct root root; /* fd -1: a host's resolver alone */
	struct ss_resolver builtin, resolver;
	const struct grant *grant; /* the operator's */
};

/* Must stay where it is; root_close(&d->root) releases it. */
void documents_init(struct documents *d, const struct grant *grant);
/*
 * Opens what a clean path names; out has no descriptor when this fails.
 * documents_close must follow when it succeeds.
 * Errors  the resolver's own, as for root_resolve.
 */
enum ss_err documents_open(const struct documents *d, const char *path,
	struct ss_document *out, struct ss_error *err);
void documents_close(const struct documents *d, struct ss_document *doc);
/* Are they files beneath the root, and not those of a host's resolver? */
bool documents_are_files(const struct documents *d);
/* Does the document lie, by either name, where tools may write? */
bool
documents_writable(const struct documents *d, const struct ss_document *doc);
/*
 * A process that entered a mount namespace sees the site at another place:
 * opens the root there.
 */
enum ss_err documents_enter_view(struct documents *d, struct ss_error *err);

#endif
