/* SPDX-License-Identifier: MIT */
/* The file tools: their words, their patterns, their work beneath a folder. */
#include "tools/tool.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"
#include "tools/files.h"
#include "tools/wildcard.h"

static struct ss_error err;
static struct arena arena;
static int dir = -1;
static char place[] = "/tmp/statespace-tool-XXXXXX";

/* ------------------------------------------------------------- wildcards */

static const struct {
	const char *pattern, *path;
	bool matches;
} paths[] = {
	{ "*.md", "a.md", true },
	{ "*.md", ".md", false },
	{ "*.md", "s/a.md", false },
	{ "**/*.md", "a.md", true },
	{ "**/*.md", "s/t/a.md", true },
	{ "**/*.md", "s/.t/a.md", false },
	{ "**", "a/b", true },
	{ "a/**/z", "a/z", true },
	{ "a/**/z", "a/b/c/z", true },
	{ "a/**/z", "a/b/c/y", false },
	{ "**/b/**/d", "a/b/c/b/d", true },
	{ ".env", ".env", true },
	{ "?", "\xc3\xa9", true },
	{ "?", "ab", false },
	{ "[a-c]", "b", true },
	{ "[!a-c]", "b", false },
	{ "[^a-c]", "d", true },
	{ "[]x]", "]", true },
	{ "[[:digit:]]", "7", true },
	{ "[[:digit:]]", "x", false },
	{ "[a", "[a", true },
	{ "\\*", "*", true },
	{ "\\*", "x", false },
	{ "a*b*c", "axxbyyc", true },
	{ "a*b*c", "axxbyy", false },
	{ "[?*]", "*", true },
	{ "[!a]", ".", false },
	{ "[.]x", ".x", false },
};

static void
check_wildcards(void)
{
	const char *out[WILDCARD_LISTS];
	char hostile[4000], name[4000];
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		is_int(paths[i].matches,
			wildcard_path(paths[i].pattern, paths[i].path),
			"%s %s %s", paths[i].pattern,
			paths[i].matches ? "finds" : "does not find",
			paths[i].path);
	ok(wildcard_expand(&arena, "a{b,c{1,2}}{,x}", out, &count, &err) ==
				SS_OK &&
			count == 6,
		"braces multiply");
	ok(wildcard_expand(&arena, "{a}{b", out, &count, &err) == SS_OK &&
			count == 1 && strcmp(out[0], "{a}{b") == 0,
		"a brace without a comma is text");
	is_int(SS_BAD_REQUEST,
		wildcard_expand(&arena, "{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}{1,2}",
			out, &count, &err),
		"too many patterns are refused");
	memset(hostile, '*', sizeof(hostile));
	for (size_t i = 1; i < sizeof(hostile); i += 2)
		hostile[i] = 'a';
	memset(name, 'a', sizeof(name));
	ok(wildcard_part(hostile, 3998, name, 3999) &&
			!wildcard_part(hostile, 3999, name, 1000),
		"two thousand stars end");
	ok(!wildcard_part("*a*a*a*a*a*a*a*b", 16, name, 3999),
		"and say no when the last letter is missing");
}

/* ----------------------------------------------------------------- words */

static enum ss_err
words(struct tool_words *w, const char *line)
{
	static char text[512];
	static char *argv[32];
	size_t n = 0;

	snprintf(text, sizeof(text), "%s", line);
	for (char *p = strtok(text, " "); p != NULL; p = strtok(NULL, " "))
		argv[n++] = p;
	argv[n] = NULL;
	error_clear(&err);
	return tool_words_read(argv, w, &err);
}

