/* SPDX-License-Identifier: MIT */
/*
 * Fuzzes the reading of requests and the writing of answers.  Properties: our
 * scanner agrees with a plain recursive reader of RFC 8259's grammar and our
 * bounds; cJSON builds the same tree as ours of what the scanner takes; an
 * answer parses back to what was written.
 */
#include "base/base64.h"
#include "fuzz.h"
#include "wire/json_tree.h"
#include "wire/proto.h"

#include <cjson/cJSON.h>

/* ---------------------------------------------------------- plain reader -- */

/* Each returns what follows it, NULL when the text is refused. */
static const char *plain_value(const char *p, const char *end, int depth);

static const char *
plain_space(const char *p, const char *end)
{
	while (p < end && *p != '\0' && strchr(" \t\r\n", *p) != NULL)
		p++;
	return p;
}

/* Four digits as a number, UINT32_MAX when they are not. */
static uint32_t
plain_unit(const char *p, const char *end)
{
	char digits[5] = { 0 };

	if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
		return UINT32_MAX;
	memcpy(digits, p + 2, 4);
	if (strspn(digits, "0123456789abcdefABCDEF") != 4)
		return UINT32_MAX;
	return (uint32_t)strtoul(digits, NULL, 16);
}

static const char *
plain_escape(const char *p, const char *end)
{
	uint32_t unit = plain_unit(p, end), low;

	if (end - p >= 2 && p[1] != '\0' && strchr("\"\\/bfnrt", p[1]) != NULL)
		return p + 2;
	if (unit == 0 || unit == UINT32_MAX)
		return NULL;
	if (unit < 0xd800 || unit > 0xdfff)
		return p + 6;
	low = plain_unit(p + 6, end);
	return unit < 0xdc00 && low >= 0xdc00 && low <= 0xdfff ? p + 12 : NULL;
}

static const char *
plain_string(const char *p, const char *end)
{
	if (p == end || *p++ != '"')
		return NULL;
	while (p != NULL && p < end && *p != '"') {
		size_t n = utf8_sequence(p, (size_t)(end - p));

		if (*p == '\\')
			p = plain_escape(p, end);
		else if (n == 0 || (unsigned char)*p < 0x20)
			return NULL;
		else
			p += n;
	}
	return p != NULL && p < end ? p + 1 : NULL;
}

static const char *
plain_digits(const char *p, const char *end)
{
	const char *first = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > first ? p : NULL;
}

static const char *
plain_number(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	p = p < end && *p == '0' ? p + 1 : plain_digits(p, end);
	if (p != NULL && p < end && *p == '.')
		p = plain_digits(p + 1, end);
	if (p == NULL || p == end || (*p | 0x20) != 'e')
		return p;
	p++;
	if (p < end && (*p == '+' || *p == '-'))
		p++;
	return plain_digits(p, end);
}

static const char *
plain_member(const char *p, const char *end, bool named, int depth)
{
	p = plain_space(p, end);
	if (named) {
		p = plain_string(p, end);
		if (p == NULL)
			return NULL;
		p = plain_space(p, end);
		if (p == end || *p++ != ':')
			return NULL;
	}
	p = plain_value(p, end, depth);
	return p != NULL ? plain_space(p, end) : NULL;
}

