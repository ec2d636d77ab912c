/* SPDX-License-Identifier: MIT */
/*
 * `prompts:` of a page, which MCP offers: a list of mappings with
 *
 *	name, title, description
 *	arguments	a list of names, or of mappings with name, description
 *			and required
 *	text		one message of the user's; {argument} is filled in
 *	messages	several: mappings with role, and text or file
 *	ask		forms for arguments that a call leaves out, see ask.h
 *
 * and without text and messages the page's own text.  A mistake in a prompt
 * is skipped, so that the page keeps its tools; `statespace check` warns of it.
 */
#ifndef SS_PAGE_PROMPT_H
#define SS_PAGE_PROMPT_H

#include "page/ask.h"

struct prompt_argument {
	const char *name, *description; /* description NULL: none */
	bool required;
};

struct prompt_message {
	const char *role;        /* "user" or "assistant" */
	const char *text, *file; /* one of the two is NULL */
};

struct prompt {
	const char *name, *title, *description; /* NULL but for name: none */
	struct prompt_argument *arguments;
	size_t argument_count;
	bool is_page; /* its one message is the text of the page */
	struct prompt_message *messages;
	size_t message_count;
	const struct ask *asks;
	size_t ask_count;
	const struct ss_error *ask_error; /* of `ask:`; NULL: none */
};

/* Called for each mistake; hint may be NULL. */
struct prompt_listener {
	void (*report)(void *ctx, const struct node_place *at,
		const char *message, const char *hint);
	void *ctx;
};

/*
 * Reads the list; what is in *out lives in r's arena.  listener may be NULL.
 * Errors  SS_INTERNAL.
 */
enum ss_err prompt_parse(const struct reading *r, const struct node *list,
	const struct prompt_listener *listener, struct prompt **out,
	size_t *count);

/* The one of that name; NULL: none. */
const struct prompt *
prompt_find(const struct prompt *prompts, size_t count, const char *name);
const struct prompt_argument *
prompt_argument_find(const struct prompt *p, struct ss_text name);

#endif
