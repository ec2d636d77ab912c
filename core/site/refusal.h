/* SPDX-License-Identifier: MIT */
/*
 * The step that error.next of a refused call names: the nearest request that
 * runs, tried here as a dry run; else who can change what decided.
 */
#ifndef SS_SITE_REFUSAL_H
#define SS_SITE_REFUSAL_H

#include "site/call.h"
#include "wire/step.h"

struct refusal {
	const struct call_parts *parts;
	const struct ss_document *doc; /* open; NULL: no page was found */
	struct page *page;             /* NULL: what the cache has */
	/* As far as it was read. */
	const struct proto_request *request;
	const char *body; /* that could not be read; NULL: it was */
	size_t body_len;
	const char *name;  /* that an MCP client calls the tool by; NULL */
	const char *token; /* "confirm" of the answer; NULL: none */
};

/*
 * Fills page, step and step_line of result, in the arena.  Left as it was where
 * the error's code alone tells the step (step_of), or without memory.
 */
void refusal_step(const struct refusal *r, const struct ss_error *err,
	struct ss_result *result);
/* Stores a step in the result, in the arena. */
void refusal_set(
	struct arena *arena, const struct step *step, struct ss_result *result);
/* Appends the step as one line: the result's, or what the error tells. */
void refusal_print(const struct ss_error *err, const struct ss_result *result,
	struct buf *out);

#endif
