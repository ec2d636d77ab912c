/* SPDX-License-Identifier: MIT */
/* The tables [site."HOST/PREFIX"] of a file: statespace.toml(5), Several sites. */
#ifndef SS_SITE_CONFIG_SITES_H
#define SS_SITE_CONFIG_SITES_H

#include "site/config_value.h"

/* The member `site` of a file: each of its tables, unread.  SS_CONFIG. */
enum ss_err config_add_sites(struct config *c, const struct node *n,
	const struct config_source *from, struct ss_error *err);
/* The tables stay in the arena, which becomes c's; *scratch is a new one. */
enum ss_err config_hold_tables(
	struct config *c, struct arena *scratch, struct ss_error *err);

/*
 * Initializes out as the configuration of one of c's sites, by the scope of
 * each key (config_key.h).  out borrows from c, which must outlive it.
 * Errors  SS_CONFIG: "FILE:LINE: what, what instead".
 */
enum ss_err config_init_site(struct config *out, const struct config *c,
	const struct config_site *site, struct ss_error *err);
/* Frees the tables, which no site is read from any more. */
void config_drop_tables(struct config *c);

#endif
