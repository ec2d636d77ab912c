/* SPDX-License-Identifier: MIT */
/*
 * Which pages a site has, for navigation and for the lists that agents read:
 * those that [http] listed names and [http] hidden does not, found by a bounded walk that follows no
 * linked folder.  A site with a host's own resolver has no list.
 */
#ifndef SS_SITE_LISTING_H
#define SS_SITE_LISTING_H

#include "site/config.h"
#include "site/documents.h"

#define LISTING_FOLDER_MAX 200
#define LISTING_SITE_MAX 1000

/* What is listed: all borrowed. */
struct listing_source {
	const struct config *config; /* [http] listed, limits.max_list_items */
	const struct documents *documents; /* and [http] hidden */
	struct arena *arena;               /* for the paths */
};

/* Paths relative to the site, in the order to show them, in the arena. */
struct listing {
	const char **paths;
	size_t count;
	bool cut; /* there are more */
};

/*
 * Pages of one folder ("" is the site's), its README.md first, and the
 * README.md of folders in it; at most LISTING_FOLDER_MAX.
 * Errors  SS_INTERNAL; a folder that cannot be read has no pages.
 */
enum ss_err listing_folder(const struct listing_source *from,
	const char *folder, struct listing *out, struct ss_error *err);
/* Every page, at most LISTING_SITE_MAX and limits.max_list_items. */
enum ss_err listing_site(const struct listing_source *from, struct listing *out,
	struct ss_error *err);

/*
 * Does [http] listed name this resolved path, and [http] hidden not?  It may be
 * any file.
 */
bool listing_has(const struct listing_source *from, const char *path);
/* The first half of that alone. */
bool listing_names(const struct listing_source *from, const char *path);

#endif