static const char *
plain_container(const char *p, const char *end, int depth)
{
	bool named = *p == '{';
	char closer = named ? '}' : ']';

	if (depth == JSON_DEPTH_MAX)
		return NULL;
	p = plain_space(p + 1, end);
	if (p < end && *p == closer)
		return p + 1;
	for (;;) {
		p = plain_member(p, end, named, depth + 1);
		if (p == NULL || p == end)
			return NULL;
		if (*p == closer)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *
plain_value(const char *p, const char *end, int depth)
{
	static const char *const words[] = { "true", "false", "null" };

	p = plain_space(p, end);
	if (p == end)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if ((size_t)(end - p) >= strlen(words[i]) &&
			memcmp(p, words[i], strlen(words[i])) == 0)
			return p + strlen(words[i]);
	if (*p == '"')
		return plain_string(p, end);
	if (*p == '{' || *p == '[')
		return plain_container(p, end, depth);
	return plain_number(p, end);
}

static bool
has_twins(const cJSON *item)
{
	const cJSON *a, *b;

	cJSON_ArrayForEach(a, item)
	{
		if (has_twins(a))
			return true;
		for (b = a->next; cJSON_IsObject(item) && b; b = b->next)
			if (strcmp(a->string, b->string) == 0)
				return true;
	}
	return false;
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_tree(const struct json_value *v, const cJSON *item)
{
	const struct json_value *inner = v->child;

	if (!same_text(v->name, item->string) ||
		!same_text(v->text, item->valuestring) ||
		(v->kind == JSON_NUMBER) != cJSON_IsNumber(item) ||
		(v->kind == JSON_NUMBER && v->number != item->valuedouble))
		return false;
	for (item = item->child; item != NULL && inner != NULL;
		item = item->next, inner = inner->next)
		if (!same_tree(inner, item))
			return false;
	return item == NULL && inner == NULL;
}

static void
check_tree(const char *text, size_t len, const cJSON *item)
{
	struct json_value *tree = json_tree(text, len);

	promise(tree != NULL && same_tree(tree, item));
	json_tree_free(tree);
}

static void
check_agreement(const char *text, size_t len)
{
	struct ss_error err = { 0 };
	bool taken = json_check(text, len, &err) == SS_OK;
	const char *end = text + len, *p = plain_value(text, end, 0);
	bool plain = p != NULL && plain_space(p, end) == end;
	cJSON *tree;

	promise(taken == (err.message[0] == '\0'));
	if (!plain) {
		promise(!taken);
		return;
	}
	tree = cJSON_ParseWithLength(text, len);
	promise(tree != NULL);
	promise(taken == !has_twins(tree));
	if (taken)
		check_tree(text, len, tree);
	cJSON_Delete(tree);
}

/* --------------------------------------------------------------- answers -- */

static void
check_text(const cJSON *root, const char *name, struct ss_text sent)
{
	const char *got = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(root, name));

	promise(got != NULL && utf8_valid(got, strlen(got)));
	if (utf8_valid(sent.data, sent.len))
		promise(text_is(sent, got));
}

/* A NUL is written as \u0000, which neither cJSON nor our reader takes. */
static void
check_answer(struct ss_text out, struct ss_text err)
{
	struct buf b = BUF_INIT(8 << 20);
	cJSON *root;

	if (memchr(out.data, 0, out.len) || memchr(err.data, 0, err.len))
		return;
	promise(proto_result(&b,
		&(struct ss_result){ .out = out,
			.err = err,
			.returncode = 3,
			.sandbox = "strict" }));
	promise(json_check(b.data, b.len, NULL) == SS_OK);
	root = cJSON_ParseWithLength(b.data, b.len);
	promise(root != NULL);
	check_text(root, "stdout", out);
	check_text(root, "stderr", err);
	cJSON_Delete(root);
	buf_release(&b);
}

/* Bytes come back from base64; parsed output is what the tool wrote. */
static void
check_forms(struct ss_text out)
{
	struct ss_result r = { .out = out, .type = "image/png" };
	struct buf b = BUF_INIT(8 << 20), bytes = BUF_INIT(1 << 20);
	bool parses = json_check(out.data, out.len, NULL) == SS_OK;
	const char *coded;
	cJSON *root;

	promise(proto_result(&b, &r));
	promise(json_check(b.data, b.len, NULL) == SS_OK);
	root = cJSON_ParseWithLength(b.data, b.len);
	coded = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(root, "stdout_base64"));
	promise(coded != NULL && base64_read(&bytes, coded, strlen(coded)));
	promise(bytes.len == out.len &&
		(out.len == 0 || memcmp(bytes.data, out.data, out.len) == 0));
	cJSON_Delete(root);
	buf_clear(&b);
	r = (struct ss_result){ .out = out, .parse = true };
	promise(proto_result(&b, &r));
	promise(parses == (strncmp(b.data, "{\"stdout_json\"", 14) == 0));
	buf_clear(&b);
	promise(!parses ||
		(json_compact(&b, out.data, out.len) &&
			json_check(b.data, b.len, NULL) == SS_OK));
	buf_release(&b);
	buf_release(&bytes);
}

static void
check_request(const char *text, size_t len)
{
	struct arena arena;
	struct proto_request q;
	struct ss_error err = { 0 };
	size_t total = 0;

	arena_init(&arena, 0);
	if (proto_parse(&arena, text, len, &q, &err) == SS_OK) {
		promise(q.word_count > 0 && q.word_count <= PROTO_WORDS_MAX);
		for (size_t i = 0; i < q.word_count; i++) {
			promise(strlen(q.words[i].data) == q.words[i].len);
			promise(utf8_valid(q.words[i].data, q.words[i].len));
			total += q.words[i].len + 1;
		}
		promise(total <= PROTO_COMMAND_MAX);
	} else {
		promise(err.code != SS_OK && err.message[0] != '\0');
	}
	arena_release(&arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t half = size / 2;

	check_agreement(text, size);
	check_request(text, size);
	check_forms((struct ss_text){ text, size });
	if (size > 0)
		check_answer((struct ss_text){ text, half },
			(struct ss_text){ text + half, size - half });
	return 0;
}
