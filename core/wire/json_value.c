/* SPDX-License-Identifier: MIT */
/* Members and text of a JSON tree, however it was read. */
#include "wire/json_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void
json_tree_free(struct json_value *root)
{
	free(root);
}

const struct json_value *
json_member(const struct json_value *v, const char *name)
{
	const struct json_value *m;

	if (!json_is(v, JSON_OBJECT))
		return NULL;
	JSON_EACH(m, v)
	if (m->name[0] == name[0] && strcmp(m->name, name) == 0)
		return m;
	return NULL;
}

/* ------------------------------------------------------------------ text */

static bool
write_number(struct buf *out, double n)
{
	char text[32];

	if (isinf(n))
		return buf_text(out, "null");
	/* The shortest that is read as the same number. */
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, n);
		if (strtod(text, NULL) == n)
			break;
	}
	return buf_text(out, text);
}

/* Recurses at most JSON_DEPTH_MAX deep. */
static bool
write_items(struct buf *out, const struct json_value *v)
{
	const struct json_value *item;

	buf_char(out, v->kind == JSON_LIST ? '[' : '{');
	JSON_EACH(item, v)
	{
		if (item != v->child)
			buf_char(out, ',');
		if (item->name != NULL) {
			json_string(out, item->name, strlen(item->name));
			buf_char(out, ':');
		}
		json_write(out, item);
	}
	return buf_char(out, v->kind == JSON_LIST ? ']' : '}');
}

bool
json_write(struct buf *out, const struct json_value *v)
{
	switch (v->kind) {
	case JSON_NULL: return buf_text(out, "null");
	case JSON_FALSE: return buf_text(out, "false");
	case JSON_TRUE: return buf_text(out, "true");
	case JSON_NUMBER: return write_number(out, v->number);
	case JSON_STRING: return json_string(out, v->text, strlen(v->text));
	case JSON_LIST:
	case JSON_OBJECT: return write_items(out, v);
	}
	return false;
}
