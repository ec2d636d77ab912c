/* SPDX-License-Identifier: MIT */
/*
 * The documents of a site: the resolver that opens them, the root that the
 * built-in one opens them beneath, and which of them a tool could have written.
 */
#ifndef SS_SITE_DOCUMENTS_H
#define SS_SITE_DOCUMENTS_H

#include "files/root.h"
#include "sandbox/policy.h"
#include "site/hidden.h"

struct documents {
	struct root root; /* fd -1: a host's resolver alone */
	struct ss_resolver builtin, resolver;
	const struct grant *grant; /* the operator's */
	struct hidden hidden;      /* [http] hidden */
};

/* Must stay where it is; root_close(&d->root) releases it. */
void documents_init(struct documents *d, const struct grant *grant);
/*
 * Opens what a clean path names, for a reader: what [http] hidden names is
 * not found, by whatever name, with the same error as for no file.  out has no
 * descriptor when this fails.  documents_close must follow when it succeeds.
 * Errors  the resolver's own, as for root_resolve.
 */
enum ss_err documents_open(const struct documents *d, const char *path,
	struct ss_document *out, struct ss_error *err);
/* The same for the author and the operator, from whom nothing is hidden. */
enum ss_err documents_open_any(const struct documents *d, const char *path,
	struct ss_document *out, struct ss_error *err);
/* Fills err as for a file that is not there; the log's detail has the reason.
 */
enum ss_err documents_refuse_hidden(const char *path, struct ss_error *err);
/* Does [http] hidden name the document, or where its links lead? */
bool documents_hides(const struct documents *d, const struct ss_document *doc);
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
