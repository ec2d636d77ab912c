/* SPDX-License-Identifier: MIT */
/*
 * Variables and agent's words (statespace-protocol(7), RUNNING): which names
 * may be listed and who may set them, what $NAME in a word becomes, and the
 * environment that the process starts with.  Pure.
 */
#ifndef SS_PAGE_ENV_H
#define SS_PAGE_ENV_H

#include "page/match.h"

/* A name in sh(1): [A-Za-z_][A-Za-z0-9_]*. */
bool env_is_name(const char *name, size_t len);

/* Everything that decides about one command's variables. */
struct env_scope {
	const struct ss_pair *server; /* the operator's table */
	size_t server_count;
	const struct name_list *page; /* the page's env:; NULL: no page */
	const struct name_list *tool; /* the tool's, which narrows it */
	const struct ss_pair *request;
	size_t request_count;
	const char *request_id;
	const char *progress_fd; /* a number; NULL: none */
};

/* May a page list it?  Not PATH, HOME, LD_*, ... */
bool env_is_allowed(const char *name);
/* Do the page's env: and the tool's, if it has one, list the name? */
bool env_is_listed(const struct env_scope *scope, struct ss_text name);
/* NULL: the operator's table does not have it. */
const char *
env_server_value(const struct env_scope *scope, struct ss_text name);
/* May a request set the name, and does the server leave it unset? */
bool env_is_open(const struct env_scope *scope, const char *name);
/* The request's value of a name that is open; NULL: none. */
const char *env_request_value(const struct env_scope *scope, const char *name);
/*
 * The variable that text names at its start, "$NAME" or "${NAME}".  Returns
 * how long that is, 0 when it is none.
 */
size_t env_variable_at(const char *text, size_t len, struct ss_text *name);

/*
 * The program that the author's first word names, filled from the server's
 * table alone; *out is NULL when it depends on the request.  SS_INTERNAL,
 * SS_COMMAND_TOO_LARGE.
 */
enum ss_err env_program(struct arena *arena, struct ss_text word,
	const struct env_scope *scope, const char **out, struct ss_error *err);

/* Names of `env:` at page load: SS_BAD_FRONTMATTER names the wrong one. */
enum ss_err env_check_list(const struct name_list *list,
	struct node_place *place, struct ss_error *err);
/*
 * At page load: the word after an interpreter's -c or -e must not hold $NAME
 * of the server's table that is not listed (rule 2), nor an argument that
 * could be anything but a number, a date or one of a list.  scope needs server
 * and page.
 */
enum ss_err
env_check_spec(const struct spec *spec, const struct env_scope *scope,
	struct node_place *place, struct ss_error *err);

/* Which variables pages may name: [grant] env. */
struct env_grant {
	bool any;
	const char *const *names;
	size_t count;
};
/*
 * At page load: the page's env: and the $NAME of the server's that are filled
 * in words (rule 2) must be granted.  SS_CAPABILITY_REFUSED.
 */
enum ss_err
env_check_grant(const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err);
enum ss_err env_check_spec_grant(const struct spec *spec,
	const struct env_scope *scope, const struct env_grant *grant,
	struct node_place *place, struct ss_error *err);

/* SS_PATH_REFUSED when an agent's word is absolute or has a ".." component. */
enum ss_err
env_check_words(const struct command *command, struct ss_error *err);
/*
 * SS_BAD_ENV: a name that is not listed, reserved, server-only or not a name.
 */
enum ss_err
env_check_request(const struct env_scope *scope, struct ss_error *err);
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
