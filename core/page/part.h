/* SPDX-License-Identifier: MIT */
/*
 * One part of a tool: the author's word, an argument, or a word of the author's
 * with arguments in it (statespace-page(7), Tools).
 */
#ifndef SS_PAGE_PART_H
#define SS_PAGE_PART_H

#include "page/argument.h"

enum part_kind {
	PART_TEXT,
	PART_ARGUMENT, /* one piece: the argument */
	PART_TEMPLATE  /* { text: 'http://stock/{id}', id: '^[0-9]+$' } */
};

/* Of a template, in their order.  Two arguments are never neighbours. */
struct piece {
	struct ss_text text;       /* the author's, when argument is NULL */
	struct argument *argument; /* the same one where its name repeats */
};

struct part {
	enum part_kind kind;
	struct ss_text text; /* the word; PART_TEMPLATE: as it was written */
	struct piece *pieces;
	size_t piece_count;
	bool optional;           /* a command may lack this word */
	const char *description; /* of a template; NULL: none */
	unsigned line, column;
};

/*
 * Reads one part.  What *out holds lives in r's arena, but its patterns, which
 * part_release frees, also after an error.
 * Errors  SS_BAD_FRONTMATTER.
 */
enum ss_err
part_parse(const struct reading *r, const struct node *n, struct part *out);
void part_release(struct part *p);

/* The argument of a PART_ARGUMENT; NULL for the other kinds. */
const struct argument *part_argument(const struct part *p);
/* The author's word, and too long to be shown in a line with others. */
bool part_is_long(const struct part *p);
/* Any word fits: {} or {name}. */
bool part_takes_any(const struct part *p);

/*
 * As it is written in YAML.  last: nothing follows it, so a word ; needs
 * quotes.
 */
void part_print(const struct part *p, bool last, struct buf *out);
/* The same without descriptions: equal where the same words fit. */
void part_identify(const struct part *p, bool last, struct buf *out);
/* Short, for people: a placeholder by its name, a template as it is written. */
void part_outline(const struct part *p, bool last, struct buf *out);

#endif
