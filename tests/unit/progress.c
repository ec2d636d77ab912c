/* SPDX-License-Identifier: MIT */
/* Lines of progress: their numbers, and the message that a person may see. */
#include "wire/progress.h"
#include "tap.h"

static struct progress p;

static void
reads(const char *bytes)
{
	p = (struct progress){ .len = 0 };
	progress_read(&p, bytes, strlen(bytes));
}

static const char *
message(void)
{
	static char text[PROGRESS_LINE_MAX * 3 + 1];
	struct buf out = BUF_INIT(sizeof(text));

	progress_message(&p, true, &out);
	snprintf(text, sizeof(text), "%.*s", (int)out.len, out.data);
	buf_release(&out);
	return text;
}

static void
counts(const char *line, long long value, long long total, const char *text)
{
	reads(line);
	is_int(value, (long long)p.value, "value of %s", line);
	is_int(total, (long long)p.total, "total of %s", line);
	is_str(text, message(), "message of %s", line);
}

static void
test_counts(void)
{
	counts("12/50 copying\n", 12000, 50000, "copying");
	counts("24% text\n", 24000, 100000, "text");
	counts("24%\n", 24000, 100000, "");
	counts("  3/4: a: b\n", 3000, 4000, "a: b");
	counts("7.5% x\n", 7500, 100000, "x");
	counts("1.23456/2 x\n", 1234, 2000, "x");
	counts("0/1\n", 0, 1000, "");
	counts("50/50 all\n", 50000, 50000, "all");
	counts("999999999999/999999999999\n", 999999999999000, 999999999999000,
		"");
	counts("text 12/50\n", 0, 0, "text 12/50");
	counts("12/05/2024 old\n", 0, 0, "12/05/2024 old");
	counts("12/50x\n", 0, 0, "12/50x");
	counts("51/50 more\n", 0, 0, "51/50 more");
	counts("101% more\n", 0, 0, "101% more");
	counts("1/0\n", 0, 0, "1/0");
	counts("1000000000000/1000000000000\n", 0, 0,
		"1000000000000/1000000000000");
	counts("-1/5\n", 0, 0, "-1/5");
	counts("12\n", 0, 0, "12");
	counts("12/\n", 0, 0, "12/");
	counts("1./5 x\n", 0, 0, "1./5 x");
}

static void
test_lines(void)
{
	struct buf out = BUF_INIT(100);

	counts("1/3 a\n2/3 b\n3/3", 2000, 3000, "b");
	counts("1/3 a\nand then\n", 1000, 3000, "and then");
	counts(" 10%\r 20% of it\r", 20000, 100000, "of it");
	counts("1/2 x\r\n", 1000, 2000, "x");
	reads("\n\r\n");
	ok(!p.news, "empty lines are none");
	reads("half");
	ok(!p.news, "half a line is none");
	progress_read(&p, " a line\n", 8);
	is_str("half a line", message(), "the rest completes it");
	ok(p.news, "... and is told");
	reads("1/2 x\n");
	progress_message(&p, false, &out);
	is_str("1/2 x", out.data, "a line that nobody counts is whole");
	buf_release(&out);
}

static void
test_cleaned(void)
{
	counts("\033[32m5/10\033[0m green\n", 5000, 10000, "green");
	counts(" \033[1m 7%\033[0m: bold\n", 7000, 100000, ": bold");
	counts("\033[1m7/05/2024\n", 0, 0, "7/05/2024");
	counts("1/2 \033[1;31mred\033[0m \033]0;title\a!\n", 1000, 2000,
		"red !");
	counts("\033]8;;http://x\033\\link\033]8;;\033\\\n", 0, 0, "link");
	counts("\033(Bplain \033", 0, 0, "");
	counts("\033(Bplain \033\n", 0, 0, "plain");
	counts("a\tb\x01"
	       "c\x7f\n",
		0, 0, "a b c");
	counts("a\xc2\x9b"
	       "b \xe2\x80\xae"
	       "c\n",
		0, 0, "ab c");
	counts("gr\xc3\xbc\xc3\x9f\xff\n", 0, 0,
		"gr\xc3\xbc\xc3\x9f\xef\xbf\xbd");
}

static void
test_limits(void)
{
	static char line[PROGRESS_LINE_MAX + 2];

	memset(line, 'x', sizeof(line));
	p = (struct progress){ .len = 0 };
	progress_read(&p, line, PROGRESS_TEXT_MAX);
	progress_read(&p, "\n", 1);
	is_int(PROGRESS_TEXT_MAX, (long long)strlen(message()),
		"a message as long as may be");
	progress_read(&p, line, PROGRESS_TEXT_MAX + 1);
	progress_read(&p, "\n", 1);
	is_int(PROGRESS_TEXT_MAX, (long long)strlen(message()),
		"a longer one is cut");
	memcpy(line + PROGRESS_TEXT_MAX - 1, "\xc3\xbc", 2);
	progress_read(&p, line, PROGRESS_TEXT_MAX + 1);
	progress_read(&p, "\n", 1);
	is_int(PROGRESS_TEXT_MAX - 1, (long long)strlen(message()),
		"before a character, not in it");
	progress_read(&p, line, sizeof(line));
	progress_read(&p, "\n", 1);
	is_int(PROGRESS_LINE_MAX, (long long)p.text_len,
		"a line that is too long is cut");
	progress_read(&p, "2% next\n", 8);
	is_str("next", message(), "and the next one is whole");
}

int
main(void)
{
	test_counts();
	test_lines();
	test_cleaned();
	test_limits();
	return done();
}
