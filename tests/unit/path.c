/* SPDX-License-Identifier: MIT */
/* Request paths: what is refused, how the rest is tidied. */
#include "wire/path.h"
#include "tap.h"

#include <stdlib.h>

static void
cleans(const char *raw, const char *wanted)
{
	char out[PATH_BYTES_MAX + 1], twice[PATH_BYTES_MAX + 1];
	struct ss_error err = { 0 };

	is_int(SS_OK, ss_path_clean(raw, strlen(raw), out, sizeof(out), &err),
		"takes \"%s\"", raw);
	is_str(wanted, out, "makes \"%s\" of it", wanted);
	ss_path_clean(out, strlen(out), twice, sizeof(twice), &err);
	is_str(out, twice, "and cleaning again changes nothing");
}

static void
refuses_bytes(const char *raw, size_t len, enum ss_err wanted, const char *why)
{
	char out[PATH_BYTES_MAX + 1];
	struct ss_error err = { 0 };

	is_int(wanted, ss_path_clean(raw, len, out, sizeof(out), &err),
		"refuses %s", why);
	ok(err.code == wanted && err.message[0] != '\0',
		"and says so in a sentence");
}

static void
refuses(const char *raw, enum ss_err wanted, const char *why)
{
	refuses_bytes(raw, strlen(raw), wanted, why);
}

static void
test_clean(void)
{
	cleans("", "");
	cleans("/", "");
	cleans("/./", "");
	cleans("a.md", "a.md");
	cleans("/a.md", "a.md");
	cleans("/d/", "d");
	cleans("/./d/./x//y/", "d/x/y");
	cleans("/a b", "a b");
	cleans("/a.md ", "a.md ");
	cleans("/%2e%2e/a.md", "%2e%2e/a.md");
	cleans("/caf\xc3\xa9", "caf\xc3\xa9");
	cleans("/a\\b", "a\\b");
	cleans("/v1.2", "v1.2");
	cleans("/a.", "a.");
}

static void
test_refusals(void)
{
	refuses("/..", SS_PATH_REFUSED, "a dot-dot alone");
	refuses("../a.md", SS_PATH_REFUSED, "a dot-dot at the start");
	refuses("/d/../a.md", SS_PATH_REFUSED, "a dot-dot that stays inside");
	refuses("/v1..2", SS_PATH_REFUSED, "a dot-dot inside a name");
	refuses("/...", SS_PATH_REFUSED, "three dots");
	refuses("//etc/passwd", SS_PATH_REFUSED, "an absolute path");
	refuses("//", SS_PATH_REFUSED, "two slashes and nothing else");
	refuses("/.env", SS_NOT_FOUND, "a dotfile");
	refuses("/d/.git/config", SS_NOT_FOUND, "a dot directory");
	refuses_bytes("/a.md\0.txt", 10, SS_BAD_REQUEST, "a NUL");
	refuses("/a\nb", SS_BAD_REQUEST, "a line feed");
	refuses("/a\x7f", SS_BAD_REQUEST, "a DEL");
	refuses("/\xff", SS_BAD_REQUEST, "a byte that is not UTF-8");
	refuses("/\xc0\xae\xc0\xae/", SS_BAD_REQUEST, "overlong dots");
	refuses("/\xed\xa0\x80", SS_BAD_REQUEST, "a surrogate");
	refuses("/../\xff", SS_BAD_REQUEST, "bad bytes before a dot-dot");
	refuses("/../.env", SS_PATH_REFUSED, "a dot-dot before a dotfile");
}

static void
test_lengths(void)
{
	char raw[PATH_BYTES_MAX + 2], out[PATH_BYTES_MAX + 1], small[4];
	struct ss_error err = { 0 };

	memset(raw, 'a', sizeof(raw));
	is_int(SS_OK,
		ss_path_clean(raw, PATH_BYTES_MAX, out, sizeof(out), &err),
		"takes a path of 4096 bytes");
	is_int(PATH_BYTES_MAX, (long long)strlen(out), "and keeps all of it");
	is_int(SS_BAD_REQUEST,
		ss_path_clean(raw, PATH_BYTES_MAX + 1, out, sizeof(out), &err),
		"refuses one of 4097");
	is_int(SS_OK, ss_path_clean("abc", 3, small, sizeof(small), &err),
		"fills a small buffer to its end");
	is_int(SS_BAD_REQUEST,
		ss_path_clean("abcd", 4, small, sizeof(small), &err),
		"refuses what does not fit the buffer");
	is_str("the path is longer than 3 bytes", err.message,
		"and says how much would");
	is_int(SS_PATH_REFUSED,
		ss_path_clean("a/../b", 6, out, sizeof(out), NULL),
		"needs no error struct");
}

