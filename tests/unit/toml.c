/* SPDX-License-Identifier: MIT */
/*
 * The TOML reader: positions, messages, and the official suite, whole
 * (github.com/toml-lang/toml-test; TOML_SUITE names its tests directory's
 * parent).
 */
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

#include "tap.h"

#include "base/fd.h"
#include "page/toml.h"

#include <fcntl.h>
#include <unistd.h>

static struct arena arena = { .limit = (size_t)64 << 20 };
static struct ss_error error;
static struct node_place place;
static const struct reading reading = {
	.arena = &arena, .place = &place, .err = &error
};

static struct node *
read_toml(const char *text)
{
	struct node *root = NULL;

	arena_clear(&arena);
	error_clear(&error);
	place = (struct node_place){ 0, 0 };
	toml_parse(&reading, text_of(text), 1, SS_CONFIG, &root);
	return root;
}

static void
refuses(const char *text, const char *message, const char *hint,
	const char *sentence)
{
	struct node *root = read_toml(text);

	ok(root == NULL && error.code == SS_CONFIG, "refuses %s", sentence);
	is_str(message, error.message, "... and says so");
	if (hint != NULL)
		ok(strstr(error.hint, hint) != NULL,
			"... with a remedy (\"%s\")", error.hint);
}

/* ----------------------------------------------------------- the readers -- */

static void
values(void)
{
	struct node *r = read_toml(
		"i = 1_000\nh = 0xFF\nf = 6.5_0e1\nt = true\n"
		"d = 1979-05-27 07:32:00Z\ns = 'C:\\x'\nb = \"\\u00e9\\t\"\n"
		"min = -9223372036854775808\n");

	if (!ok(r != NULL, "reads scalars (%s)", error.message))
		return;
	is_str("1_000", node_member(r, "i")->text,
		"keeps an integer as it was written");
	is_int(1000, node_member(r, "i")->value.integer,
		"knows what the integer is");
	is_int(255, node_member(r, "h")->value.integer, "reads hexadecimal");
	ok(node_member(r, "f")->value.number == 65.0, "reads a float");
	is_str("6.5_0e1", node_member(r, "f")->text,
		"keeps a float as it was written");
	ok(node_member(r, "t")->value.truth, "reads a boolean");
	is_str("true", node_member(r, "t")->text,
		"keeps a boolean as it was written");
	is_int(NODE_DATETIME, node_member(r, "d")->kind, "reads a date-time");
	is_str("1979-05-27 07:32:00Z", node_member(r, "d")->text,
		"keeps a date-time as it was written");
	is_str("C:\\x", node_member(r, "s")->text,
		"leaves a backslash in single quotes alone");
	is_str("\xc3\xa9\t", node_member(r, "b")->text,
		"reads escapes in double quotes");
	is_int(INT64_MIN, node_member(r, "min")->value.integer,
		"reads the smallest integer");
	ok(node_member(r, "i")->plain && !node_member(r, "s")->plain,
		"tells what stood in quotes");
}

static void
positions(void)
{
	struct node *r = read_toml("# h\xc3\xb6he\n"
				   "\"h\xc3\xb6he\" = 1\n"
				   "[a.b]\n"
				   "  c = [1,\n"
				   "    { d = 'x' }]\n"
				   "[[e]]\n"
				   "[[e]]\n");
	struct node *n;

	if (!ok(r != NULL, "reads tables (%s)", error.message))
		return;
	n = r->first;
	is_int(2, n->key->line, "a key knows its line");
	is_int(10, n->column, "columns count characters, not bytes");
	n = node_member(node_member(node_member(r, "a"), "b"), "c");
	is_int(3, n->key->column, "a key knows its column");
	is_int(7, n->column, "the place of a list is where it opens");
	is_int(5, n->last->line, "an element knows its line");
	is_int(11, n->last->first->column, "a value knows its column");
	n = node_member(r, "e");
	is_int(2, (long long)n->count, "[[e]] twice is a list of two");
	is_int(7, n->last->line, "the place of each is its header");
}

