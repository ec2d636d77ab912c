/* SPDX-License-Identifier: MIT */
/*
 * The tree of values that YAML and TOML are both read into.  Nodes live in an
 * arena; every node knows its line and column, for messages.
 */
#ifndef SS_PAGE_NODE_H
#define SS_PAGE_NODE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

enum node_kind {
	NODE_NULL,    /* YAML: ~, null, or nothing, unquoted */
	NODE_STRING,  /* YAML: every other scalar, as written */
	NODE_INTEGER, /* the rest: TOML only */
	NODE_FLOAT,
	NODE_BOOL,
	NODE_DATETIME,
	NODE_LOCAL_DATETIME,
	NODE_LOCAL_DATE,
	NODE_LOCAL_TIME,
	NODE_LIST,
	NODE_MAP
};

struct node {
	enum node_kind kind;
	unsigned line, column; /* from 1, in characters, within the text read */
	bool plain;            /* a scalar without quotes */
	bool tagged;           /* YAML: has a tag that we do not know */
	const char *text;      /* scalar: its value, NUL-terminated; a number,
				   boolean or time as it was written */
	size_t len;
	union {
		int64_t integer;
		double number;
		bool truth;
	} value;                          /* TOML scalars, read */
	const struct node *key;           /* in a map: the member's key */
	struct node *first, *last, *next; /* children; the next sibling */
	size_t count;                     /* of children */
};

/* NULL when memory ran out. */
struct node *node_new(struct arena *arena, enum node_kind kind, unsigned line,
	unsigned column);
void node_append(struct node *parent, struct node *child);
/* The member with that key, NULL when there is none (or no map). */
struct node *node_member(const struct node *map, const char *key);
/* "a list", "a mapping", "a string", ... for messages. */
const char *node_kind_name(const struct node *n);

/* A place in a text, from 1. */
struct node_place {
	unsigned line, column;
};

/*
 * For a reader that is to tell everything that is wrong: takes each refusal,
 * after which the reader goes on with the next key or item.
 */
struct refusals {
	void (*take)(void *ctx, const struct node_place *place,
		const struct ss_error *err);
	void *ctx;
	size_t count;
};

/* What every reader of a text or of nodes is given. */
struct reading {
	struct arena *arena;      /* for the values */
	struct node_place *place; /* where it refused; NULL: not wanted */
	struct ss_error *err;
	struct refusals *all; /* NULL: the first refusal ends the reading */
};

#endif
