/* SPDX-License-Identifier: MIT */
/* The tree of a JSON text, beside the one that cJSON builds. */
#include "wire/json_tree.h"

#include <cjson/cJSON.h>

#include "tap.h"

static enum json_kind
kind_of(const cJSON *item)
{
	return cJSON_IsNull(item)      ? JSON_NULL
		: cJSON_IsFalse(item)  ? JSON_FALSE
		: cJSON_IsTrue(item)   ? JSON_TRUE
		: cJSON_IsNumber(item) ? JSON_NUMBER
		: cJSON_IsString(item) ? JSON_STRING
		: cJSON_IsArray(item)  ? JSON_LIST
				       : JSON_OBJECT;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same(const struct json_value *v, const cJSON *item)
{
	const struct json_value *inner = v->child;
	size_t count = 0;

	if (v->kind != kind_of(item) || !same_text(v->name, item->string) ||
		!same_text(v->text, item->valuestring) ||
		(v->kind == JSON_NUMBER && v->number != item->valuedouble))
		return false;
	for (item = item->child; item != NULL; item = item->next) {
		if (inner == NULL || !same(inner, item))
			return false;
		inner = inner->next;
		count++;
	}
	return inner == NULL && v->count == count;
}

/* What it writes is read as the same again. */
static bool
writes(const struct json_value *v, const cJSON *item)
{
	struct buf text = BUF_INIT(1 << 20);
	struct json_value *again = NULL;
	bool done = json_write(&text, v) &&
		json_check(text.data, text.len, NULL) == SS_OK &&
		(again = json_tree(text.data, text.len)) != NULL &&
		same(again, item);

	json_tree_free(again);
	buf_release(&text);
	return done;
}

static void
test_text(const char *text)
{
	size_t len = strlen(text);
	/* Of its own length: a sanitizer sees a byte too many. */
	char *copy = malloc(len);
	cJSON *item = cJSON_ParseWithLength(text, len);
	struct json_value *v;

	memcpy(copy, text, len);
	ok(json_check(copy, len, NULL) == SS_OK, "%.40s is taken", text);
	v = json_tree(copy, len);
	free(copy);
	ok(v != NULL && item != NULL && same(v, item), "... with this tree");
	ok(v != NULL && writes(v, item), "... and written again");
	json_tree_free(v);
	cJSON_Delete(item);
}

static void
test_members(void)
{
	static const char text[] =
		"{\"a\": [1, 2], \"A\": null, \"\": {\"a\": true}}";
	struct json_value *v = json_tree(text, sizeof(text) - 1);
	const struct json_value *a = json_member(v, "a");

	ok(json_is(a, JSON_LIST) && a->count == 2, "a member by its name");
	ok(json_is(json_member(v, "A"), JSON_NULL), "case counts");
	ok(json_is(json_member(json_member(v, ""), "a"), JSON_TRUE),
		"a name may be empty");
	ok(json_member(v, "b") == NULL, "one that is not there");
	ok(json_member(a, "a") == NULL, "a list has none");
	ok(json_member(NULL, "a") == NULL && !json_is(NULL, JSON_NULL),
		"nothing has none");
	json_tree_free(v);
}

static void
test_deep(void)
{
	char text[2 * JSON_DEPTH_MAX + 1] = "";

	for (size_t i = 0; i < JSON_DEPTH_MAX; i++) {
		text[i] = '[';
		text[2 * JSON_DEPTH_MAX - 1 - i] = ']';
	}
	test_text(text);
}

static void
test_number(const char *text, const char *written)
{
	struct json_value *v = json_tree(text, strlen(text));
	struct buf out = BUF_INIT(64);

	json_write(&out, v);
	is_str(written, out.data, "%s is written as %s", text, written);
	buf_release(&out);
	json_tree_free(v);
}

int
main(void)
{
	static const char *const texts[] = { "null", "true", "false", "0", "-0",
		"12.5e-3", "1E+2", "\"\"", "\"a\"", "[]", "{}", "[[]]", " [ ] ",
		"[1,2,3]", "[1,[2,{\"a\":[{}]}],null]",
		"{\"a\":1,\"b\":[true,false],\"c\":{\"d\":\"e\"}}",
		"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\u0041\\u00e9\\u20ac\"",
		"\"\\ud83d\\ude00 \xf0\x9f\x98\x80\"", "{\"\\u0061\":0}",
		"[\"a,b\",\"[{\",\"\\\",\\\",\"]", "\t{\r\n\"a\" :\t0 } ",
		"{\"\":\"\"}", "123456789012345678901234567890",
		"[0.1,1e300]" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		test_text(texts[i]);
	test_members();
	test_deep();
	test_number("5", "5");
	test_number("0.1", "0.1");
	test_number("9007199254740993", "9007199254740992");
	test_number("1e999", "null");
	return done();
}
