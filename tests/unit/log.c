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
	is_str(text, "0", "zero has a digit");
	text[text_number(text, INT64_MAX)] = '\0';
	is_str(text, "9223372036854775807", "the largest number is whole");
	text[text_number(text, INT64_MIN)] = '\0';
	is_str(text, "-9223372036854775808", "the smallest number is whole");
	text[text_ms(text, 7)] = '\0';
	is_str(text, "0.007", "seven microseconds are 0.007 ms");
	text[text_ms(text, 61234050)] = '\0';
	is_str(text, "61234.050", "a minute keeps its microseconds");
	text[text_ms(text, UINT64_MAX)] = '\0';
	is_str(text, "18446744073709551.615", "no time is too long");
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
	is_str(ended(&l),
		"event=test bare=a/b-c empty=\"\" "
		"text=\"a \\\"b\\\"\\\\\\u000a\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\" "
		"n=-12 ms=1.268",
		"logfmt quotes what is not bare and escapes control bytes");
	log_begin(&l, LOG_JSON, "test");
	fill(&l);
	is_str(ended(&l),
		"event\":\"test\",\"bare\":\"a/b-c\",\"empty\":\"\","
		"\"text\":"
		"\"a \\\"b\\\"\\\\\\u000a\\u0001\\u007f\xef\xbf\xbd\xc3\xa9\","
		"\"n\":-12,\"ms\":1.268}",
		"a JSON line is an object, with numbers as numbers");
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
	is_int((long long)strlen(ended(&l)), 10 + 3 + 512,
		"a value is cut at 512 bytes");
	log_begin(&l, LOG_LOGFMT, "test");
	for (int i = 0; i < 10; i++)
		log_text(&l, "v", value);
	is_str(ended(&l), "",
		"a line that does not fit is not written in part");
}

int
main(void)
{
	test_numbers();
	test_stamp();
	test_formats();
	test_too_long();
	return done();
}
