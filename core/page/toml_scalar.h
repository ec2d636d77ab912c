/* SPDX-License-Identifier: MIT */
/*
 * Inside the TOML reader: the cursor, and scalars (strings, numbers, booleans,
 * dates).  Only toml.c and toml_scalar.c include this; others include toml.h.
 */
#ifndef SS_PAGE_TOML_SCALAR_H
#define SS_PAGE_TOML_SCALAR_H

#include "page/node.h"

struct toml {
	const struct reading *r;
	const char *at, *end; /* the cursor moves forward only */
	const char *mark;     /* the byte that mark_place is for */
	struct node_place mark_place;
	enum ss_err code; /* of a refusal */
};

/* The cursor's place, counted on from the place of the last call. */
struct node_place toml_here(struct toml *t);

/* "line L, column C: ", then the text. */
enum ss_err toml_refuse(struct toml *t, struct node_place where,
	const char *format, ...) PRINTF_LIKE(3, 4);
/* "... found X, expected Y", X being the text at the cursor. */
enum ss_err toml_expected(struct toml *t, const char *what);

/* Bytes of a line break at p: 0 (none), 1 or 2. */
size_t toml_newline(const char *p, const char *end);
/* Whether TOML writes this byte in a key without quotes. */
bool toml_is_bare(char c);

/*
 * Checks the whole text: valid UTF-8 without control characters but tab and
 * line breaks.  All other functions rely on this.
 */
enum ss_err toml_check_text(struct toml *t);

/* A string at the cursor, in quotes; multiline says if three are allowed. */
enum ss_err toml_string(struct toml *t, bool multiline, struct node **out);
/* A value without quotes. */
enum ss_err toml_bare_value(struct toml *t, struct node **out);

#endif
