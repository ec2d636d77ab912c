/* SPDX-License-Identifier: MIT */
/* log: one event, one whole line; its time and its numbers. */
#include "base/log.h"

#include <time.h>

#include "base/clock.h"
#include "tap.h"

static char line[LOG_LINE_MAX];
static size_t line_len;

static void
keep(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	memcpy(line, text, len);
	line[len] = '\0';
	line_len = len;
}

/* What follows the time, which is another one each time. */
static const char *
ended(struct log_line *l)
{
	const char *event;

	line[0] = '\0';
	line_len = 0;
	log_end(l, keep, NULL);
	event = strstr(line, "event");
	return event != NULL ? event : line;
}

static void
test_numbers(void)
{
	char text[NUMBER_MAX + 1];

	text[text_number(text, 0)] = '\0';
	is_str("0", text, "zero has a digit");
	text[text_number(text, INT64_MAX)] = '\0';
	is_str("9223372036854775807", text, "the largest number is whole");
	text[text_number(text, INT64_MIN)] = '\0';
	is_str("-9223372036854775808", text, "the smallest number is whole");
	text[text_ms(text, 7)] = '\0';
	is_str("0.007", text, "seven microseconds are 0.007 ms");
	text[text_ms(text, 61234050)] = '\0';
	is_str("61234.050", text, "a minute keeps its microseconds");
	text[text_ms(text, UINT64_MAX)] = '\0';
	is_str("18446744073709551.615", text, "no time is too long");
}

/* The clock that clock_stamp reads; time(2) is a tick behind it. */
static time_t
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec;
}

static bool
says(const char *stamp, time_t second)
{
	char want[32];

	strftime(want, sizeof(want), "%Y-%m-%dT%H:%M:%S.", gmtime(&second));
	return strncmp(stamp, want, strlen(want)) == 0;
}

/* Over a second's end, where what is kept is written anew. */
static void
test_stamp(void)
{
	char stamp[CLOCK_STAMP];
	struct timespec pause = { .tv_nsec = 1000000 };
	time_t first = now(), before, after;
	bool same = true;

	do {
		before = now();
		clock_stamp(stamp);
		after = now();
		same &= says(stamp, before) || says(stamp, after);
		nanosleep(&pause, NULL);
	} while (after == first);
	ok(same, "the time is the clock's, also when the second ends");
	ok(strspn(stamp + 20, "0123456789") == 3 &&
			strcmp(stamp + 23, "Z") == 0,
		"it has milliseconds, and is of no time zone: %s", stamp);
}

static void
fill(struct log_line *l)
{
	log_text(l, "bare", "a/b-c");
	log_text(l, "none", NULL);
	log_text(l, "empty", "");
	log_text(l, "text", "a \"b\"\\\n\x01\x7f\xff\xc3\xa9");
	log_number(l, "n", -12);
	log_ms(l, "ms", 1268);
}

static void
test_formats(void)
{
	struct log_line l;

	log_begin(&l, LOG_LOGFMT, "test");
	fill(&l);
	is_str("event=test bare=a/b-c empty=\"\" "
	       "text=\"a \\\"b\\\"\\\\\\u000a\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\" "
	       "n=-12 ms=1.268",
		ended(&l),
		"logfmt quotes what is not bare and escapes control bytes");
	log_begin(&l, LOG_JSON, "test");
	fill(&l);
	is_str("event\":\"test\",\"bare\":\"a/b-c\",\"empty\":\"\","
	       "\"text\":"
	       "\"a \\\"b\\\"\\\\\\u000a\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\","
	       "\"n\":-12,\"ms\":1.268}",
		ended(&l), "a JSON line is an object, with numbers as numbers");
	ok(strncmp(line, "{\"time\":\"2", 10) == 0,
		"it begins with the time: %.20s", line);
}

static void
test_too_long(void)
{
	struct log_line l;
	char value[1000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	log_begin(&l, LOG_LOGFMT, "test");
	log_text(&l, "v", value);
	is_int(10 + 3 + 512, (long long)strlen(ended(&l)),
		"a value is cut at 512 bytes");
}

/* A line of one field that ends n bytes before the last that fits. */
static void
fill_up(struct log_line *l, enum log_format format, size_t n, char *value)
{
	log_begin(l, format, "test");
	memset(value, 'x', LOG_LINE_MAX);
	value[LOG_LINE_MAX - 16 - l->len -
		strlen(format == LOG_JSON ? ",\"v\":\"" : " v=") - n] = '\0';
	log_text_max(l, "v", value, LOG_LINE_MAX);
}

static bool
ends_with(const char *end)
{
	size_t n = strlen(end);

	return line_len >= n && strcmp(line + line_len - n, end) == 0;
}

static void
test_cut(void)
{
	static const char mark[] = " cut=true",
			  json_mark[] = "\",\"cut\":true}";
	static char value[LOG_LINE_MAX + 1];
	struct log_line l;

	fill_up(&l, LOG_LOGFMT, 0, value);
	ended(&l);
	ok(line_len == LOG_LINE_MAX - 16 && ends_with("xxx"),
		"a line that just fits is whole: %zu", line_len);
	fill_up(&l, LOG_LOGFMT, 0, value);
	log_number(&l, "n", 1);
	log_text(&l, "t", "");
	ended(&l);
	ok(line_len == LOG_LINE_MAX - 16 + strlen(mark) && ends_with(mark) &&
			strstr(line, "n=") == NULL &&
			strstr(line, "t=\"") == NULL,
		"fields behind it are left out, with a mark");
	fill_up(&l, LOG_LOGFMT, 4, value);
	log_number(&l, "n", 1);
	ended(&l);
	ok(ends_with(" n=1"), "a number that just fits is there");
	fill_up(&l, LOG_LOGFMT, 4, value);
	log_number(&l, "n", 12);
	log_number(&l, "k", 1);
	ended(&l);
	ok(ends_with("xxx cut=true"), "one digit more and it is not");
	fill_up(&l, LOG_LOGFMT, 7, value);
	log_text(&l, "t", "a\xc3\xa9\xc3\xa9");
	ended(&l);
	ok(ends_with(" t=\"a\xc3\xa9\" cut=true"),
		"a text is cut at a character, and stays quoted");
	fill_up(&l, LOG_JSON, 9, value);
	log_text(&l, "t", "a\x01z");
	ended(&l);
	ok(ends_with(",\"t\":\"a\",\"cut\":true}"),
		"JSON is an object still, with no escape in part");
	fill_up(&l, LOG_JSON, 0, value);
	log_text(&l, "t", "a");
	ended(&l);
	ok(ends_with(json_mark) && line_len < LOG_LINE_MAX,
		"also when the next field has no room at all");
	for (size_t n = 0; n < 40; n++) {
		fill_up(&l, n % 2 ? LOG_JSON : LOG_LOGFMT, n / 2, value);
		for (int i = 0; i < 9; i++) {
			log_text(&l, "t", "\"\xc3\xa9\xff ");
			log_number(&l, "n", INT64_MIN);
		}
		ended(&l);
		ok(line_len > 0 && line_len < LOG_LINE_MAX &&
				utf8_valid(line, line_len) &&
				strstr(line, "cut") != NULL,
			"cut at %zu, it is UTF-8", n);
	}
}

int
main(void)
{
	test_numbers();
	test_stamp();
	test_formats();
	test_too_long();
	test_cut();
	return done();
}