static void
later_lines(void)
{
	struct node *root = NULL;

	arena_clear(&arena);
	toml_parse(
		&reading, TEXT("a = 1\nb = x"), 41, SS_BAD_FRONTMATTER, &root);
	is_int(SS_BAD_FRONTMATTER, error.code,
		"a refusal carries the caller's code");
	ok(place.line == 42 && place.column == 5,
		"lines count from the number given");
	ok(strncmp(error.message, "line 42, column 5: ", 19) == 0,
		"... in the message too");
}

static void
mistakes(void)
{
	refuses("a = \"x\\.md\"",
		"line 1, column 7: found the escape \\., expected one of \\b "
		"\\t \\n \\f \\r \\\" \\\\ \\uXXXX \\UXXXXXXXX",
		"single quotes", "an unknown escape");
	refuses("a = hello",
		"line 1, column 5: found \"hello\", expected a value (text in "
		"quotes, a number, a date, true, false, [...] or {...})",
		"\"hello\"", "text without quotes");
	refuses("\nab: 1",
		"line 2, column 3: found \":\", expected \"=\" after the name",
		"name = value", "a colon for an equals sign");
	refuses("a = True",
		"line 1, column 5: found \"True\", expected a value (text in "
		"quotes, a number, a date, true, false, [...] or {...})",
		"small letters", "a boolean with a capital");
	refuses("a = 1\n[b]\n[c]\n[b]\n",
		"line 4, column 2: found the name \"b\" again (line 2 has it), "
		"expected a name that is new here",
		NULL, "a table named twice");
	refuses("a = 1\na = 2\n",
		"line 2, column 1: found the name \"a\" again (line 1 has it), "
		"expected another name, since it is a value already",
		NULL, "a key given twice");
	refuses("a = 'x",
		"line 1, column 7: found the end of the text, expected the "
		"closing quote",
		"line 1, column 5", "a string that never ends");
	refuses("a = \"\"\"\nx\n",
		"line 3, column 1: found the end of the text, expected three "
		"closing quotes",
		"line 1, column 5", "a long string that never ends");
	refuses("a = 1 2",
		"line 1, column 7: found \"2\", expected the end of the line",
		NULL, "two values on a line");
	refuses("a = {b = 1\n}",
		"line 1, column 11: found the end of the line, expected \",\" "
		"or \"}\"",
		"[table]", "an inline table over two lines");
	refuses("a = 9223372036854775808",
		"line 1, column 5: found \"9223372036854775808\", expected an "
		"integer that fits into 64 bits",
		NULL, "an integer beyond 64 bits");
	refuses("a = 007",
		"line 1, column 5: found \"007\", expected a value (text in "
		"quotes, a number, a date, true, false, [...] or {...})",
		"zeros", "zeros in front");
	refuses("a = 2023-02-29",
		"line 1, column 5: found \"2023-02-29\", expected a date or "
		"time like 1979-05-27T07:32:00Z, or text in quotes",
		NULL, "a day that the month does not have");
	refuses("\n# \x01",
		"line 2, column 3: found the control character U+0001, "
		"expected text",
		NULL, "a control character, even in a comment");
	refuses("a = '\xff'",
		"line 1, column 6: found the byte 0xFF, expected UTF-8", NULL,
		"bytes that are not UTF-8");
}

static void
depth(void)
{
	char text[400] = "a = ";

	memset(text + 4, '[', 64);
	memset(text + 68, ']', 64);
	ok(read_toml(text) != NULL, "lists may lie 64 deep");
	memset(text + 4, '[', 65);
	memset(text + 69, ']', 65);
	ok(read_toml(text) == NULL, "lists may not lie 65 deep");
	memset(text, '\0', sizeof(text));
	for (size_t i = 0; i < 65; i++)
		memcpy(text + 2 * i, "a.", 2);
	memcpy(text + 130, "a=1", 3);
	ok(read_toml(text) == NULL, "dots count as depth");
	ok(read_toml(text + 2) != NULL, "... and 64 of them are allowed");
}

