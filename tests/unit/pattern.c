/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "page/pattern.h"

static enum pattern_result
search_bytes(const char *source, const char *word, size_t len)
{
	enum pattern_result found;
	struct ss_error err;
	struct pattern *p;

	if (pattern_new(source, strlen(source), &p, &err) != SS_OK) {
		printf("# %s: %s\n", source, err.message);
		return PATTERN_LIMIT;
	}
	found = pattern_search(p, word, len);
	pattern_free(p);
	return found;
}

static bool
finds(const char *source, const char *word)
{
	return search_bytes(source, word, strlen(word)) == PATTERN_YES;
}

static bool
denies(const char *source, const char *word)
{
	return search_bytes(source, word, strlen(word)) == PATTERN_NO;
}

static bool
refused(const char *source, size_t len)
{
	struct ss_error err = { 0 };
	struct pattern *p;
	enum ss_err e = pattern_new(source, len, &p, &err);

	pattern_free(p);
	return e == SS_BAD_FRONTMATTER && p == NULL && err.message[0] != '\0';
}

/*
 * The processor time one search takes on count units and a tail, in
 * milliseconds.
 */
static double
time_of(const char *source, const char *unit, size_t count, const char *tail)
{
	size_t n = strlen(unit);
	char *word = malloc(n * count + strlen(tail) + 1);
	double begun;

	if (word == NULL)
		abort();
	for (size_t i = 0; i < count; i++)
		memcpy(word + i * n, unit, n);
	strcpy(word + n * count, tail);
	begun = cpu_ms();
	search_bytes(source, word, strlen(word));
	begun = cpu_ms() - begun;
	free(word);
	return begun;
}

static void
test_meaning(void)
{
	ok(finds("md$", "notes.md"), "is searched, not anchored");
	ok(denies("^[a-z]+$", "abc\n"), "$ is the very end, after a newline");
	ok(finds("(?m)^b$", "a\nb\nc"), "(?m) binds lines");
	ok(denies("^\\d+$", "\xd9\xa3"), "\\d is ASCII");
	ok(denies("^\\w+$", "\xc3\xa9"), "\\w is ASCII");
	ok(denies("^\\s+$", "\xc2\xa0"), "\\s is ASCII");
	ok(denies("^[[:alpha:]]+$", "\xc3\xa9"), "POSIX classes are ASCII");
	ok(finds("^.$", "\xc3\xa9"), "a dot is a character, not a byte");
	ok(finds("(?i)^\xc3\x89$", "\xc3\xa9"), "case folds beyond ASCII");
	ok(finds("^(?!.*;)SELECT\\b", "SELECT 1"), "look-ahead is allowed");
	ok(finds("(?<=a)b", "ab"), "look-behind is allowed");
	ok(finds("^(.)\\1$", "aa"), "a back reference is allowed");
	ok(finds("^$", ""), "an empty word can match");
	ok(search_bytes("^a", "a\xff", 2) == PATTERN_NO,
		"a word that is not UTF-8 matches nothing");
	ok(search_bytes("a",
		   "\xed\xa0\x80"
		   "a",
		   4) == PATTERN_NO,
		"nor does one with a surrogate");
	ok(search_bytes("^a.b$", "a\0b", 3) == PATTERN_YES &&
			search_bytes("^a$", "a\0b", 3) == PATTERN_NO,
		"a NUL in the word hides nothing behind it");
}

static void
test_refusals(void)
{
	static char big[64 * 1024 + 1];
	struct ss_error err;
	struct pattern *p;

	ok(refused("", 0), "an empty regex is refused");
	ok(refused("(", 1) && refused("[a", 2) && refused("a{2,1}", 6),
		"a broken regex is refused");
	ok(refused("a\\Cb", 4), "\\C is refused");
	ok(refused("(*UCP)\\d", 8), "(*UCP) cannot widen the classes");
	ok(refused("\xff", 1), "a source that is not UTF-8 is refused");
	ok(refused("((((a{1000}){1000}){1000}){1000})", 33),
		"a regex that grows too large is refused");
	memset(big, 'a', sizeof(big));
	ok(refused(big, sizeof(big)), "65537 bytes of source are refused");
	ok(pattern_new(big, sizeof(big) / 4, &p, &err) == SS_OK,
		"16384 bytes of source are accepted");
	pattern_free(p);
	pattern_new("\xc3\xa9\xc3\xa9(", 5, &p, &err);
	ok(strstr(err.message, "character 4") != NULL,
		"the place is counted in characters: %s", err.message);
	pattern_free(NULL);
}

