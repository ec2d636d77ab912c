/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>

#include "page/yaml.h"

static struct arena arena;
static struct ss_error err;
static struct node_place place;
static const struct reading reading = {
	.arena = &arena, .place = &place, .err = &err
};

static struct node *
read_bytes(const char *text, size_t len)
{
	struct node *root;

	arena_clear(&arena);
	error_clear(&err);
	place = (struct node_place){ 0, 0 };
	yaml_parse(&reading, (struct ss_text){ text, len }, 1,
		SS_BAD_FRONTMATTER, &root);
	return root;
}

static struct node *
read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void
is_kind(const char *text, enum node_kind kind, const char *value)
{
	struct node *n = read_text(text);

	ok(n != NULL && n->kind == kind && !n->tagged &&
			text_is((struct ss_text){ n->text, n->len }, value),
		"%s is %s", text,
		kind == NODE_NULL ? "null" : "its source text");
}

static void
refuses(const char *text, unsigned line, unsigned column, const char *hint)
{
	bool refused =
		read_text(text) == NULL && err.code == SS_BAD_FRONTMATTER;

	ok(refused && place.line == line && place.column == column &&
			strstr(err.message, ": found ") != NULL &&
			strstr(err.message, ", expected ") != NULL,
		"refused at %u:%u: %s", line, column, err.message);
	if (!refused || place.line != line || place.column != column)
		printf("# for %s\n# saw %u:%u\n", text, place.line,
			place.column);
	if (hint != NULL)
		ok(strstr(err.hint, hint) != NULL, "the hint says %s", hint);
	if (hint != NULL && strstr(err.hint, hint) == NULL)
		printf("# saw %s\n", err.hint);
}

static void
test_scalars(void)
{
	is_kind("5", NODE_STRING, "5");
	is_kind("true", NODE_STRING, "true");
	is_kind("0x1f", NODE_STRING, "0x1f");
	is_kind("2024-01-31", NODE_STRING, "2024-01-31");
	is_kind("~", NODE_NULL, "~");
	is_kind("null", NODE_NULL, "null");
	is_kind("Null", NODE_NULL, "Null");
	is_kind("NULL", NODE_NULL, "NULL");
	is_kind("nULL", NODE_STRING, "nULL");
	is_kind("'null'", NODE_STRING, "null");
	is_kind("\"~\"", NODE_STRING, "~");
	is_kind("''", NODE_STRING, "");
	is_kind("!!str null", NODE_STRING, "null");
	is_kind("! ~", NODE_STRING, "~");
	is_kind("!!int 007", NODE_STRING, "007");
	is_kind("!!null ''", NODE_NULL, "");
	ok(read_text("!x y")->tagged && read_text("!!binary eA==")->tagged &&
			read_text("!!set {a}")->tagged &&
			read_text("!!python/object:os [a]")->tagged,
		"a tag that is not known is marked");
	ok(!read_text("!!seq [a]")->tagged &&
			!read_text("!!map {a: b}")->tagged,
		"a tag of YAML's own that fits is not");
	ok(read_text("!!seq {a: b}")->tagged && read_text("!!map x")->tagged,
		"one that does not fit is");
	ok(read_text("") == NULL && err.code == SS_OK &&
			read_text("# only\n") == NULL && err.code == SS_OK,
		"an empty document is no node and no error");
}

static void
test_shape(void)
{
	struct node *n = read_text("a: [1, {b}]\nc:\n  - d\n  - {}\n");

	is_int(2, n->count, "a mapping counts its members");
	is_str("a", n->first->key->text, "a member knows its key");
	ok(n->first->first->next->kind == NODE_MAP &&
			n->first->first->next->first->kind == NODE_NULL,
		"{word} is a mapping with one null value");
	ok(node_member(n, "c")->last->line == 4 &&
			node_member(n, "c")->last->column == 5,
		"a node knows its line and column");
	is_int(2, read_text("a: 1\na: 2\n")->count, "duplicate keys are kept");
	n = read_text("b: &b {x: 1}\n<<: *b\n");
	ok(node_member(n, "x") == NULL && node_member(n, "<<") != NULL,
		"a merge key is an ordinary key");
	n = read_text("? [k]\n: v\nz: 1\n");
	ok(n->first->key->kind == NODE_LIST && node_member(n, "z") != NULL,
		"a list can be a key");
	yaml_parse(&reading, TEXT("\xc3\xa9: [*x]"), 7, SS_CONFIG, &n);
	ok(err.code == SS_CONFIG && place.line == 7 && place.column == 5,
		"lines begin where the caller says, columns are characters");
}