static void
check_words(void)
{
	static const char *const wrong[] = { "glob", "glob a b", "glob -x a",
		"read", "read -l a", "read -l 0 a", "read -l 5-4 a",
		"read -l 5-4x a", "read -b 99999999999999999999 a", "write",
		"edit a b", "edit a b c d", "fs", "fs rm a", "fs grep",
		"fs grep -A x p", "fs grep -A 5000 p", "fs stat", "read a -l" };
	static const char *const climbing[] = { "glob ../*", "glob /etc/*",
		"glob a/../b", "read ../a", "read /etc/passwd", "write ../a x",
		"edit /a b c", "fs ls ..", "read .x/../y", "fs stat a/..",
		"fs grep x ../y" };
	struct tool_words w;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		is_int(SS_BAD_REQUEST, words(&w, wrong[i]), "wrong usage: %s",
			wrong[i]);
	for (size_t i = 0; i < ARRAY_LEN(climbing); i++)
		is_int(SS_PATH_REFUSED, words(&w, climbing[i]), "refuses %s",
			climbing[i]);
	ok(words(&w, "read a -l 3-9") == SS_OK && w.op == OP_READ &&
			w.first == 3 && w.last == 9 && !w.bytes,
		"options may follow the file");
	ok(words(&w, "read -b7- a") == SS_OK && w.first == 7 && w.last == 0 &&
			w.bytes,
		"a range without an end");
	ok(words(&w, "fs write a -n") == SS_OK && !w.new_only &&
			strcmp(w.operands[1], "-n") == 0,
		"text that looks like an option is text");
	ok(words(&w, "edit a -- -a") == SS_OK && w.operand_count == 3,
		"and two hyphens too");
	ok(words(&w, "fs grep -rniC2 -g *.c p s") == SS_OK && w.before == 2 &&
			w.after == 2 && w.ignore_case && w.operand_count == 2,
		"clusters, with a value at their end");
	ok(tool_find("ls") == NULL && tool_find("grep") == NULL &&
			tool_find("stat") == NULL &&
			tool_find("/usr/bin/curl") == NULL &&
			tool_find(NULL) == NULL,
		"ls, grep, stat and paths are programs");
	ok(tool_find("curl")->http && !tool_find("glob")->http,
		"curl is the one that speaks HTTP");
}

static void
check_reports(void)
{
	struct ss_text none = TEXT(""),
		       one = TEXT("network\nno answer\ntry later\n"),
		       odd = TEXT("internal\nx\n"), cut = TEXT("network");

	is_int(SS_OK, tool_reported(none, &err), "no report is no error");
	is_int(SS_NETWORK, tool_reported(one, &err), "a report has a code");
	is_str("no answer", err.message, "... a message");
	is_str("try later", err.hint, "... a hint");
	is_int(SS_INTERNAL, tool_reported(odd, &err),
		"a code that no helper can know");
	is_int(SS_NETWORK, tool_reported(cut, &err), "a cut report");
}

/* ------------------------------------------------------------------ work */

static void
put(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# cannot write %s\n", name);
	close(fd);
}

static bool
holds(const char *name, const char *text)
{
	struct buf b = BUF_INIT(1 << 20);
	bool same = tool_read(dir, name, &(struct tool_range){ .first = 1 }, &b,
			    NULL) == SS_OK &&
		b.len == strlen(text) && memcmp(b.data, text, b.len) == 0;

	buf_release(&b);
	return same;
}

static void
globs(const char *pattern, const char *wanted)
{
	struct tool_names names;
	struct buf b = BUF_INIT(4096);

	if (tool_glob(&arena, dir, pattern, 100, &names, &err) != SS_OK)
		buf_text(&b, ss_err_code(err.code));
	else
		for (size_t i = 0; i < names.count; i++)
			buf_printf(&b, "%s%s", i ? " " : "", names.items[i]);
	is_str(wanted, b.data, "glob %s", pattern);
	buf_release(&b);
}

