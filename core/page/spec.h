/* SPDX-License-Identifier: MIT */
/*
 * A tool of a page: its parts, its keys, and whether a command matches it
 * (statespace-page(7), Tools).  Reads nodes, knows neither YAML nor TOML.
 */
#ifndef SS_PAGE_SPEC_H
#define SS_PAGE_SPEC_H

#include "base/buf.h"
#include "page/ask.h"
#include "page/pattern.h"
#include "page/wants.h"

enum part_kind { PART_TEXT, PART_ANY, PART_REGEX };

struct part {
	enum part_kind kind;
	struct ss_text text; /* PART_TEXT: the word; PART_REGEX: the source */
	const char *name;    /* placeholder's name, or NULL */
	const char *description;
	struct pattern *pattern; /* PART_REGEX */
	unsigned line, column;
};

struct spec {
	struct part *parts;
	size_t part_count;
	bool locked; /* ended with ; */
	const char *name, *title, *description, *version, *output;
	bool takes_stdin;
	bool confirm;
	const struct ask *asks;
	size_t ask_count;
	struct name_list env; /* narrows the page's */
	struct wants wants;
	uint64_t max_running; /* 0: no limit */
	unsigned line, column;
};

/* Who chose a word of a matched command. */
enum word_origin { WORD_AUTHOR, WORD_FREE, WORD_REGEX, WORD_EXTRA };

/*
 * Reads one entry of `tools:`.  Everything in *out lives in arena, except the
 * patterns, which spec_release frees.
 * Errors  SS_BAD_FRONTMATTER with line, column, found, expected, hint.
 */
enum ss_err
spec_parse(const struct reading *r, const struct node *entry, struct spec *out);
void spec_release(struct spec *s);

/* PATTERN_LIMIT: a regex reached its limit; the command is refused. */
enum pattern_result
spec_match(const struct spec *s, const struct ss_text *words, size_t count);
/*
 * The first tool that matches: its index in *tool.
 * Errors  SS_NOT_ALLOWED; the hint lists the tools as their author wrote
 *         them, as many as fit.
 */
enum ss_err
spec_choose(const struct spec *specs, size_t count, const struct ss_text *words,
	size_t word_count, size_t *tool, struct ss_error *err);
/* Of word i in a command that matched. */
enum word_origin spec_origin(const struct spec *s, size_t i);

/* The tool as its author wrote it, in one line: [cat, {}, ;] */
bool spec_print(const struct spec *s, struct buf *out);
/*
 * The same, shorter, for people and models: placeholders by name, "…" for a
 * long word (a script) and for the end of a long command.
 */
bool spec_outline(const struct spec *s, struct buf *out);

#endif
