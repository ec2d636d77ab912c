/* SPDX-License-Identifier: MIT */
/*
 * Inside the TOML reader: the text under the cursor, and what has no parts of
 * its own (strings, numbers, booleans, dates).  Only toml.c and toml_scalar.c
 * include this; everybody else wants toml.h.
 */
#ifndef SS_PAGE_TOML_SCALAR_H
#define SS_PAGE_TOML_SCALAR_H

#include "page/node.h"

struct toml {
	const struct reading *r;
	const char *at, *end; /* the cursor moves forward only */
	const char *mark;     /* mark_place is where this byte stands */
	struct node_place mark_place;
	enum ss_err code; /* of a refusal */
};

/* Where the cursor stands; counting goes on from the last time it was asked. */
struct node_place toml_here(struct toml *t);

/* "line L, column C: ", then the text. */
enum ss_err toml_refuse(struct toml *t, struct node_place where,
	const char *format, ...) PRINTF_LIKE(3, 4);
/* "... found X, expected Y", X being what stands at the cursor. */
enum ss_err toml_expected(struct toml *t, const char *what);

/* Bytes of a line break at p: 0 (none), 1 or 2. */
size_t toml_newline(const char *p, const char *end);
/* Whether TOML writes this byte in a key without quotes. */
bool toml_is_bare(char c);

/*
 * The whole text: valid UTF-8, and no control characters but tab and line
 * breaks, which TOML allows nowhere.  Everything after rests on this.
 */
enum ss_err toml_check_text(struct toml *t);

/* A string at the cursor, in quotes; multiline says if three are allowed. */
enum ss_err toml_string(struct toml *t, bool multiline, struct node **out);
/* Whatever is written without quotes. */
enum ss_err toml_bare_value(struct toml *t, struct node **out);

#endif