static void
check_glob(void)
{
	struct tool_names names;

	globs("*", "a.txt in loop out s z.bin");
	globs("**/*.md", "s/d.md s/t/e.md");
	globs("**", "a.txt in loop out s s/d.md s/t s/t/e.md z.bin");
	globs("**/**/*.md", "s/d.md s/t/e.md");
	globs("*/", "in/ loop/ s/");
	globs("in/*.md", "in/d.md");
	globs("out/*", "");
	globs("loop/*",
		"loop/a.txt loop/in loop/loop loop/out loop/s loop/z.bin");
	globs("{a,z}.*", "a.txt z.bin");
	globs("{a.txt,a.*}", "a.txt");
	globs("s/d.md", "s/d.md");
	globs("./s//d.md", "s/d.md");
	globs(".h*", "");
	globs(".hidden", "");
	globs("s/../a.txt", "path_refused");
	globs("{a,../b}", "path_refused");
	globs("nothing*", "");
	ok(tool_glob(&arena, dir, "**", 3, &names, &err) == SS_OK &&
			names.count == 3 && names.truncated &&
			strcmp(names.items[2], "loop") == 0,
		"glob keeps the first ones when there are too many");
}

static void
check_read(void)
{
	struct tool_range r = { .first = 2, .last = 3 };
	struct buf b = BUF_INIT(64), small = BUF_INIT(4);

	ok(tool_read(dir, "a.txt", &r, &b, &err) == SS_OK, "a range of lines");
	is_str("two\nthree\n", b.data, "... is those lines");
	buf_clear(&b);
	r = (struct tool_range){ .bytes = true, .first = 3, .last = 5 };
	ok(tool_read(dir, "a.txt", &r, &b, &err) == SS_OK, "a range of bytes");
	is_str("e\nt", b.data, "... is those bytes");
	r = (struct tool_range){ .first = 1 };
	ok(tool_read(dir, "a.txt", &r, &small, &err) == SS_OK && small.full &&
			small.len == 4,
		"what does not fit is cut, and reported");
	is_int(SS_PATH_REFUSED, tool_read(dir, "out", &r, &b, &err),
		"a link that leads out is not read");
	is_int(SS_NOT_FOUND, tool_read(dir, "s", &r, &b, &err),
		"a directory is not read");
	is_int(SS_NOT_FOUND, tool_read(dir, "fifo", &r, &b, &err),
		"a FIFO is not waited for");
	is_int(SS_NOT_FOUND, tool_read(dir, ".hidden", &r, &b, &err),
		"a dot entry is not seen");
	buf_release(&b);
	buf_release(&small);
}

/* Every worker counts its processes anew: one of this number was killed. */
static void
check_leftovers(void)
{
	char name[64];

	snprintf(name, sizeof(name), ".statespace-%ld-0", (long)getpid());
	put(name, "half");
	ok(tool_write(dir, "s/whole", "x", 1, false, &err) == SS_OK &&
			tool_write(dir, "whole", "x", 1, false, &err) == SS_OK,
		"what a killed one left is in nobody's way");
	unlinkat(dir, name, 0);
	unlinkat(dir, "whole", 0);
	unlinkat(dir, "s/whole", 0);
}

static bool
edits(const char *old, const char *replacement, bool all, size_t *count)
{
	struct tool_edit edit = { text_of(old), text_of(replacement), all, 9 };
	enum ss_err code = tool_edit(dir, "a.txt", &edit, &err);

	*count = edit.count;
	return code == SS_OK;
}

