/* SPDX-License-Identifier: MIT */
/*
 * The pure files of fcgi/: the record reader, the size of the pool, the
 * counting of its queue.
 */
#include "../../fcgi/queue.c"
#include "../../fcgi/record.c"
#include "../../fcgi/sizing.c"

#include <stdlib.h>

#include "tap.h"

static struct record_reader reader;
static unsigned char bytes[200000];
static size_t length;

static void
record(unsigned type, unsigned id, const void *content, size_t len,
	size_t padding)
{
	unsigned char *b = bytes + length;

	b[0] = 1;
	b[1] = (unsigned char)type;
	b[2] = (unsigned char)(id >> 8);
	b[3] = (unsigned char)id;
	b[4] = (unsigned char)(len >> 8);
	b[5] = (unsigned char)len;
	b[6] = (unsigned char)padding;
	b[7] = 0;
	memcpy(b + 8, content, len);
	memset(b + 8 + len, 0, padding);
	length += 8 + len + padding;
}

static void
begin(void)
{
	length = 0;
	record(TYPE_BEGIN, 1, "\0\1\0\0\0\0\0\0", 8, 0);
}

static void
whole(const char *body, size_t body_len, size_t padding)
{
	begin();
	record(TYPE_PARAMS, 1,
		"\x01\x01"
		"Ab",
		4, padding);
	record(TYPE_PARAMS, 1, "", 0, padding);
	record(TYPE_STDIN, 1, body, body_len, padding);
	record(TYPE_STDIN, 1, "", 0, padding);
}

/* Feeds all bytes by `step` at a time; returns how much body came out. */
static size_t
feed(size_t step)
{
	size_t at = 0, all = 0;

	record_init(&reader);
	while (at < length && reader.state < RECORD_DONE) {
		size_t end = at + step < length ? at + step : length;
		const unsigned char *body;
		size_t n;

		at += record_take(&reader, bytes + at, end - at, &body, &n);
		all += n;
	}
	return all;
}

static void
test_records(void)
{
	whole("hello", 5, 0);
	for (size_t step = 1; step <= length; step += 3) {
		size_t body = feed(step);

		ok(reader.state == RECORD_DONE && body == 5,
			"a request is whole by %zu bytes at a time", step);
	}
	whole("hello", 5, 7);
	ok(feed(1) == 5 && reader.state == RECORD_DONE, "padding is skipped");
	ok(reader.params_len == 4 && strcmp(reader.params, "A=b") == 0,
		"and is no part of the parameters");
	whole("hello", 5, 0);
	length -= 8;
	feed(4096);
	ok(reader.state == RECORD_STDIN, "without its end it is not done");
}

static void
refused(const char *params, size_t len, const char *sentence)
{
	begin();
	record(TYPE_PARAMS, 1, params, len, 0);
	record(TYPE_PARAMS, 1, "", 0, 0);
	feed(1);
	ok(reader.state == RECORD_BAD && reader.why != NULL, "%s", sentence);
}

static void
test_pairs(void)
{
	refused("\x01\x01"
		"A",
		3, "refuses a pair that is cut in its value");
	refused("\x03\x01"
		"A",
		3, "refuses a pair that is cut in its name");
	refused("\x01", 1, "refuses a pair that is cut in its lengths");
	refused("\xff\xff\xff\xf0\xff\xff\xff\xf0"
		"A",
		9, "refuses lengths just below INT_MAX");
	refused("\x01\x01"
		"A\0",
		4, "refuses a NUL in a value");
	refused("\x03\x01"
		"A=Bc",
		6, "refuses an equals sign in a name");
	refused("\x00\x01"
		"b",
		3, "refuses a name of no bytes");
	begin();
	record(TYPE_PARAMS, 1,
		"\x80\x00\x00\x01\x80\x00\x00\x00"
		"A",
		9, 0);
	record(TYPE_PARAMS, 1, "", 0, 0);
	feed(1);
	ok(reader.state == RECORD_STDIN, "takes lengths of four bytes");
}

