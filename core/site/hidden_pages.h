/* SPDX-License-Identifier: MIT */
/*
 * Which pages have `hidden: true`, for navigation: each is read once for each
 * change of its file, and known by one fstatat(2) after that.
 */
#ifndef SS_SITE_HIDDEN_PAGES_H
#define SS_SITE_HIDDEN_PAGES_H

#include "site/documents.h"
#include "site/listing.h"

struct hidden_pages {
	struct hidden_page *known; /* NULL: none yet */
};

/*
 * Takes them out of the list, and what cannot be read.
 * Errors  SS_INTERNAL: of a page it is not known; the list is of no use.
 */
enum ss_err hidden_pages_drop(struct hidden_pages *h, const struct documents *d,
	struct listing *list, struct ss_error *err);
void hidden_pages_release(struct hidden_pages *h);

#endif
