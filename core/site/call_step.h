/* SPDX-License-Identifier: MIT */
/*
 * The steps of one call, in the order of call.c; for the files call_*.c alone.
 * Each returns SS_OK for the next one, or the call's error.
 */
#ifndef SS_SITE_CALL_STEP_H
#define SS_SITE_CALL_STEP_H

#include "site/call.h"
#include "site/confirm.h"
#include "site/keyed_call.h"
#include "site/paging.h"
#include "site/receipt_call.h"
#include "site/workspaces.h"

/* What the steps of one call share. */
struct call_state {
	const struct call_parts *parts;
	const struct call *call;
	const struct proto_request *request; /* the call's, or filled */
	struct given given;
	struct command command;
	struct page *page;
	const struct spec *spec;
	size_t tool;
	struct env_scope scope;
	char **argv, **envp;
	struct confirm what;            /* from step_next on */
	struct workspace_use workspace; /* session NULL: none */
	struct paging paging;    /* of a tool whose output comes in parts */
	struct keyed_call keyed; /* active: the call has a key */
	const struct receipts *receipts; /* NULL: none are wanted */
	struct receipt_run receipt;
	double own_timeout; /* that the page or the tool asks for; 0: none */
	unsigned own_line, line; /* of that, and of the tool */
	bool started;            /* since then the page may be freed */
	bool answered;           /* from what was kept: nothing is left to do */
	char *const **stages;    /* of a pipe */
	struct ss_result *result;
	struct ss_error *err;
	/* From here on: assigned as a whole before they are read. */
	struct proto_request filled; /* of a call by name */
	struct call recorded;        /* the call, with its output copied */
};

/* call_match.c */
enum ss_err call_step_page(struct call_state *r);
enum ss_err call_step_match(struct call_state *r);

/* call_fill.c */
enum ss_err call_step_words(struct call_state *r);
enum ss_err call_step_env(struct call_state *r);
enum ss_err call_step_stages(struct call_state *r);
/* The declared type of the output, for the result. */
enum ss_err call_keep_type(struct call_state *r);

/* call_keyed.c */
enum ss_err call_step_once(struct call_state *r);
enum ss_err call_step_job(struct call_state *r);
/* Around a run: the record of its key, its receipt. */
void call_begin_keyed(struct call_state *r);
void call_end_keyed(struct call_state *r, enum ss_err code);
enum ss_err call_begin_receipt(struct call_state *r);
enum ss_err call_end_receipt(struct call_state *r, enum ss_err code);

/* The answer of a key whose call became a job. */
enum ss_err call_tell_job(struct call_state *r);

/* call.c */
void call_begin(struct call_state *r, const struct call_parts *parts,
	const struct call *call, struct ss_result *result,
	struct ss_error *err);
enum ss_err call_run_steps(struct call_state *r, const char **stage);
/* A host's output function gets the part of the result. */
void call_deliver_part(struct call_state *r);

/* call_run.c */
enum ss_err call_step_run(struct call_state *r);

#endif