/* One parameter whose string, with '=' and NUL, has len bytes. */
static void
params_of(size_t len)
{
	static char value[RECORD_PARAMS_MAX];
	size_t n = len - 3;
	const unsigned char lengths[] = { 1, 0x80, (unsigned char)(n >> 16),
		(unsigned char)(n >> 8), (unsigned char)n, 'A' };

	memset(value, 'v', sizeof(value));
	begin();
	record(TYPE_PARAMS, 1, lengths, sizeof(lengths), 0);
	record(TYPE_PARAMS, 1, value, n / 2, 0);
	record(TYPE_PARAMS, 1, value, n - n / 2, 0);
	record(TYPE_PARAMS, 1, "", 0, 0);
	feed(4096);
}

static void
test_params(void)
{
	begin();
	record(TYPE_PARAMS, 1,
		"\x01\x01"
		"Ab"
		"\x01\x00"
		"C"
		"\x02\x03"
		"DEfgh",
		14, 0);
	record(TYPE_PARAMS, 1, "", 0, 0);
	for (size_t step = 1; step < 32; step += 5) {
		feed(step);
		ok(reader.params_len == 14 &&
				memcmp(reader.params, "A=b\0C=\0DE=fgh", 14) ==
					0,
			"pairs become strings, %zu bytes at a time", step);
	}
	params_of(RECORD_PARAMS_MAX);
	ok(reader.state == RECORD_STDIN &&
			reader.params_len == RECORD_PARAMS_MAX,
		"parameters of the largest size are taken");
	params_of(RECORD_PARAMS_MAX + 1);
	ok(reader.state == RECORD_BAD, "one byte more is refused");
}

static void
wrong(unsigned type, unsigned id, const char *sentence)
{
	begin();
	record(type, id, "12345678", 8, 0);
	feed(4096);
	ok(reader.state == RECORD_BAD, "%s", sentence);
}

static void
test_types(void)
{
	wrong(TYPE_BEGIN, 1, "refuses a second BEGIN_REQUEST");
	wrong(2, 1, "refuses an abort with a content");
	wrong(9, 1, "refuses GET_VALUES of a request");
	wrong(8, 0, "refuses application records with id 0");
	wrong(TYPE_STDIN, 1, "refuses a body before the parameters' end");
	wrong(TYPE_PARAMS, 2, "refuses another request's parameters");
	wrong(42, 1, "refuses an unknown type");
	length = 0;
	record(TYPE_BEGIN, 1, "\0\2\0\0\0\0\0\0", 8, 0);
	feed(1);
	ok(reader.state == RECORD_BAD, "refuses the role of an authorizer");
}

/* All management records before, within and behind a request: the answers. */
static unsigned char replies[4096];
static size_t replies_len;

static size_t
feed_all(size_t step)
{
	size_t at = 0, all = 0;

	record_init(&reader);
	replies_len = 0;
	while (at < length && reader.state < RECORD_ABORTED) {
		size_t end = at + step < length ? at + step : length;
		const unsigned char *body;
		size_t n;

		at += record_take(&reader, bytes + at, end - at, &body, &n);
		all += n;
		if (reader.asked)
			replies_len +=
				record_reply(&reader, 8, replies + replies_len);
	}
	return all;
}

#define NAME(name) "\x0e\x00" name
#define RESULT                                                                 \
	"\x01\x0a\0\0\0\x11\0\0"                                               \
	"\x0e\x01"                                                             \
	"FCGI_MAX_CONNS8"

