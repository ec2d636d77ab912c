/* SPDX-License-Identifier: MIT */
/*
 * Reads TOML 1.0 (toml.io/en/v1.0.0) into nodes.  Used for configuration and
 * for `+++` frontmatter; passes the whole official suite.
 */
#ifndef SS_PAGE_TOML_H
#define SS_PAGE_TOML_H

#include "page/node.h"

/*
 * text     borrowed for the call; nothing in the tree points into it.
 * line     the number of text's first line in its file (1: a file of its own).
 * out      the root mapping, in arena.
 * Errors   `code` (SS_CONFIG or SS_BAD_FRONTMATTER, the caller's choice) with
 *          "line L, column C: found X, expected Y".  SS_INTERNAL when memory
 *          ran out.
 * Pure     bounded depth, no recursion beyond it, no I/O.
 */
enum ss_err toml_parse(const struct reading *r, struct ss_text text,
	unsigned line, enum ss_err code, struct node **out);

#endif