static void
uri(const char *text, enum ss_err wanted, const char *sentence)
{
	struct ss_error err = { 0 };

	is_int(wanted, path_check_uri(text, &err), "%s", sentence);
}

static void
refuses_escape(const char *text, const char *sentence)
{
	struct ss_error err = { 0 };

	is_int(SS_BAD_REQUEST, path_check_uri(text, &err), "%s", sentence);
	ok(strstr(err.message, "broken") != NULL, "and calls it broken");
}

static void
test_uri(void)
{
	const size_t bytes = PATH_BYTES_MAX + 2;
	char *longer = malloc(3 * bytes + 2);

	uri("/a/b.md?x=../..", SS_OK, "does not look behind the question mark");
	uri("/a%20b", SS_OK, "takes an escape");
	uri("/%252e%252e/", SS_OK, "decodes once");
	uri("*", SS_OK, "takes the asterisk of OPTIONS");
	uri("", SS_OK, "takes an empty one");
	uri("http://host/a", SS_OK, "strips scheme and host");
	uri("http://host", SS_OK, "needs no path behind the host");
	uri("http://host?//", SS_OK, "finds the query behind the host");
	uri("http://host//a", SS_PATH_REFUSED, "sees two slashes behind it");
	uri("/a?u=http://h//x", SS_OK, "takes no URL in a query for a host");
	uri("/a/%2e%2e/b", SS_PATH_REFUSED, "refuses escaped dots");
	uri("/a/.%2E/b", SS_PATH_REFUSED, "refuses half-escaped dots");
	uri("//a", SS_PATH_REFUSED, "refuses two slashes at the start");
	uri("/%2Fa", SS_PATH_REFUSED, "refuses an escaped second slash");
	uri("http:///..", SS_PATH_REFUSED, "sees the path of no host");
	refuses_escape("/%", "refuses a percent sign at the end");
	refuses_escape("/%2", "refuses an escape that is cut");
	refuses_escape("/%zz", "refuses an escape that is none");
	refuses_escape("/%2?a", "does not borrow digits from the query");
	uri("/%00", SS_BAD_REQUEST, "refuses an escaped NUL");
	uri("/%0d%0a", SS_BAD_REQUEST, "refuses escaped line breaks");
	uri("/%ff", SS_BAD_REQUEST, "refuses escaped bytes that are no UTF-8");
	uri("/%c3%a9", SS_OK, "takes escaped UTF-8");
	if (!ok(longer != NULL, "has memory for a long URI"))
		return;
	longer[0] = '/';
	for (size_t i = 0; i < bytes; i++)
		memcpy(longer + 1 + 3 * i, "%61", 4);
	uri(longer, SS_BAD_REQUEST, "refuses far more than 4096 bytes");
	longer[1 + 3 * PATH_BYTES_MAX] = '\0';
	uri(longer, SS_BAD_REQUEST, "refuses 4097 bytes once decoded");
	longer[1 + 3 * (PATH_BYTES_MAX - 1)] = '\0';
	uri(longer, SS_OK, "takes 4096");
	free(longer);
}

static void
test_names(void)
{
	ok(path_is_page("a.md"), ".md is a page");
	ok(path_is_page("d/a.markdown"), ".markdown is a page");
	ok(!path_is_page("a.MD"), "case counts");
	ok(!path_is_page("a.md.txt"), "only the end counts");
	ok(!path_is_page("md"), "a name without a dot is none");
	is_int(4, (long long)path_dir_len("docs/a.md"), "docs/ has four bytes");
	is_int(0, (long long)path_dir_len("a.md"), "the root has none");
	is_int(3, (long long)path_dir_len("a/b/c"), "the last slash counts");
}

static void
test_climbs(void)
{
	static const char *const climbing[] = { "..", "../x", "x/..", "x/../y",
		"a=..", "--file=../x", "a=b=../c", "/..", "http://h/?q=../x" };
	static const char *const fine[] = { "", ".", "...", "a..b", "..a",
		"a..", "ab", "x/ab", "x/.b", "x/a.", "x/..y", "a=..b", "1..10",
		"x/...", "./.", "HEAD..x" };

	for (size_t i = 0; i < ARRAY_LEN(climbing); i++)
		ok(path_word_climbs(text_of(climbing[i])), "\"%s\" climbs",
			climbing[i]);
	for (size_t i = 0; i < ARRAY_LEN(fine); i++)
		ok(!path_word_climbs(text_of(fine[i])), "\"%s\" does not climb",
			fine[i]);
	ok(!path_word_climbs((struct ss_text){ "../x", 1 }),
		"does not look behind the word's end");
}

int
main(void)
{
	test_clean();
	test_refusals();
	test_lengths();
	test_uri();
	test_names();
	test_climbs();
	return done();
}