static void
many_keys(void)
{
	struct buf b = BUF_INIT((size_t)1 << 20);
	struct node *r;

	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "k%d = %d\n", i, i);
	r = read_toml(b.data);
	ok(r != NULL && r->count == 20000, "reads 20000 keys");
	is_int(12345, r != NULL ? node_member(r, "k12345")->value.integer : 0,
		"... each in its place");
	buf_text(&b, "k777 = 0\n");
	ok(read_toml(b.data) == NULL && place.line == 20001,
		"... and finds the one that is given twice");
	buf_release(&b);
}

/* Whichever allocation is the one too many. */
static void
memory(void)
{
	struct buf b = BUF_INIT((size_t)1 << 20);
	enum ss_err code = SS_INTERNAL;
	size_t limit = 16384; /* none at all is no limit */
	int refused = 0, wrong = 0;

	for (int i = 0; i < 1000; i++)
		buf_printf(
			&b, "k%d = [\"%d\", 1.5, { a = 2024-01-01 }]\n", i, i);
	for (; code == SS_INTERNAL; limit += 16384) {
		struct arena small = { .limit = limit };
		struct reading r = {
			.arena = &small, .place = NULL, .err = &error
		};
		struct node *root = NULL;

		code = toml_parse(&r, buf_view(&b), 1, SS_CONFIG, &root);
		refused += code == SS_INTERNAL;
		wrong += (root != NULL) != (code == SS_OK);
		arena_release(&small);
	}
	ok(refused > 10 && wrong == 0,
		"no memory is an internal error, wherever it happens");
	is_int(SS_OK, code, "... until there is enough");
	buf_release(&b);
}

/* ------------------------------------------------------ the official suite -- */

static bool same(const struct node *n, const cJSON *want);

static bool
same_float(double got, const char *want)
{
	double wanted = strtod(want, NULL);

	return isnan(wanted) ? isnan(got) : got == wanted;
}

/* T for the letter between, Z large, no zeros at a fraction's end. */
static void
normalise(const char *text, char *out, size_t cap)
{
	size_t n = 0;

	for (const char *p = text; *p != '\0' && n + 1 < cap; p++) {
		size_t digits = *p == '.' ? strspn(p + 1, "0123456789") : 0;
		size_t kept = digits;

		while (kept > 0 && p[kept] == '0')
			kept--;
		if (digits > 0 && kept + n + 2 < cap) {
			memcpy(out + n, p, kept > 0 ? kept + 1 : 0);
			n += kept > 0 ? kept + 1 : 0;
			p += digits;
			continue;
		}
		out[n++] = *p == 't' || *p == ' ' ? 'T' : *p == 'z' ? 'Z' : *p;
	}
	out[n] = '\0';
}

static bool
same_time(const struct node *n, const char *want)
{
	char a[64], b[64];

	normalise(n->text, a, sizeof(a));
	normalise(want, b, sizeof(b));
	return strcmp(a, b) == 0;
}

static bool
same_scalar(const struct node *n, const char *type, const char *want)
{
	if (strcmp(type, "string") == 0)
		return n->kind == NODE_STRING && strlen(n->text) <= n->len &&
			strcmp(n->text, want) == 0;
	if (strcmp(type, "integer") == 0)
		return n->kind == NODE_INTEGER &&
			n->value.integer == strtoll(want, NULL, 10);
	if (strcmp(type, "float") == 0)
		return n->kind == NODE_FLOAT &&
			same_float(n->value.number, want);
	if (strcmp(type, "bool") == 0)
		return n->kind == NODE_BOOL &&
			n->value.truth == (strcmp(want, "true") == 0);
	if (strcmp(type, "datetime") == 0)
		return n->kind == NODE_DATETIME && same_time(n, want);
	if (strcmp(type, "datetime-local") == 0)
		return n->kind == NODE_LOCAL_DATETIME && same_time(n, want);
	if (strcmp(type, "date-local") == 0)
		return n->kind == NODE_LOCAL_DATE && same_time(n, want);
	if (strcmp(type, "time-local") == 0)
		return n->kind == NODE_LOCAL_TIME && same_time(n, want);
	return false;
}

static bool
same_list(const struct node *n, const cJSON *want)
{
	const struct node *item = n->first;
	const cJSON *wanted;

	if (n->kind != NODE_LIST || (int)n->count != cJSON_GetArraySize(want))
		return false;
	cJSON_ArrayForEach(wanted, want)
	{
		if (!same(item, wanted))
			return false;
		item = item->next;
	}
	return true;
}

