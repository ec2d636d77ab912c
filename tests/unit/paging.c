/* SPDX-License-Identifier: MIT */
/*
 * paging: where parts end, cursors that come back, and those that somebody
 * made up.
 */
#include <time.h>

static time_t test_now = 1800000000;
#define time(out) test_now

#include "../../core/site/paging.c"
#include "tap.h"

/* A store of one output, which the tests break. */
static struct {
	unsigned char id[SS_STORE_ID];
	char data[4096];
	size_t len;
	bool full, lost;
	unsigned puts, gets;
} stored;

static bool
put(void *ctx, const unsigned char *id, const char *data, size_t len,
	uint64_t *place)
{
	(void)ctx;
	stored.puts++;
	if (stored.full || len > sizeof(stored.data))
		return false;
	memcpy(stored.id, id, SS_STORE_ID);
	memcpy(stored.data, data, len);
	stored.len = len;
	*place = 42;
	return true;
}

static bool
get(void *ctx, const unsigned char *id, uint64_t place, char *data, size_t len)
{
	(void)ctx;
	stored.gets++;
	if (stored.lost || place != 42 || len != stored.len ||
		memcmp(id, stored.id, SS_STORE_ID) != 0)
		return false;
	memcpy(data, stored.data, len);
	return true;
}

static struct arena arena;
static struct seal seal = { .key = "a key of the test" };
static const struct ss_store store = {
	.size = sizeof(store), .put = put, .get = get
};
static struct ss_document doc = { .path = "a.md", .inode = 7 };
static struct proto_request request;
static char word[] = "seq", *argv[] = { word, NULL };
static struct confirm what = { .arena = &arena,
	.seal = &seal,
	.doc = &doc,
	.request = &request,
	.argv = argv };

static struct paging
paging(uint64_t lines, uint64_t bytes)
{
	return (struct paging){ .lines = lines,
		.bytes = bytes,
		.what = &what,
		.seal = &seal,
		.store = &store };
}

static size_t
ends(const char *text, size_t from, uint64_t lines, uint64_t bytes)
{
	return paging_end(text_of(text), from, lines, bytes);
}

static void
test_ends(void)
{
	is_int(4, (long long)ends("a\nb\nc\n", 0, 2, 99), "two lines");
	is_int(6, (long long)ends("a\nb\nc\n", 4, 2, 99), "the last one");
	is_int(6, (long long)ends("a\nb\nc\n", 0, 3, 99), "all of them");
	is_int(5, (long long)ends("a\nb\nc", 0, 3, 99),
		"no newline at the end");
	is_int(4, (long long)ends("a\nb\nc\n", 0, 0, 5), "bytes, at a line");
	is_int(4, (long long)ends("a\nb\nc\n", 0, 0, 4), "exactly");
	is_int(2, (long long)ends("a\nb\nc\n", 0, 0, 3), "one less");
	is_int(2, (long long)ends("a\nb\nc\n", 0, 1, 99), "lines come first");
	is_int(16, (long long)ends("0123456789abcdefgh\n", 0, 9, 16),
		"a line that is too long is cut");
	is_int(19, (long long)ends("0123456789abcdefgh\nx\n", 16, 1, 16),
		"its rest is the next part");
	is_int(15, (long long)ends("0123456789abcde\xc3\xbc\n", 0, 9, 16),
		"not in a character");
	is_int(17, (long long)ends("0123456789abcde\xc3\xbc\n", 0, 9, 17),
		"but behind it");
	is_int(1, (long long)ends("\x80\x80\x80\x80", 0, 9, 1),
		"what is no UTF-8 is cut anyhow");
	is_int(0, (long long)ends("", 0, 9, 16), "nothing is nothing");
	is_int(3, (long long)ends("\n\n\n", 0, 3, 16), "empty lines are lines");
}

/* Runs the tool that wrote text, from a cursor or "". */
static enum ss_err
cut(const char *text, const char *next, uint64_t lines, bool again,
	struct ss_result *result)
{
	struct paging p = paging(lines, 64);
	struct ss_error err = { .code = SS_OK };

	p.again = again;
	*result = SS_INIT(ss_result);
	if (next[0] != '\0' && paging_open(&p, next, &err) != SS_OK)
		return err.code;
	if (next[0] != '\0' && paging_take(&p, result, NULL) == SS_OK)
		return SS_OK;
	if (next[0] != '\0' && !again)
		return paging_gone(&err);
	result->out = text_of(text);
	result->returncode = 3;
	return paging_cut(&p, result, &err);
}

#define TEXT5 "1\n2\n3\n4\n5\n"

static bool
shows(const struct ss_result *r, const char *out, uint64_t first, uint64_t last,
	bool more)
{
	return text_is(r->out, out) && r->part.first == first &&
		r->part.last == last && r->part.more == more &&
		r->part.lines == 5 && r->part.bytes == 10 &&
		(r->part.next != NULL) == more;
}

