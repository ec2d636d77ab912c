/* SPDX-License-Identifier: MIT */
/*
 * One request and its answer: what the stages share.  Memory is the site's
 * arena, emptied when the response is released.
 */
#ifndef SS_HTTP_EXCHANGE_H
#define SS_HTTP_EXCHANGE_H

#include "base/buf.h"
#include "site/confirm.h"
#include "site/site.h"
#include "statespace.h"
#include "wire/path.h"
#include "wire/proto.h"

#define EXCHANGE_HEADERS_MAX 24
#define EXCHANGE_STEPS_MAX 16
#define EXCHANGE_ID_MAX 128

struct exchange {
	struct ss_site *site;
	const struct ss_request *req;
	const char *below; /* exchange_path */
	struct ss_error err;
	const char *stage; /* the one that decides, for the log */
	/* With [log] slow: the stages that were run and when each began. */
	struct {
		const char *name;
		uint64_t begun_us;
	} steps[EXCHANGE_STEPS_MAX];
	size_t step_count;
	char path[PATH_BYTES_MAX + 1]; /* clean */
	struct ss_document doc;
	bool doc_open;
	struct page *parsed; /* the document's; NULL: it is no page */
	char id[EXCHANGE_ID_MAX + 1];
	uint64_t started_us;
	uint64_t posted_us; /* when the reading of its command began */
	struct proto_request request;
	size_t hooks_run;

	int status;
	struct ss_header headers[EXCHANGE_HEADERS_MAX];
	size_t header_count;
	struct buf body;
	int fd; /* streamed instead of body; -1 */
	uint64_t offset, length;
	bool json_errors;
	bool streamed; /* the answer was sent in pieces */
	bool waits;    /* it comes later: see ss_request.wait */

	const char *page;            /* of a tool over MCP; NULL: none */
	char tokens[NUMBER_MAX + 1]; /* the header X-Markdown-Tokens */
	const char *trace; /* trace_parent of the request; NULL: none */
	ssize_t tool;      /* for the log; -1: none */
	struct ss_result result;
	char confirm[CONFIRM_TOKEN_MAX + 1]; /* for SS_CONFIRM_REQUIRED */
};

/* Resets the site's only one; NULL: no memory. */
struct exchange *
exchange_begin(struct ss_site *site, const struct ss_request *req);
/* Closes the document and empties the arena. */
void exchange_end(struct exchange *x);

/* The front's id when it is 1 to 128 of [A-Za-z0-9._-], else one of ours. */
void exchange_id(struct ss_site *site, const struct ss_request *req,
	char out[static EXCHANGE_ID_MAX + 1]);
/* Notes the stage that runs now. */
void exchange_step(struct exchange *x, const char *name);
/* Inline: most methods differ in their first letter. */
static inline bool
exchange_is(const struct exchange *x, const char *method)
{
	const char *m = x->req->method;

	return m != NULL && m[0] == method[0] && strcmp(m, method) == 0;
}
/*
 * The path as it was sent, without the configured prefix; NULL: not below it.
 */
static inline const char *
exchange_path(const struct exchange *x)
{
	return x->below;
}
/*
 * Whether that path begins with start, of two bytes or more.  The second one
 * is compared first: paths of pages differ there from those of the protocol.
 */
static inline bool
exchange_starts(const struct exchange *x, const char *start)
{
	const char *path = exchange_path(x);

	return path != NULL && path[0] == start[0] && path[1] == start[1] &&
		strncmp(path, start, strlen(start)) == 0;
}
/* name is static text, value lives in the arena or is static. */
void exchange_header(struct exchange *x, const char *name, const char *value);
/*
 * Adds the Link of a page (RFC 8288): to AGENTS.md, which says how tools are
 * called (service-doc, RFC 8631), and to the list of pages.
 */
void exchange_guide(struct exchange *x);
/* The answer is x->body, which the caller has written. */
void exchange_body(struct exchange *x, int status, const char *type);
/*
 * Makes the answer for x->err: JSON for POST and clients that prefer it, else
 * text.
 */
void exchange_error(struct exchange *x);
/* Adds the headers of every answer. */
void exchange_common(struct exchange *x);
/* Fills res with the answer, borrowed from x. */
void exchange_answer(struct exchange *x, struct ss_response *res);
/* Writes the log lines of the request. */
void exchange_log(const struct exchange *x);

#endif