static void
check_write(void)
{
	static const char bytes[] = "a\0b\xff";
	struct tool_stat st;
	struct stat whole;
	size_t count;

	ok(tool_write(dir, "s/new", bytes, 4, false, &err) == SS_OK &&
			tool_stat(dir, "s/new", &st, &err) == SS_OK &&
			st.size == 4,
		"bytes are written as they are");
	is_int(SS_NOT_FOUND, tool_write(dir, "s/new", "x", 1, true, &err),
		"new_only leaves what is there");
	ok(tool_write(dir, "a.txt", "x\n", 2, false, &err) == SS_OK &&
			holds("a.txt", "x\n") &&
			fstatat(dir, "a.txt", &whole, 0) == 0 &&
			(whole.st_mode & 0777) == 0640,
		"a file keeps its mode");
	is_int(SS_PATH_REFUSED, tool_write(dir, "out", "x", 1, false, &err),
		"no writing through a link");
	is_int(SS_PATH_REFUSED, tool_write(dir, "out/x", "x", 1, false, &err),
		"nor below one");
	is_int(SS_NOT_FOUND, tool_write(dir, "none/x", "x", 1, false, &err),
		"nor where no directory is");
	is_int(SS_NOT_FOUND, tool_write(dir, "s", "x", 1, false, &err),
		"nor over a directory");
	is_int(SS_NOT_FOUND, tool_write(dir, ".x", "x", 1, false, &err),
		"nor a dot entry");
	check_leftovers();
	put("a.txt", "one two one\n");
	ok(edits("two", "2", false, &count) && count == 1 &&
			holds("a.txt", "one 2 one\n"),
		"edit replaces what is there once");
	ok(!edits("one", "1", false, &count) && err.code == SS_NOT_FOUND &&
			count == 2 && holds("a.txt", "one 2 one\n") &&
			strstr(err.message, "2 matches") != NULL,
		"edit refuses what is there twice, and counts");
	ok(!edits("no", "1", true, &count) && err.code == SS_NOT_FOUND &&
			count == 0,
		"edit refuses what is not there");
	ok(edits("one", "", true, &count) && count == 2 &&
			holds("a.txt", " 2 \n"),
		"edit replaces all when asked");
}

struct lines {
	struct buf text;
	size_t most;
};

static bool
collect(void *ctx, const struct tool_line *l)
{
	struct lines *c = ctx;

	buf_printf(&c->text, "%s%s%c%d%c%.*s;", l->gap ? "--;" : "", l->path,
		l->hit ? ':' : '-', (int)l->number, l->hit ? ':' : '-',
		(int)l->text.len, l->text.data);
	return --c->most > 0;
}

static void
greps(const struct tool_search *what, const char *path, const char *wanted)
{
	struct lines c = { BUF_INIT(4096), 100 };

	error_clear(&err);
	if (tool_grep(dir, path, what, collect, &c, &err) != SS_OK)
		buf_text(&c.text, ss_err_code(err.code));
	is_str(wanted, c.text.data, "grep %s in '%s'", what->pattern, path);
	buf_release(&c.text);
}

static void
check_grep(void)
{
	put("a.txt", "one\ntwo\nthree\nfour\nfive\nsix\nseven");
	greps(&(struct tool_search){ .pattern = "^t" }, "",
		"a.txt:2:two;a.txt:3:three;");
	greps(&(struct tool_search){ .pattern = "SEVEN$", .ignore_case = true },
		"a.txt", "a.txt:7:seven;");
	greps(
		&(struct tool_search){
			.pattern = "^(one|five)$", .before = 1, .after = 1 },
		"a.txt",
		"a.txt:1:one;a.txt-2-two;--;a.txt-4-four;a.txt:5:five;"
		"a.txt-6-six;");
	greps(
		&(struct tool_search){
			.pattern = "t|f", .before = 2, .after = 2 },
		"a.txt",
		"a.txt-1-one;a.txt:2:two;a.txt:3:three;a.txt:4:four;"
		"a.txt:5:five;a.txt-6-six;a.txt-7-seven;");
	greps(&(struct tool_search){ .pattern = "page", .include = "*.md" }, "",
		"s/d.md:1:page;s/t/e.md:1:page;");
	greps(&(struct tool_search){ .pattern = "page", .include = "s/t/*" },
		"s", "s/t/e.md:1:page;");
	greps(&(struct tool_search){ .pattern = ".", .fixed = true }, "a.txt",
		"");
	greps(&(struct tool_search){ .pattern = "zero" }, "z.bin", "");
	greps(&(struct tool_search){ .pattern = "root" }, "out",
		"path_refused");
	greps(&(struct tool_search){ .pattern = "(" }, "", "bad_request");
	greps(&(struct tool_search){ .pattern = "x" }, "none", "not_found");
	greps(&(struct tool_search){ .pattern = "HIDDEN" }, "", "");
}

