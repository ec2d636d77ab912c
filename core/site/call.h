/* SPDX-License-Identifier: MIT */
/*
 * One command on its way from words to a result: the part of the road that
 * POST, the local command and MCP share (statespace-protocol(7), RUNNING).  The
 * page is already open; what comes out is the tool's result or one error.
 */
#ifndef SS_SITE_CALL_H
#define SS_SITE_CALL_H

#include "site/page.h"
#include "statespace.h"
#include "wire/proto.h"

struct call {
	const struct ss_document *doc;
	const struct proto_request *request;
	const char *request_id;
	bool named; /* by the tool's index: no other may match */
	size_t tool;
	int stdin_fd;  /* relayed to a tool that declares it; -1 */
	int client_fd; /* a hang-up ends the run; -1 */
	bool dry_run;
	bool explain;
	ss_output_fn output; /* NULL: collected in the result */
	void *output_ctx;
	uint32_t tick_ms; /* output is called so often, with stream 0 */
	const char *user; /* whom the front verified; NULL */
	/*
	 * What lets a tool with `confirm: true` run; the first that is there:
	 */
	bool confirmed; /* a person was asked and agreed */
	bool (*confirm)(void *ctx, const char *const *argv, size_t argc);
	void *confirm_ctx;
	char *token; /* room for the token that agrees when it comes back */
};

/*
 * Runs it.  stage names the step that decided, for the log line; result is
 * filled as far as the call came.  Memory is the site's arena.
 */
enum ss_err call_run(struct ss_site *site, const struct call *call,
	const char **stage, struct ss_result *result, struct ss_error *err);

/* Was the tool ended at a limit?  Then the result has its output so far. */
bool call_was_ended(enum ss_err code);
/*
 * The stderr of such a tool with the reason as its last lines, in the arena;
 * the reason alone when memory ran out.
 */
struct ss_text
call_stderr(struct arena *arena, struct ss_text err, struct ss_text reason);

#endif
