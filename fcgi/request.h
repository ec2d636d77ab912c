/* SPDX-License-Identifier: MIT */
/*
 * From the variables of CGI or FastCGI (the same names in both) to a struct
 * ss_request.  Only the names of one list are read; everything else that a
 * front server passes is ignored.
 *
 * A wrong request is not answered here: a hook lets the site refuse it, so that
 * the answer has the shape, the request id and the log line of every other.
 */
#ifndef FCGI_REQUEST_H
#define FCGI_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "statespace.h"

struct request {
	struct ss_request ss;    /* what the site gets */
	struct ss_error refused; /* code not SS_OK: the hook ends it */
	size_t content_length;   /* announced; 0: no body; cut at the limit */
	size_t announced;        /* the same as it was sent, at most 2^40 */
	bool unannounced;        /* there is no Content-Length */
	size_t max_body;         /* limits.max_body_bytes */
	char *body;              /* max_body + 1 bytes, allocated when needed */
	char path[8192];         /* SCRIPT_NAME and PATH_INFO together */
};

#define NO_LENGTH "the request has a body without a Content-Length"

/*
 * Prepares r (borrowed by the site until it is freed) and adds the hook; call
 * it before ss_site_open.
 */
enum ss_err
request_attach(struct request *r, struct ss_site *site, struct ss_error *err);
void request_release(struct request *r);

/*
 * Reads the variables "NAME=VALUE" (borrowed until the answer) into r->ss: of
 * the environment of plain CGI, or len bytes of such strings as FastCGI's
 * parameters.  Whatever is wrong is kept in r->refused: missing, duplicate or
 * malformed names, control bytes, a cut parameter list, a length that is no
 * number.  A CONTENT_LENGTH over the limit sets ss.body_too_large.
 */
void request_read_environ(struct request *r, char *const env[]);
void request_read_params(struct request *r, const char *params, size_t len);
/* Lets the site refuse it; the first reason is kept. */
void request_refuse(struct request *r, enum ss_err code, const char *message);

/* Memory for the announced body; NULL with r->refused set: none left. */
char *request_body(struct request *r);

#endif