static void
test_management(void)
{
	static const char asked[] = NAME("FCGI_MAX_CONNS");
	static const char twice[] =
		NAME("FCGI_MAX_CONNS") NAME("FCGI_MAX_CONNS");
	static const char unknown[] = "\x01\x0b\0\0\0\x08\0\0"
				      "\x2a\0\0\0\0\0\0";

	length = 0;
	record(TYPE_GET_VALUES, 0, asked, sizeof(asked) - 1, 3);
	for (size_t step = 1; step <= length; step++) {
		feed_all(step);
		ok(replies_len == sizeof(RESULT) - 1 &&
				memcmp(replies, RESULT, replies_len) == 0 &&
				record_is_fresh(&reader),
			"answers GET_VALUES alone, %zu bytes at a time", step);
	}
	length = 0;
	record(TYPE_GET_VALUES, 0, twice, sizeof(twice) - 1, 0);
	feed_all(4096);
	ok(replies_len == sizeof(RESULT) - 1, "a name that came twice, once");
	begin();
	record(TYPE_PARAMS, 1, "\x01", 1, 0);
	record(42, 0, "abc", 3, 5);
	record(TYPE_PARAMS, 1,
		"\x01"
		"Ab",
		3, 0);
	record(TYPE_PARAMS, 1, "", 0, 0);
	record(TYPE_GET_VALUES, 0, "", 0, 0);
	record(TYPE_STDIN, 1, "hello", 5, 0);
	record(TYPE_STDIN, 1, "", 0, 0);
	record(TYPE_GET_VALUES, 0, asked, sizeof(asked) - 1, 0);
	ok(feed_all(1) == 5 && reader.state == RECORD_DONE,
		"management records do not disturb the request around them");
	ok(replies_len == 16 + 8 + sizeof(RESULT) - 1 &&
			memcmp(replies, unknown, sizeof(unknown)) == 0,
		"a type that is not known is named in UNKNOWN_TYPE");
	ok(reader.params_len == 4 && strcmp(reader.params, "A=b") == 0,
		"its parameters are the request's alone");
}

static void
test_management_limits(void)
{
	static const char cut[] = "\x0e\x02"
				  "FCGI_MAX_CONNS1";
	static const char large[] = "\xff\xff\xff\xf0\xff\xff\xff\xf0"
				    "A";
	static unsigned char full[RECORD_ASK_MAX + 1];

	for (size_t n = RECORD_ASKS_MAX; n <= RECORD_ASKS_MAX + 1; n++) {
		length = 0;
		for (size_t i = 0; i < n; i++)
			record(TYPE_GET_VALUES, 0, "", 0, 0);
		feed_all(4096);
		ok((reader.state == RECORD_BAD) == (n > RECORD_ASKS_MAX),
			"%zu management records", n);
	}
	for (size_t n = RECORD_ASK_MAX; n <= RECORD_ASK_MAX + 1; n++) {
		length = 0;
		record(42, 0, full, n, 0);
		feed_all(4096);
		ok((reader.state == RECORD_BAD) == (n > RECORD_ASK_MAX),
			"a management record of %zu bytes", n);
	}
	length = 0;
	record(TYPE_GET_VALUES, 0, cut, sizeof(cut) - 1, 0);
	feed_all(1);
	ok(reader.state == RECORD_BAD, "refuses a value that is cut");
	length = 0;
	record(TYPE_GET_VALUES, 0, large, sizeof(large) - 1, 0);
	feed_all(1);
	ok(reader.state == RECORD_BAD, "refuses a name of 2 GiB");
	length = 0;
	record(TYPE_GET_VALUES, 0, "\x80", 1, 0);
	feed_all(1);
	ok(reader.state == RECORD_BAD, "refuses a length that is cut");
}

static void
test_abort(void)
{
	unsigned char end[RECORD_REPLY_MAX];

	for (size_t step = 1; step < 64; step += 7) {
		whole("hello", 5, 0);
		record(TYPE_ABORT, 1, "", 0, 0);
		feed_all(step);
		ok(reader.state == RECORD_ABORTED,
			"an abort behind the request, %zu bytes at a time",
			step);
	}
	whole("hello", 5, 0);
	length -= 8;
	record(TYPE_ABORT, 1, "", 0, 0);
	feed_all(4096);
	ok(reader.state == RECORD_ABORTED, "an abort in the body");
	begin();
	record(TYPE_ABORT, 1, "", 0, 0);
	feed_all(4096);
	ok(reader.state == RECORD_ABORTED, "an abort in the parameters");
	ok(record_end(&reader, end) == 16 &&
			memcmp(end, "\1\3\0\1\0\x08\0\0\0\0\0\0\0\0\0", 16) ==
				0,
		"is answered by END_REQUEST");
	whole("hello", 5, 0);
	record(TYPE_ABORT, 2, "", 0, 0);
	record(TYPE_BEGIN, 2, "\0\1\0\0\0\0\0\0", 8, 0);
	record(TYPE_STDIN, 1, "more", 4, 0);
	ok(feed_all(1) == 5 && reader.state == RECORD_DONE,
		"what else follows a request is skipped");
	length = 0;
	record(TYPE_ABORT, 1, "", 0, 0);
	feed_all(4096);
	ok(reader.state == RECORD_BAD, "refuses an abort of no request");
}