static void
test_kept(void)
{
	struct ss_result r, second;

	ok(cut("1\n2\n", "", 2, false, &r) == SS_OK && r.part.lines == 0 &&
			text_is(r.out, "1\n2\n") && stored.puts == 0,
		"what fits comes whole, and nothing is kept");
	ok(cut(TEXT5, "", 2, false, &r) == SS_OK &&
			shows(&r, "1\n2\n", 1, 2, true) && stored.puts == 1,
		"the first part");
	ok(cut("ran", r.part.next, 2, false, &second) == SS_OK &&
			shows(&second, "3\n4\n", 3, 4, true) &&
			second.returncode == 3 && stored.puts == 1,
		"the second, of what was kept");
	ok(cut("ran", r.part.next, 2, false, &r) == SS_OK &&
			shows(&r, "3\n4\n", 3, 4, true),
		"a cursor is good for more than once");
	ok(cut("ran", second.part.next, 2, false, &r) == SS_OK &&
			shows(&r, "5\n", 5, 5, false),
		"the last");
	stored.data[9] = 'x';
	is_int(SS_NEXT_GONE, cut("ran", second.part.next, 2, false, &r),
		"what is not what was kept is not shown");
	stored.lost = true;
	is_int(SS_NEXT_GONE, cut("ran", second.part.next, 2, false, &r),
		"what is lost is told");
	stored.lost = false;
}

static void
test_again(void)
{
	struct ss_result r, next;

	stored.full = true;
	ok(cut(TEXT5, "", 2, false, &r) == SS_OK && r.part.more &&
			r.part.next == NULL && r.part.lines == 5,
		"there is no cursor that would lead nowhere");
	ok(cut(TEXT5, "", 2, true, &r) == SS_OK &&
			shows(&r, "1\n2\n", 1, 2, true),
		"a tool that may run again has one");
	ok(cut(TEXT5, r.part.next, 2, true, &next) == SS_OK &&
			shows(&next, "3\n4\n", 3, 4, true),
		"it runs again");
	ok(cut("1\n2\n3\n4\n5 and more\n6\n", next.part.next, 2, true, &r) ==
				SS_OK &&
			text_is(r.out, "5 and more\n6\n"),
		"what comes behind may be another");
	is_int(SS_NEXT_GONE,
		cut("1\n2\n3\nx\n5\n", next.part.next, 2, true, &r),
		"what comes before may not");
	ok(r.out.len == 0, "... and is not shown");
	is_int(SS_NEXT_GONE, cut("1\n", next.part.next, 2, true, &r),
		"nor be shorter");
	stored.full = false;
}

static bool
is_refused(const char *next)
{
	struct paging p = paging(2, 64);
	struct ss_error err = { .code = SS_OK };

	return paging_open(&p, next, &err) == SS_NEXT_GONE &&
		err.hint[0] != '\0' && p.from.offset == 0;
}

static bool
is_taken(const char *next)
{
	struct paging p = paging(2, 64);

	return paging_open(&p, next, NULL) == SS_OK && p.from.offset == 4;
}

static void
test_hostile(void)
{
	static const char *const wrong[] = { "", "x", "AAAA", "====", "0.1.2",
		"../../etc/passwd", "\xff\xfe" };
	struct ss_result r;
	char text[PAGING_CURSOR_MAX + 2];
	char other[] = "ls", *others[] = { other, NULL };
	size_t refused = 0, len;
	const char *next;

	cut(TEXT5, "", 2, false, &r);
	next = r.part.next;
	ok(is_taken(next), "a cursor");
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		ok(is_refused(wrong[i]), "refused: \"%s\"", wrong[i]);
	memset(text, 'A', sizeof(text));
	text[PAGING_CURSOR_MAX + 1] = '\0';
	ok(is_refused(text), "a long one is refused");
	len = strlen(next);
	for (size_t i = 0; i < len; i++) {
		memcpy(text, next, len + 1);
		text[i] = text[i] == 'A' ? 'B' : 'A';
		refused += is_refused(text);
	}
	is_int((long long)len, (long long)refused,
		"each altered one is refused");
	what.user = "eve";
	ok(is_refused(next), "another user's is refused");
	what.user = NULL;
	what.tool = 1;
	ok(is_refused(next), "another tool's");
	what.tool = 0;
	what.argv = others;
	ok(is_refused(next), "another command's");
	what.argv = argv;
	request.has_stdin = true;
	ok(is_refused(next), "another standard input's");
	request.has_stdin = false;
	doc.mtime_ns++;
	ok(is_refused(next), "that of a page before it was changed");
	doc.mtime_ns--;
	seal.key[0]++;
	ok(is_refused(next), "that of another server");
	seal.key[0]--;
	test_now += SEAL_VALID_S;
	ok(is_taken(next), "it is good for ten minutes");
	test_now++;
	ok(is_refused(next), "and no longer");
	test_now -= SEAL_VALID_S + 2;
	ok(is_refused(next), "nor before it was made");
}

int
main(void)
{
	arena_init(&arena, 0);
	test_ends();
	test_kept();
	test_again();
	test_hostile();
	arena_release(&arena);
	return done();
}
