/* SPDX-License-Identifier: MIT */
/*
 * Brings values into struct config.  All of them become a node and pass through
 * config_store_value, so that a wrong value is refused in the same words
 * wherever it comes from.
 */
#ifndef SS_SITE_CONFIG_VALUE_H
#define SS_SITE_CONFIG_VALUE_H

#include "site/config_key.h"

/* A longer file name is shown by its end. */
#define CONFIG_SHOWN_FILE 200
#define CONFIG_SHOWN_VALUE 60

/* Where a value comes from, for messages and for relative paths. */
struct config_source {
	const char *file;               /* NULL: a variable or an option */
	const char *dir;                /* of the file, absolute */
	const char *variable;           /* NULL: not from the environment */
	const struct config_site *site; /* NULL: not the table of a site */
};

const char *config_shown_file(const char *file);
/* SS_CONFIG: no key has that name; the hint names a similar one. */
enum ss_err config_refuse_name(const char *name, unsigned line,
	const struct config_source *from, struct ss_error *err);

/* The functions below: SS_CONFIG with place, found and expected. */
enum ss_err config_store_value(struct config *c, const struct config_key *key,
	const struct node *n, const struct config_source *from,
	struct ss_error *err);
/* A member of a whole file or of a site's table: a section, or a key. */
enum ss_err config_store_member(struct config *c, const struct node *n,
	const struct config_source *from, struct arena *scratch,
	struct ss_error *err);
/* An option's or a variable's text. */
enum ss_err config_set_text(struct config *c, struct arena *scratch,
	const struct config_key *key, const char *text,
	const struct config_source *from, struct ss_error *err);
enum ss_err config_set_env(struct config *c, const char *name, size_t len,
	const char *value, const struct config_source *from,
	struct ss_error *err);
/*
 * Makes the node of a default without reading TOML, which would be half of what
 * a command costs before it runs.  False: a list with items, for
 * config_set_text.
 */
bool config_preset_node(const struct config_key *key, struct node *n);

#endif