static int
change(enum sizing_mode mode, unsigned total, unsigned idle, bool waiting,
	uint64_t longest_us)
{
	const struct sizing s = { .mode = mode,
		.max = 8,
		.start = 2,
		.spare_min = 2,
		.spare_max = 4,
		.idle_us = 1000 };
	const struct headcount h = { .total = total,
		.idle = idle,
		.waiting = waiting,
		.longest_us = longest_us };

	return sizing_change(&s, &h);
}

/* A reader that comes from elsewhere: what could lead outside is refused. */
static void
test_check(void)
{
	static struct record_reader good, r;

	record_init(&good);
	good.state = RECORD_PARAMS;
	good.params_len = 4;
	memcpy(good.params, "A=b", 4);
	r = good;
	ok(record_check(&r), "a reader within the parameters");
#define BAD(what, change)                                                      \
	r = good;                                                              \
	change;                                                                \
	ok(!record_check(&r), what)
	BAD("not one that is through", r.state = RECORD_DONE);
	BAD("not parameters over their limit",
		r.params_len = RECORD_PARAMS_MAX + 1);
	BAD("not a string without its end", r.params_len = 3);
	BAD("not a name over what is left", r.name_left = RECORD_PARAMS_MAX);
	BAD("not a value over what is left",
		r.value_left = RECORD_PARAMS_MAX - 4);
	BAD("not too many bytes of a length", r.lengths_have = 8);
	BAD("not too many of a header", r.header_have = 9);
	BAD("not a record over its limit", r.content = 65536);
	BAD("not a management record over its limit",
		(r.asking = true, r.ask_len = 1, r.content = RECORD_ASK_MAX));
	BAD("not a body within a pair",
		(r.state = RECORD_STDIN, r.value_left = 1));
#undef BAD
	r = good;
	r.value_left = RECORD_PARAMS_MAX - 5;
	ok(record_check(&r), "a value that just fits");
}

static void
test_sizing(void)
{
	is_int(5, change(SIZING_STATIC, 3, 0, false, 0), "static: up to max");
	is_int(0, change(SIZING_STATIC, 8, 8, false, 9999), "static: no less");
	is_int(1, change(SIZING_DYNAMIC, 3, 1, false, 0),
		"dynamic: started ahead of need");
	is_int(1, change(SIZING_DYNAMIC, 7, 0, true, 0),
		"dynamic: never more than max");
	is_int(-1, change(SIZING_DYNAMIC, 8, 5, false, 0),
		"dynamic: one may leave when too many are idle");
	is_int(0, change(SIZING_DYNAMIC, 5, 3, false, 0),
		"dynamic: enough are idle");
	is_int(0, change(SIZING_ONDEMAND, 0, 0, false, 0),
		"on demand: nobody without need");
	is_int(1, change(SIZING_ONDEMAND, 0, 0, true, 0),
		"on demand: one for who waits");
	is_int(0, change(SIZING_ONDEMAND, 8, 0, true, 0),
		"on demand: never more than max");
	is_int(-1, change(SIZING_ONDEMAND, 2, 1, false, 2000),
		"on demand: leaves after being idle");
	is_int(0, change(SIZING_ONDEMAND, 2, 1, true, 2000),
		"on demand: stays while somebody waits");
}

static void
test_queue(void)
{
	struct queue q = { .netlink = -1 };

	is_int(0, (int)queue_overdue(&q, 100, 3, 10, 50), "nobody waits yet");
	is_int(0, (int)queue_overdue(&q, 140, 5, 10, 50), "not long enough");
	is_int(3, (int)queue_overdue(&q, 150, 5, 10, 50),
		"the three that stood there 50 ago are overdue");
	is_int(1, (int)queue_overdue(&q, 160, 4, 12, 50),
		"two of them were accepted since");
	is_int(0, (int)queue_overdue(&q, 170, 4, 13, 50), "all of them were");
}

int
main(void)
{
	test_records();
	test_pairs();
	test_params();
	test_types();
	test_management();
	test_management_limits();
	test_abort();
	test_check();
	test_sizing();
	test_queue();
	return done();
}