static void
test_limits(void)
{
	static const struct {
		const char *source, *unit;
		size_t count;
		const char *tail;
	} hostile[] = { { "^(a+)+$", "a", 40, "!" },
		{ "(a+)+$", "a", 131000, "!" }, { "(x+x+)+y", "x", 999, "zy" },
		{ "\\w+;", "a", 131000, "-;" }, { "\\w+;", "a", 16000, "-;" },
		{ ".{0,1000}.{0,900}bX", "a", 8000, "X" },
		{ "(?=.*b)(?=.*c).*dX", "abc", 43000, "X" },
		{ "^(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)"
		  "(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)"
		  "(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)(a|a)bX",
			"a", 200, "X" },
		{ "(*LIMIT_MATCH=4000000000)^(a+)+$", "a", 40, "!" } };

	ok(search_bytes("^(a+)+$", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
		   39) == PATTERN_LIMIT,
		"a limit is told from a no");
	if (!is_timed()) {
		skip(ARRAY_LEN(hostile) + 1, "times mean nothing here");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
		ok(time_of(hostile[i].source, hostile[i].unit, hostile[i].count,
			   hostile[i].tail) < 1000,
			"bounded: %.30s on %zu", hostile[i].source,
			hostile[i].count);
	ok(time_of("^[a-z ]+$", "a ", 65000, "") < 50,
		"a plain pattern on a long word is fast");
}

/* Twenty such searches in a row would hold a worker for seconds. */
static void
test_command(void)
{
	static const char worst[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
	uint64_t began = clock_cpu_ms();
	unsigned searches = 0;

	pattern_command_begin();
	ok(search_bytes("^a$", "a", 1) == PATTERN_YES,
		"a command's first search");
	while (search_bytes("^a$", "a", 1) == PATTERN_YES &&
		searches++ < 100000)
		search_bytes("^(a+)+$", worst, sizeof(worst) - 1);
	ok(searches < 100000, "its searches end together");
	ok(clock_cpu_ms() - began >= 900, "... after a second");
	pattern_command_end();
	ok(search_bytes("^a$", "a", 1) == PATTERN_YES,
		"a search outside of a command is not counted");
	pattern_command_begin();
	ok(search_bytes("^a$", "a", 1) == PATTERN_YES,
		"the next command begins anew");
	pattern_command_end();
}

static void
test_long_words(void)
{
	static char word[131071];
	struct ss_error err;
	struct pattern *p;

	memset(word, 'a', sizeof(word));
	pattern_new("^a+$", 4, &p, &err);
	ok(pattern_search(p, word, sizeof(word)) == PATTERN_YES,
		"an anchored regex takes the longest word");
	pattern_free(p);
	pattern_new("a$", 2, &p, &err);
	ok(pattern_search(p, word, 16384) == PATTERN_YES,
		"an unanchored one takes 16 KiB");
	ok(pattern_search(p, word, 16385) == PATTERN_LIMIT, "and refuses more");
	pattern_free(p);
	/* Eight million steps; compiled code sees two thousand of them. */
	memcpy(word + 4000, "X;", 2);
	ok(search_bytes("^.*.*;X", word, 4002) == PATTERN_LIMIT,
		"on a long word every step is counted");
}

static bool
anchored(const char *source)
{
	const struct pattern_anchors a =
		pattern_anchors(source, strlen(source));

	return a.start && a.end;
}

static void
test_anchored(void)
{
	ok(anchored("^a$") && anchored("\\Aa\\z") && anchored("(?i)^a$") &&
			anchored("^(a|b)$") && anchored("^[|]$") &&
			anchored("^a\\\\$") && anchored("^[]|]$"),
		"sees a bound pattern");
	ok(!anchored("a$") && !anchored("^a") && !anchored("") &&
			!anchored("$") && !anchored("^"),
		"sees a missing anchor");
	ok(!anchored("^a|b$") && !anchored("^a$|b") && !anchored("^a$|"),
		"each alternative outside of groups is bound, or none");
	ok(anchored("^a$|^b$") && anchored("^(a|b)$|\\A[|]\\z"),
		"... and all may be");
	ok(!anchored("^a\\$") && !anchored("^a\\\\z"),
		"an escaped $ is no anchor");
	ok(!anchored("(?m)^a$") && !anchored("(?im)^a$"),
		"with (?m) lines are bound, not the word");
}

int
main(void)
{
	test_meaning();
	test_refusals();
	test_limits();
	test_command();
	test_long_words();
	test_anchored();
	return done();
}
