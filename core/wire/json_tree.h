/* SPDX-License-Identifier: MIT */
/* A tree of JSON text that json_check took. */
#ifndef SS_WIRE_JSON_TREE_H
#define SS_WIRE_JSON_TREE_H

#include "wire/json.h"

enum json_kind {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_LIST,
	JSON_OBJECT
};

struct json_value {
	enum json_kind kind;
	const char *name; /* of an object's member; else NULL */
	const char *text; /* of a string, else NULL */
	double number;
	size_t count; /* items or members */
	struct json_value *child, *next;
};

/*
 * Reads the text into one block of memory; released with json_tree_free.  text
 * must have passed json_check, which bounds its depth.  NULL: memory ran out.
 */
struct json_value *json_tree(const char *text, size_t len);
void json_tree_free(struct json_value *root);

/* False also for NULL. */
static inline bool
json_is(const struct json_value *v, enum json_kind kind)
{
	return v != NULL && v->kind == kind;
}

/* The member of that name; NULL when there is none, or v is no object. */
const struct json_value *
json_member(const struct json_value *v, const char *name);
/* The value as text, strings as json_string writes them. */
bool json_write(struct buf *out, const struct json_value *v);

#define JSON_EACH(item, list)                                                  \
	for ((item) = (list) != NULL ? (list)->child : NULL; (item) != NULL;   \
		(item) = (item)->next)

#endif
