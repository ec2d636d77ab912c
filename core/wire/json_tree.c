/* SPDX-License-Identifier: MIT */
/*
 * The only file that knows cJSON: statespace-exec as a static program has
 * json_tree of fcgi/static.c in its place.  The tree is copied into one block,
 * so that values and their texts are released together.
 */
#include "wire/json_tree.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

struct copying {
	struct json_value *values; /* the next unused one */
	char *texts;               /* the same, for names and strings */
};

/* What the copy of item and its siblings takes.  Recurses as deep as the text. */
static void
measure(const cJSON *item, size_t *values, size_t *bytes)
{
	for (; item != NULL; item = item->next) {
		++*values;
		if (item->string != NULL)
			*bytes += strlen(item->string) + 1;
		if (item->valuestring != NULL)
			*bytes += strlen(item->valuestring) + 1;
		measure(item->child, values, bytes);
	}
}

static const char *
copy_text(struct copying *c, const char *text)
{
	char *start = c->texts;
	size_t size;

	if (text == NULL)
		return NULL;
	size = strlen(text) + 1;
	memcpy(start, text, size);
	c->texts += size;
	return start;
}

static enum json_kind
kind_of(const cJSON *item)
{
	if (cJSON_IsObject(item))
		return JSON_OBJECT;
	if (cJSON_IsArray(item))
		return JSON_LIST;
	if (cJSON_IsString(item))
		return JSON_STRING;
	if (cJSON_IsNumber(item))
		return JSON_NUMBER;
	if (cJSON_IsBool(item))
		return cJSON_IsTrue(item) ? JSON_TRUE : JSON_FALSE;
	return JSON_NULL;
}

/* Copies item and its siblings; *count is how many. */
static struct json_value *
copy_items(struct copying *c, const cJSON *item, size_t *count)
{
	struct json_value *first = NULL, **link = &first;

	for (*count = 0; item != NULL; item = item->next, ++*count) {
		struct json_value *v = c->values++;

		*v = (struct json_value){ .kind = kind_of(item),
			.name = copy_text(c, item->string),
			.text = copy_text(c, item->valuestring),
			.number = item->valuedouble };
		v->child = copy_items(c, item->child, &v->count);
		*link = v;
		link = &v->next;
	}
	return first;
}

struct json_value *
json_tree(const char *text, size_t len)
{
	cJSON *read = cJSON_ParseWithLength(text, len);
	size_t values = 0, bytes = 0, count;
	struct json_value *root;
	struct copying c;

	if (read == NULL)
		return NULL;
	measure(read, &values, &bytes);
	root = malloc(values * sizeof(*root) + bytes);
	if (root != NULL) {
		c = (struct copying){ root, (char *)(root + values) };
		copy_items(&c, read, &count);
	}
	cJSON_Delete(read);
	return root;
}