static bool
same_map(const struct node *n, const cJSON *want)
{
	const cJSON *wanted;

	if (n->kind != NODE_MAP || (int)n->count != cJSON_GetArraySize(want))
		return false;
	cJSON_ArrayForEach(wanted, want)
	{
		const struct node *m = n->first;

		while (m != NULL && strcmp(m->key->text, wanted->string) != 0)
			m = m->next;
		if (m == NULL || !same(m, wanted))
			return false;
	}
	return true;
}

static bool
same(const struct node *n, const cJSON *want)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(want, "type");
	const cJSON *value = cJSON_GetObjectItemCaseSensitive(want, "value");

	if (cJSON_IsArray(want))
		return same_list(n, want);
	if (cJSON_IsString(type) && cJSON_IsString(value) &&
		cJSON_GetArraySize(want) == 2)
		return same_scalar(n, type->valuestring, value->valuestring);
	return same_map(n, want);
}

static bool
read_file(const char *dir, const char *name, struct buf *out)
{
	char path[4096];
	int fd, failed;

	snprintf(path, sizeof(path), "%s/tests/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd == -1)
		return false;
	buf_clear(out);
	failed = fd_read_all(fd, out);
	fd_close(&fd);
	return failed == 0 && buf_ok(out);
}

static bool
valid_case(const char *dir, const char *name, const struct buf *text)
{
	char json_name[1024];
	struct buf json = BUF_INIT((size_t)1 << 20);
	struct node *root = NULL;
	cJSON *want = NULL;
	bool equal = false;

	snprintf(json_name, sizeof(json_name), "%.*s.json",
		(int)strlen(name) - 5, name);
	if (read_file(dir, json_name, &json))
		want = cJSON_ParseWithLength(json.data, json.len);
	if (want != NULL &&
		toml_parse(&reading, buf_view(text), 1, SS_CONFIG, &root) ==
			SS_OK)
		equal = same(root, want);
	cJSON_Delete(want);
	buf_release(&json);
	return equal;
}

static bool
invalid_case(const struct buf *text)
{
	struct node *root = NULL;

	return toml_parse(&reading, buf_view(text), 1, SS_CONFIG, &root) ==
		SS_CONFIG &&
		place.line > 0 && place.column > 0;
}

static void
suite(void)
{
	const char *dir = getenv("TOML_SUITE");
	struct buf list = BUF_INIT((size_t)1 << 20);
	struct buf text = BUF_INIT((size_t)1 << 20);
	int valid = 0, invalid = 0, wrong = 0;
	char *rest, *name;

	if (dir == NULL)
		dir = "../shared/vectors/toml-test";
	if (!read_file(dir, "files-toml-1.0.0", &list)) {
		skip(2, "the official suite is not here (TOML_SUITE)");
		return;
	}
	for (rest = list.data; (name = strsep(&rest, "\n")) != NULL;) {
		size_t n = strlen(name);
		bool right;

		if (n < 5 || strcmp(name + n - 5, ".toml") != 0)
			continue;
		arena_clear(&arena);
		error_clear(&error);
		if (!read_file(dir, name, &text))
			right = false;
		else if (strncmp(name, "valid/", 6) == 0)
			right = valid_case(dir, name, &text);
		else
			right = invalid_case(&text);
		*(strncmp(name, "valid/", 6) == 0 ? &valid : &invalid) += 1;
		if (getenv("TOML_VERBOSE") != NULL)
			printf("# %s: %s\n", name, error.message);
		if (!right) {
			wrong++;
			printf("# %s: %s\n", name,
				error.code != SS_OK ? error.message
						    : "read differently");
		}
	}
	is_int(0, wrong, "agrees with the official suite");
	ok(valid > 150 && invalid > 350, "... on %d valid and %d invalid cases",
		valid, invalid);
	buf_release(&list);
	buf_release(&text);
}

int
main(void)
{
	values();
	positions();
	later_lines();
	mistakes();
	depth();
	many_keys();
	memory();
	suite();
	arena_release(&arena);
	return done();
}