static void
check_stat(void)
{
	struct tool_names names;
	struct tool_stat st;

	ok(tool_stat(dir, "out", &st, &err) == SS_OK && st.is_symlink,
		"stat looks at the link itself");
	ok(tool_stat(dir, "s", &st, &err) == SS_OK && st.is_dir && st.size == 0,
		"stat of a directory");
	is_int(SS_NOT_FOUND, tool_stat(dir, "none", &st, &err),
		"stat of nothing");
	ok(tool_ls(&arena, dir, "s", 10, &names, &err) == SS_OK &&
			names.count == 3 && strcmp(names.items[2], "t/") == 0,
		"ls lists by name, directories with a slash");
	ok(tool_ls(&arena, dir, "s", 2, &names, &err) == SS_OK &&
			names.count == 2 && names.truncated,
		"ls says when there is more");
	is_int(SS_PATH_REFUSED, tool_ls(&arena, dir, "out", 2, &names, &err),
		"ls of what leads out");
}

/*
 * Links to a dot entry: at once, by way of a directory, by way of links, and
 * one in a directory that is a link.
 */
static const char *const to_dots[] = { "dot", "far", "chain", "dotdir",
	"in/near", "dotdir/x", "chaindir/x", "chaindir", NULL };

static bool
take_none(void *ctx, const struct tool_line *line)
{
	(void)line;
	*(bool *)ctx = true;
	return true;
}

static void
check_link_to_dot(const char *path)
{
	const struct tool_search what = { .pattern = "." };
	const struct tool_range all = { .first = 1 };
	struct buf out = BUF_INIT(4096);
	struct tool_names names;
	struct tool_stat st;
	struct tool_edit edit = { TEXT("I"), TEXT("x"), true, 0 };
	bool shown = false;

	is_int(SS_NOT_FOUND, tool_read(dir, path, &all, &out, &err),
		"read: no %s", path);
	is_int(0, out.len, "... and no byte of it");
	is_int(SS_NOT_FOUND, tool_stat(dir, path, &st, &err), "stat: no %s",
		path);
	is_int(SS_NOT_FOUND, tool_ls(&arena, dir, path, 9, &names, &err),
		"ls: no %s", path);
	is_int(SS_NOT_FOUND,
		tool_grep(dir, path, &what, take_none, &shown, &err),
		"grep: no %s", path);
	ok(!shown, "... and no line of it");
	ok(tool_glob(&arena, dir, path, 9, &names, &err) == SS_OK &&
			names.count == 0,
		"glob: no %s", path);
	is_int(SS_NOT_FOUND, tool_write(dir, path, "x", 1, false, &err),
		"write: no %s", path);
	is_int(SS_NOT_FOUND, tool_edit(dir, path, &edit, &err), "edit: no %s",
		path);
	buf_release(&out);
}

/* Of all read(2) of this process so far: proc_pid_io(5). */
static long long
bytes_read(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	long long n = -1;

	if (file != NULL && fscanf(file, "rchar: %lld", &n) != 1)
		n = -1;
	if (file != NULL)
		fclose(file);
	return n;
}

#define SPARSE ((off_t)5 << 30)

/* Three lines, a hole of 5 GiB that is the fourth, and two more. */
static int
put_sparse(void)
{
	int fd;

	put("sparse", "one\ntwo\nthree\n");
	fd = openat(dir, "sparse", O_RDWR | O_CLOEXEC);
	if (pwrite(fd, "\nfive\nsix\n", 10, SPARSE) != 10)
		printf("# cannot make a sparse file\n");
	return fd;
}

