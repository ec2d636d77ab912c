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
	bool hidden; /* from readers; also where only a line says so */
	bool once;   /* a call of a tool must have a key */
	struct prompt *prompts;
	size_t prompt_count;
	const struct node *root; /* the whole mapping, for check */
};

/*
 * text     the whole page, from its first byte; borrowed for the call.
 * out      filled also when there is no frontmatter (SS_OK, FRONT_NONE); on
 *          an error it is empty but for format, body and hidden.  In arena;
 *          frontmatter_release frees the patterns.
 * Errors   SS_BAD_FRONTMATTER: message "line L, column C: found X, expected
 *          Y", hint what to write instead; lines count from the page's first.
 * Pure     no I/O.
 */
enum ss_err frontmatter_parse(struct arena *arena, const char *text, size_t len,
	struct frontmatter *out, struct node_place *place,
	struct ss_error *err);
/*
 * Does a line of wrong frontmatter, or of one without an end, begin with
 * `hidden` and not say false?  A mistake must not show the page.
 */
bool frontmatter_says_hidden(const char *text, size_t len);
void frontmatter_release(struct frontmatter *f);
/*
 * For `statespace check`: all->take gets each refusal, and *out holds what
 * could be read, of which nothing may be granted unless all->count is 0.
 * Errors   SS_INTERNAL.
 */
enum ss_err frontmatter_check(struct arena *arena, struct ss_text text,
	struct refusals *all, struct frontmatter *out, struct ss_error *err);

/* "yaml", "toml", "none" */
const char *frontmatter_format_name(enum front_format format);

#endif
