/* SPDX-License-Identifier: MIT */
/*
 * One argument of a tool: its type, its limits, and whether a text is a value
 * for it (statespace-page(7), Arguments).  Pure.
 */
#ifndef SS_PAGE_ARGUMENT_H
#define SS_PAGE_ARGUMENT_H

#include "base/buf.h"
#include "page/pattern.h"
#include "page/value.h"

enum argument_type {
	ARGUMENT_WORD,    /* any word, or what its regex matches */
	ARGUMENT_TEXT,    /* kind: text, to which no path rule applies */
	ARGUMENT_PATH,    /* kind: path, relative to the page */
	ARGUMENT_INTEGER, /* the rest: type: */
	ARGUMENT_NUMBER,
	ARGUMENT_BOOLEAN, /* the word true or false */
	ARGUMENT_DATE,    /* 2026-01-31 */
	ARGUMENT_ENUM     /* enum: a list of words */
};

/* How a value is written into a template. */
enum argument_escape { ESCAPE_NONE, ESCAPE_URL, ESCAPE_SQL, ESCAPE_JSON };

/* min or max, of integers, numbers and dates (20260131). */
struct argument_limit {
	const char *text; /* as it is shown; NULL: none */
	double value;
};

struct argument {
	size_t index;                   /* in spec->arguments */
	const char *name, *description; /* NULL: none */
	enum argument_type type;
	struct ss_text regex; /* data is NULL when there is none */
	struct pattern *pattern;
	struct argument_limit min, max;
	struct name_list choices; /* ARGUMENT_ENUM */
	const char *initial;      /* default:, NULL: none */
	bool optional;            /* the word may be absent */
	bool dash;                /* a value may begin with '-' */
	bool exists;              /* ARGUMENT_PATH: checked before the run */
	struct name_list examples;
	enum argument_escape escape;
	bool query; /* ESCAPE_URL: all places follow a '?' */
	unsigned line, column;
};

/* Is this a name for an argument: letters, digits and '_'? */
bool argument_is_name(struct ss_text t);

/*
 * Reads a mapping of the keys name, description, regex, type, kind, enum, min,
 * max, default, optional, examples, dash, exists; or in a template (in_word) a
 * regex alone or a mapping without name and optional, and with escape.
 * *out keeps what the caller set in it: name, query, line, column.  Its pattern is
 * freed with argument_release, also after an error.
 * Errors  SS_BAD_FRONTMATTER.
 */
enum ss_err argument_parse(const struct reading *r, const struct node *n,
	bool in_word, struct argument *out);
void argument_release(struct argument *a);

/* PATTERN_LIMIT: its regex reached its limit. */
enum pattern_result
argument_takes(const struct argument *a, struct ss_text value);
/* Integers, numbers and booleans: their values are JSON as they are. */
bool argument_is_json(const struct argument *a);
/*
 * Did the author write this value, as a choice or as the default?  Then the
 * rules for an agent's words do not apply to it.
 */
bool argument_is_authors(const struct argument *a, struct ss_text value);

/* What it takes: "a whole number from 1 to 99".  Failures stick in out. */
void argument_expects(const struct argument *a, struct buf *out);
/* One value in a sentence. */
void argument_print_value(const char *value, struct buf *out);
/* SS_BAD_REQUEST: name is what callers know it by. */
enum ss_err argument_refuse(const struct argument *a, const char *name,
	struct ss_text value, struct ss_error *err);

#endif
