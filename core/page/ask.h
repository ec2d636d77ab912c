/* SPDX-License-Identifier: MIT */
/*
 * `ask:` of a tool or a prompt: questions to a client, sent when a call over MCP
 * leaves out the arguments that they ask for.  Each is a mapping with
 *
 *	name		of the form, 1 to 64 of [A-Za-z0-9_-]
 *	from		person; model: the client's model answers; roots: the
 *			client names its directories
 *	message		what the person or the model reads; not for roots
 *	arguments	the names of the arguments that it asks for; one for a
 *			model or roots
 */
#ifndef SS_PAGE_ASK_H
#define SS_PAGE_ASK_H

#include "page/value.h"

/* The question that `confirm: true` asks has this name. */
#define ASK_CONFIRM "confirm"

enum ask_from { ASK_PERSON, ASK_MODEL, ASK_ROOTS, ASK_KINDS };

struct ask {
	enum ask_from from;
	const char *name, *message;
	struct name_list arguments;
	unsigned line, column;
};

/*
 * Reads the list; everything in *out lives in r's arena.
 * Errors  SS_BAD_FRONTMATTER, also for an argument that two forms ask for.
 */
enum ss_err ask_parse(const struct reading *r, const struct node *list,
	const struct ask **out, size_t *count);

#endif
