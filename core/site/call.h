/* SPDX-License-Identifier: MIT */
/*
 * One command from its words to its result, for POST, the local command and MCP
 * (statespace-protocol(7), RUNNING).  The page is already open; the end is the
 * tool's result or one error.
 */
#ifndef SS_SITE_CALL_H
#define SS_SITE_CALL_H

#include "page/match.h"
#include "site/call_job.h"
#include "site/documents.h"
#include "site/limit.h"
#include "site/page.h"
#include "site/seal.h"
#include "statespace.h"
#include "wire/proto.h"

struct request_log;
struct receipts;
struct state;

struct call {
	const struct ss_document *doc;
	struct page
		*page; /* the document's from page_get; NULL: not read yet */
	const struct proto_request *request;
	const char *request_id;
	bool named; /* tool is the index of the only one that may match */
	size_t tool;
	/* With named: its arguments' values, instead of the request's words. */
	const struct given *given;
	int stdin_fd;  /* relayed to a tool that declares it; -1 */
	int client_fd; /* a hang-up ends the run; -1 */
	bool dry_run;
	bool explain;
	ss_output_fn output; /* NULL: collected in the result */
	void *output_ctx;
	uint32_t tick_ms; /* every so often output is called with stream 0 */
	/* What a tool writes to STATESPACE_PROGRESS_FD; NULL: it is dropped. */
	void (*progress)(void *ctx, const char *data, size_t len);
	const char *user;  /* that the front verified; NULL */
	const char *trace; /* trace_parent of the request; NULL */
	const char *key;   /* the tool runs once for it; NULL: none */
	bool claimed;      /* the job that this is has the key's record */
	uint32_t wait_ms;  /* for another request with the key that runs */
	/*
	 * A hang-up of client_fd ends a run with a key too: the caller ends
	 * it, not a connection.
	 */
	bool ends;
	bool shell; /* its cursors are good in each process of this account */
	/* A tool with `confirm: true` runs by the first of these that is set. */
	bool confirmed; /* a person was asked and agreed */
	bool (*confirm)(void *ctx, const char *const *argv, size_t argc);
	void *confirm_ctx;
	struct call_job *job; /* NULL: it runs here */
	char *token; /* out, CONFIRM_TOKEN_MAX + 1: confirms when it is sent */
};

/* What a call uses of the site; borrowed. */
struct call_parts {
	const struct config *config;
	const struct documents *documents;
	struct page_cache *pages;
	struct arena *arena;
	const struct ss_executor *executor;
	struct limit *limit;
	struct seal *seal;
	const struct ss_store *store; /* put NULL: none */
	enum ss_err (*state)(
		void *ctx, const struct state **out, struct ss_error *err);
	void *state_ctx;
	/* *out NULL: none are wanted. */
	enum ss_err (*receipts)(
		void *ctx, const struct receipts **out, struct ss_error *err);
	const struct request_log *log;
};

/*
 * Runs it.  stage names the step that decided, for the log line; result is
 * filled as far as the call got, of a refusal with the step that would work
 * (refusal.h).  Memory is the arena's.
 */
enum ss_err call_run(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err);

/* The same without that step: for refusal.h, which asks what would run. */
enum ss_err call_try(const struct call_parts *parts, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err);

/* Was the tool killed at a limit?  Then the result has its output so far. */
bool call_was_ended(enum ss_err code);
/*
 * The stderr of such a tool with the reason as its last lines, in the arena;
 * the reason alone when memory ran out.
 */
struct ss_text
call_stderr(struct arena *arena, struct ss_text err, struct ss_text reason);

#endif
