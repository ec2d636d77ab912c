/* SPDX-License-Identifier: MIT */
/*
 * What $NAME in a word becomes, and the environment that the process starts
 * with (statespace-protocol(7), RUNNING).  Pure.
 */
#ifndef SS_PAGE_ENV_FILL_H
#define SS_PAGE_ENV_FILL_H

#include "page/env.h"

/*
 * The program that the author's first word names, filled from the server's
 * table alone; *out is NULL when it depends on the request.  SS_INTERNAL,
 * SS_COMMAND_TOO_LARGE.
 */
enum ss_err env_program(struct arena *arena, struct ss_text word,
	const struct env_scope *scope, const char **out, struct ss_error *err);

/* What runs, in env_fill's arena. */
struct env_command {
	char **argv;        /* NULL-terminated */
	const char **shown; /* the same, with the server's values as $NAME */
};

/*
 * Fills $NAME in the author's words and in the author's parts of templates.
 * Errors  SS_BAD_ENV (a word is a listed name without a value),
 *         SS_PATH_REFUSED (a request's value as a word), SS_COMMAND_TOO_LARGE.
 */
enum ss_err env_fill(struct arena *arena, const struct env_scope *scope,
	const struct command *command, struct env_command *out,
	struct ss_error *err);
/*
 * The complete environment, NULL-terminated, in arena: the fixed names and
 * the listed ones.  tmpdir is the tool's private directory.
 */
enum ss_err env_build(struct arena *arena, const struct env_scope *scope,
	const char *tmpdir, char ***envp, struct ss_error *err);

#endif