static void
check_holes(void)
{
	const struct tool_range late = { .first = 5, .last = 6 };
	const struct tool_range none = { .first = 9, .last = 9 };
	const struct tool_range early = { .first = 1, .last = 2 };
	const struct tool_search what = { .pattern = "." };
	struct buf out = BUF_INIT(4096);
	bool shown = false;
	int fd = put_sparse();
	long long before = bytes_read();

	if (before < 0 || lseek(fd, 65536, SEEK_DATA) < 65536 * 2) {
		skip(7, "no holes, or no /proc/self/io here");
		goto out;
	}
	ok(tool_read(dir, "sparse", &late, &out, &err) == SS_OK &&
			text_is(buf_view(&out), "five\nsix\n"),
		"lines behind a hole of 5 GiB");
	buf_clear(&out);
	ok(tool_read(dir, "sparse", &none, &out, &err) == SS_OK && out.len == 0,
		"no lines behind the end");
	ok(tool_read(dir, "sparse", &early, &out, &err) == SS_OK &&
			text_is(buf_view(&out), "one\ntwo\n"),
		"lines before it");
	ok(bytes_read() - before < (1 << 20), "... are read without the hole");
	before = bytes_read();
	is_int(SS_NOT_FOUND,
		tool_grep(dir, "sparse", &what, take_none, &shown, &err),
		"grep: too large");
	is_int(SS_OK, tool_grep(dir, "", &what, take_none, &shown, &err),
		"... and left out of a search of many");
	ok(bytes_read() - before < (1 << 20), "... without being read");
out:
	close(fd);
	unlinkat(dir, "sparse", 0);
	buf_release(&out);
}

/* Budgets of bytes, at the limit and one beyond it. */
static void
check_budgets(void)
{
	struct tool_range range = { .first = 3, .last = 3 };
	struct tool_search what = { .pattern = "^line" };
	struct buf text = BUF_INIT(1 << 20), out = BUF_INIT(4096);
	bool shown = false;

	/* The third line begins where two blocks have been read. */
	while (text.len < 65536 * 2 - 2)
		buf_char(&text, 'x');
	buf_text(&text, "\n\nline 3\n");
	buf_char(&text, '\0');
	put("long", text.data);
	range.skip_bytes = 65536;
	is_int(SS_BAD_REQUEST, tool_read(dir, "long", &range, &out, &err),
		"a line too far into the file is refused");
	ok(strstr(err.message, "too far") != NULL && err.hint[0] != '\0',
		"... in a sentence, with a hint");
	range.skip_bytes = 65536 * 2;
	ok(tool_read(dir, "long", &range, &out, &err) == SS_OK &&
			text_is(buf_view(&out), "line 3\n"),
		"at the limit it is read");
	what.search_bytes = text.len - 2;
	is_int(SS_BAD_REQUEST,
		tool_grep(dir, "long", &what, take_none, &shown, &err),
		"more text than a search takes is refused");
	ok(!shown, "... and none of it shown");
	what.search_bytes = text.len - 1;
	is_int(SS_OK, tool_grep(dir, "long", &what, take_none, &shown, &err),
		"... and as much as it takes is searched");
	ok(shown, "... to its end");
	unlinkat(dir, "long", 0);
	buf_release(&text);
	buf_release(&out);
}

static bool
are_names(const struct tool_names *names, const char *wanted)
{
	struct buf seen = BUF_INIT(4096);
	bool same;

	for (size_t i = 0; i < names->count; i++)
		buf_printf(&seen, "%s ", names->items[i]);
	same = text_is(buf_view(&seen), wanted);
	if (!same)
		printf("# %.*s\n", (int)seen.len, seen.data);
	buf_release(&seen);
	return same;
}

