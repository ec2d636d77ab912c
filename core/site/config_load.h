/* SPDX-License-Identifier: MIT */
/*
 * Reads the configuration (statespace.toml(5)): the file, the environment and
 * the options alike.  Unknown names and wrong values are refused.
 */
#ifndef SS_SITE_CONFIG_LOAD_H
#define SS_SITE_CONFIG_LOAD_H

#include "site/config.h"

/* The defaults of statespace.toml(5).  SS_INTERNAL: no memory. */
enum ss_err config_init(struct config *c, struct ss_error *err);
void config_release(struct config *c);

/*
 * Reads a file (blocking, at most 1 MiB).  SS_CONFIG: "FILE:LINE: what, what
 * instead".  On an error c keeps what it had.  Relative paths become absolute
 * from the file's directory.
 */
enum ss_err
config_load(struct config *c, const char *file, struct ss_error *err);
/* Reads the tables of each *.toml in the directory `sites`, by their names. */
enum ss_err config_load_sites(struct config *c, struct ss_error *err);
/* Every STATESPACE_SECTION_KEY of an environment block. */
enum ss_err
config_environ(struct config *c, char *const envp[], struct ss_error *err);
/* One key, "limits.timeout", from text. "env.NAME" sets a variable. */
enum ss_err config_set(struct config *c, const char *key, const char *value,
	struct ss_error *err);

#endif
