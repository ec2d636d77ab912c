/* SPDX-License-Identifier: MIT */
/* What the files of lint share: core/page/lint*.c, by subject. */
#ifndef SS_PAGE_LINT_OWN_H
#define SS_PAGE_LINT_OWN_H

#include "page/env.h"
#include "page/lint.h"

struct lint {
	const struct frontmatter *front;
	const char *path;
	struct ss_text text; /* the whole page; empty: not given */
	struct env_scope scope;
	lint_fn fn;
	void *ctx;
};

static inline struct node_place
place_of_spec(const struct spec *s)
{
	return (struct node_place){ s->line, s->column };
}

static inline struct node_place
place_of_part(const struct part *p)
{
	return (struct node_place){ p->line, p->column };
}

static inline struct node_place
place_of_node(const struct node *n)
{
	return (struct node_place){ n->line, n->column };
}

/* hint may be NULL. */
void lint_warn(const struct lint *l, enum warning w, struct node_place at,
	const char *hint, const char *message, ...) PRINTF_LIKE(5, 6);
/* The same with a hint that is formatted from one text. */
void lint_warn_text(const struct lint *l, enum warning w, struct node_place at,
	const char *hint, const char *message);

/* ---- programs ---- */

struct program;

/* The word's last part without a version: python of /usr/bin/python3.11. */
struct ss_text lint_program_name(struct ss_text word);
/* NULL: nothing is known of the tool's program. */
const struct program *lint_program(const struct spec *s);
/* Are the tool's words text of a language, with signs of its own? */
bool lint_reads_code(const struct spec *s);
/* Are some of them patterns of file names? */
bool lint_reads_patterns(const struct spec *s);
bool lint_is_option(const struct part *p);
/* Is the tool a shell whose next word is the text that it runs? */
bool lint_takes_code(const struct spec *s, const struct part *option);
/* fed: standard input is given. */
void lint_programs(const struct lint *l, const struct spec *s, bool fed);

/* ---- the other subjects ---- */

void lint_arguments(const struct lint *l, const struct spec *s);
void lint_keys(const struct lint *l);
void lint_lists(const struct lint *l, const struct spec *s);
void lint_networks(const struct lint *l);
void lint_page_text(const struct lint *l);
void lint_regexes(const struct lint *l, const struct spec *s);
void lint_shell(const struct lint *l, const struct spec *s);
void lint_shadows(const struct lint *l);
void lint_templates(const struct lint *l, const struct spec *s);
void lint_variables(const struct lint *l, const struct spec *s);
/* A tool's list of variables narrows the page's: it adds nothing. */
void lint_variable_list(const struct lint *l, const struct name_list *own);
/* script: the first word is no program, but the first argument. */
void lint_words(const struct lint *l, const struct spec *s, bool script);

#endif