static void
check_links_to_dots(void)
{
	struct tool_names names;
	struct tool_stat st;

	mkdirat(dir, ".d", 0755);
	put(".d/x", "HIDDEN\n");
	put("s/.h", "HIDDEN\n");
	if (symlinkat(".hidden", dir, "dot") < 0 ||
		symlinkat("s/../s/.h", dir, "far") < 0 ||
		symlinkat("dot", dir, "chain") < 0 ||
		symlinkat(".d", dir, "dotdir") < 0 ||
		symlinkat("./in/../dotdir/", dir, "chaindir") < 0 ||
		symlinkat("../.d/x", dir, "s/near") < 0)
		printf("# cannot make the links\n");
	for (const char *const *p = to_dots; *p != NULL; p++)
		check_link_to_dot(*p);
	is_int(SS_NOT_FOUND, tool_write(dir, "dotdir/new", "x", 1, true, &err),
		"write: nothing new behind a link to a dot directory");
	ok(faccessat(dir, ".d/new", F_OK, 0) < 0, "... and it is not there");
	ok(tool_glob(&arena, dir, "{[a-l]*,[c-i]*/n*}", 20, &names, &err) ==
				SS_OK &&
			are_names(&names, "a.txt in in/new loop "),
		"glob names no link to a dot entry");
	ok(tool_ls(&arena, dir, "", 20, &names, &err) == SS_OK &&
			are_names(&names, "a.txt in loop out s/ z.bin ") &&
			!names.truncated,
		"ls names no link to a dot entry");
	ok(tool_ls(&arena, dir, "", 6, &names, &err) == SS_OK &&
			names.count == 6 && !names.truncated,
		"... and does not count one");
	ok(tool_stat(dir, "in/d.md", &st, &err) == SS_OK && !st.is_symlink,
		"what is behind another link is seen");
	for (const char *const *p =
			(const char *const[]){ "dot", "far", "chain", "dotdir",
				"chaindir", "s/near", "s/.h", ".d/x", NULL };
		*p != NULL; p++)
		unlinkat(dir, *p, 0);
	unlinkat(dir, ".d", AT_REMOVEDIR);
}

static void
prepare(void)
{
	if (mkdtemp(place) == NULL)
		exit(1);
	dir = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (mkdirat(dir, "s", 0755) < 0 || mkdirat(dir, "s/t", 0755) < 0 ||
		symlinkat("/etc/passwd", dir, "out") < 0 ||
		symlinkat("s", dir, "in") < 0 ||
		symlinkat(".", dir, "loop") < 0)
		printf("# cannot make the folder\n");
	put("a.txt", "one\ntwo\nthree\n");
	put("s/d.md", "page\n");
	put("s/t/e.md", "page\n");
	put(".hidden", "HIDDEN\n");
	put("z.bin", "zero\n");
	{
		int fd = openat(dir, "z.bin", O_WRONLY | O_APPEND);

		if (write(fd, "\0zero", 5) < 0)
			printf("# cannot write z.bin\n");
		close(fd);
	}
}

int
main(void)
{
	arena_init(&arena, 0);
	check_wildcards();
	check_words();
	check_reports();
	prepare();
	check_glob();
	mknodat(dir, "fifo", S_IFIFO | 0600, 0);
	check_read();
	unlinkat(dir, "fifo", 0);
	check_write();
	check_stat();
	check_grep();
	check_links_to_dots();
	check_holes();
	check_budgets();
	for (const char *const *p = (const char *const[]){ "s/t/e.md", "s/d.md",
		     "s/new", "a.txt", "z.bin", ".hidden", "out", "in", "loop",
		     NULL };
		*p != NULL; p++)
		unlinkat(dir, *p, 0);
	unlinkat(dir, "s/t", AT_REMOVEDIR);
	unlinkat(dir, "s", AT_REMOVEDIR);
	is_int(0, rmdir(place), "no tool left a file of its own");
	close(dir);
	arena_release(&arena);
	return done();
}
