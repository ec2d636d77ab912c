/* SPDX-License-Identifier: MIT */
/*
 * The sites of one pool: the tables [site."HOST/PREFIX"] of a configuration as
 * one struct ss_site each, below the one that has them all, which is the site
 * of every other request if it has a root.
 *
 * A process reads from a site when it is asked for the first time.  At most
 * SITES_WARM of them are warm, with their root open and their caches filled;
 * the one that was not asked for the longest is cooled.
 */
#ifndef SS_SITE_SITES_H
#define SS_SITE_SITES_H

#include "site/site.h"

#define SITES_WARM 32

/*
 * Opens the sites of a site whose configuration is complete.  all->sites stays
 * NULL when there are none.
 * Errors  SS_CONFIG, naming file and line; SS_INTERNAL.
 */
enum ss_err sites_open(struct ss_site *all, struct ss_error *err);
void sites_free(struct sites *s);
/* In a process that was confined: where its site lies is all's own. */
void sites_enter(struct ss_site *all);

/*
 * The site of a request, ready to be asked: all itself without sites, or when
 * none has that host and prefix.  host and path as in struct ss_request.
 * Errors  of a site that cannot be opened now; *out is it all the same.
 */
enum ss_err sites_choose(struct ss_site *all, const struct ss_request *req,
	struct ss_site **out, struct ss_error *err);
/* The last one, or all. */
const struct ss_site *sites_chosen(const struct ss_site *all);
/* Has any site that host? */
bool sites_has_host(const struct ss_site *all, const struct ss_request *req);

#endif
