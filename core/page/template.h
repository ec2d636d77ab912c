/* SPDX-License-Identifier: MIT */
/*
 * A word of the author's with arguments in it: reading it, finding the values
 * in a word, and writing values into it (statespace-page(7), Tools).
 */
#ifndef SS_PAGE_TEMPLATE_H
#define SS_PAGE_TEMPLATE_H

#include "base/arena.h"
#include "page/part.h"

/* Bytes of all values that are tried for one command. */
#define TEMPLATE_BYTES_MAX ((size_t)8 * 1024 * 1024)

/* Reads the mapping { text: ..., name: regex, ... } into out->pieces. */
enum ss_err template_parse(
	const struct reading *r, const struct node *map, struct part *out);

/*
 * Finds values with which template_fill gives this word, each one that its
 * argument takes: into values, by the arguments' index, in arena or borrowed.
 * *left is what remains of TEMPLATE_BYTES_MAX.
 * PATTERN_LIMIT: too many ways to divide the word.
 */
enum pattern_result template_split(const struct part *p, struct ss_text word,
	struct arena *arena, struct ss_text *values, size_t *left);
/* Appends the word.  Every value is one that its argument takes. */
void template_fill(
	const struct part *p, const struct ss_text *values, struct buf *out);
/* Appends one value as its argument's escape writes it. */
void template_escape(
	enum argument_escape escape, struct ss_text value, struct buf *out);
/*
 * Would the values give the word a ".." that its author did not write
 * (PATTERN_YES, PATTERN_NO, PATTERN_MEMORY), or a '-' at its start?
 */
enum pattern_result
template_climbs(const struct part *p, const struct ss_text *values);
bool template_adds_dash(const struct part *p, struct ss_text word);

/* How often mark is in the author's text before piece i. */
size_t template_count_before(const struct part *p, size_t i, char mark);

#endif
