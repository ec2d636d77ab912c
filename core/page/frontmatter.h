/* SPDX-License-Identifier: MIT */
/*
 * Finds the frontmatter of a page and reads its keys (statespace-page(7)).
 * Any error makes the whole page grant nothing.
 */
#ifndef SS_PAGE_FRONTMATTER_H
#define SS_PAGE_FRONTMATTER_H

#include "page/prompt.h"
#include "page/spec.h"

enum front_format { FRONT_NONE, FRONT_YAML, FRONT_TOML };

struct frontmatter {
	enum front_format format;
	size_t body; /* offset of the first byte after it */
	struct spec *specs;
	size_t spec_count;
	struct name_list env;
	struct wants sandbox;
	const char *title, *description; /* NULL: none */
	struct prompt *prompts;
	size_t prompt_count;
	const struct node *root; /* the whole mapping, for check */
};

/*
 * text     the whole page, from its first byte; borrowed for the call.
 * out      filled also when there is no frontmatter (SS_OK, FRONT_NONE); on
 *          an error it is empty but for format and body.  In arena;
 *          frontmatter_release frees the patterns.
 * Errors   SS_BAD_FRONTMATTER: message "line L, column C: found X, expected
 *          Y", hint what to write instead; lines count from the page's first.
 * Pure     no I/O.
 */
enum ss_err frontmatter_parse(struct arena *arena, const char *text, size_t len,
	struct frontmatter *out, struct node_place *place,
	struct ss_error *err);
void frontmatter_release(struct frontmatter *f);

/* "yaml", "toml", "none" */
const char *frontmatter_format_name(enum front_format format);

#endif
