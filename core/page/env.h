/* SPDX-License-Identifier: MIT */
/*
 * A command's variables (statespace-protocol(7), RUNNING): which names there
 * may be, which may be listed, and who may set them.  Pure.
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
/* The value that a request sends, whether it may or not; NULL: none. */
const char *env_sent_value(const struct env_scope *scope, struct ss_text name);
/*
 * The variable that text names at its start, "$NAME" or "${NAME}".  Returns
 * how long that is, 0 when it is none.
 */
size_t env_variable_at(const char *text, size_t len, struct ss_text *name);
/*
 * SS_BAD_ENV: a name that is not listed, reserved, server-only or not a name.
 */
enum ss_err
env_check_request(const struct env_scope *scope, struct ss_error *err);

#endif