/* The text with a repeated middle; freed by the next call. */
static const char *
nested(const char *head, const char *unit, size_t count, const char *tail)
{
	static char *text;
	size_t n = strlen(unit);

	free(text);
	text = malloc(strlen(head) + n * count + strlen(tail) + 1);
	if (text == NULL)
		abort();
	strcpy(text, head);
	for (size_t i = 0, at = strlen(head); i <= count; i++, at += n)
		strcpy(text + at, i < count ? unit : tail);
	return text;
}

static void
test_aliases(void)
{
	struct node *n = read_text("a: &a [x]\nb: *a\nc: &a y\nd: *a\n");

	is_str("x", node_member(n, "b")->first->text, "an alias is its anchor");
	is_str("y", node_member(n, "d")->text, "the latest anchor counts");
	is_int(2, node_member(n, "b")->line, "an alias has its own line");
	refuses("x: [*nope]", 1, 5, "quote");
	refuses("a: &a [*a]", 1, 8, NULL);
	refuses("a: &a {b: [*a]}", 1, 12, NULL);
	refuses("a: &a [x,x,x,x,x,x,x,x,x,x]\n"
		"b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
		"c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
		"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
		"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n"
		"f: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		6, 8, NULL);
	ok(read_text(nested("a: &a x\nb: [", "*a,", 10000, "]")) != NULL,
		"10000 aliases are accepted");
	ok(read_text(nested("a: &a x\nb: [", "*a,", 10001, "]")) == NULL,
		"10001 are refused");
	ok(read_text(nested("[", "&a x,", 1000, "]")) != NULL,
		"1000 anchors are accepted");
	ok(read_text(nested("[", "&a x,", 1001, "]")) == NULL,
		"1001 are refused");
}

static void
test_depth(void)
{
	char text[256];

	ok(read_text(nested("", "- ", 64, "x")) != NULL, "64 levels are fine");
	refuses(nested("", "- ", 65, "x"), 1, 129, NULL);
	refuses(nested("", "[", 100000, ""), 1, 65, NULL);
	snprintf(text, sizeof(text), "a: &a %.*s[x]%.*s\nb: %.*s*a%.*s\n", 30,
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 30,
		"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", 31,
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 31,
		"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	ok(read_text(text) != NULL, "64 levels through an alias are fine");
	snprintf(text, sizeof(text), "a: &a %.*s[x]%.*s\nb: %.*s*a%.*s\n", 30,
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 30,
		"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", 32,
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 32,
		"]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
	ok(read_text(text) == NULL, "65 are refused");
	ok(read_text(nested("[", "x,", 199999, "]")) != NULL,
		"200000 values are accepted");
	ok(read_text(nested("[", "x,", 200000, "]")) == NULL,
		"200001 are refused");
}

static void
test_errors(void)
{
	refuses("a: [rm, {regex: \".*\\.txt$\"}]", 1, 20, "single quotes");
	refuses("a: [{regex: ^[a-z]+$}]", 1, 14, "single quotes");
	refuses("a: [{regex: [a-z]+$}]", 1, 18, "single quotes");
	refuses("a: [{regex: ^a{1,2}$}]", 1, 15, "single quotes");
	refuses("a:\n\t- [ls]\n", 2, 1, "tabs");
	refuses("a:\n  - x\n \t- y\n", 3, 2, "tabs");
	refuses("a: [ls\nb: 1", 2, 2, NULL);
	refuses("a: [*.md]", 1, 6, "quote");
	refuses("a: @x", 1, 4, "quote");
	refuses("a: b: c", 1, 5, "quote");
	refuses("a: 'x", 1, 6, "never closed");
	refuses("a: 1\n...\nb: 2\n", 3, 1, "one YAML document");
	refuses("a: 1\n--- \nb: 2\n", 2, 1, "one YAML document");
	refuses("a: \x01", 1, 4, NULL);
	refuses("a: 1\n\xff", 2, 1, "UTF-8");
	ok(read_bytes("a: \0b", 5) == NULL &&
			strstr(err.message, "NUL") != NULL,
		"a NUL byte is named");
}

int
main(void)
{
	arena_init(&arena, 0);
	test_scalars();
	test_shape();
	test_aliases();
	test_depth();
	test_errors();
	arena_release(&arena);
	return done();
}
