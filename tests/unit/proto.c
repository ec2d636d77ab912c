/* SPDX-License-Identifier: MIT */
/* The bodies on the wire: what a request may say, what an answer looks like. */
#include "wire/json.h"
#include "wire/proto.h"
#include "tap.h"
#include "page/toolcall.h"

#include <stdlib.h>
#include <time.h>

static struct arena arena;
static struct ss_error error;
static struct proto_request request;

static enum ss_err
parse(const char *text)
{
	arena_clear(&arena);
	error_clear(&error);
	return proto_parse(&arena, text, strlen(text), &request, &error);
}

static void
is_json(const char *text)
{
	error_clear(&error);
	is_int(SS_OK, json_check(text, strlen(text), &error), "takes %s", text);
}

static void
no_json(const char *text, size_t len, const char *message)
{
	error_clear(&error);
	is_int(SS_BAD_REQUEST, json_check(text, len, &error), "refuses %s",
		message);
	ok(strstr(error.message, message) != NULL, "and says \"%s\"", message);
	if (strstr(error.message, message) == NULL)
		printf("# saw %s\n", error.message);
}

#define NO(text, message) no_json(text, sizeof(text) - 1, message)

static void
test_json(void)
{
	is_json("{}");
	is_int(SS_OK, json_check(" \t\r\n[ ]\n", 8, &error),
		"takes blanks around everything");
	is_json("null");
	is_json("[1, -0, 0.5, 1e9, 1E+9, -1.25e-3, true, false, null, \"\"]");
	is_json("{\"a\": {\"a\": 1}, \"b\": [{\"a\": 1}, {\"a\": 2}]}");
	is_json("\"\\ud83d\\ude00 \\u00e9 \\\" \\\\ \\/ \\b\\f\\n\\r\\t\"");
	is_json("\"\x7f \xc3\xa9 \xf4\x8f\xbf\xbf\"");
	is_json("{\"\": 1, \"\\u0061\": 2, \"A\": 3}");
	NO("", "the end where a value is expected at byte 1");
	NO("{} {}", "something after the value at byte 4");
	NO("{}\0", "something after the value at byte 3");
	NO("\xef\xbb\xbf{}", "something that is no value at byte 1");
	NO("[01]", "neither a comma nor the end of what is open at byte 3");
	NO("[+1]", "something that is no value at byte 2");
	NO("[.5]", "something that is no value at byte 2");
	NO("[1.]", "a fraction without digits at byte 4");
	NO("[1e]", "an exponent without digits at byte 4");
	NO("[-]", "a number without digits at byte 3");
	NO("[NaN]", "something that is no value at byte 2");
	NO("[nul]", "an unknown word at byte 2");
	NO("[\"a\nb\"]", "a control byte in a string at byte 4");
	NO("[\"\x1f\"]", "a control byte in a string at byte 3");
	NO("[\"a\0b\"]", "a control byte in a string at byte 4");
	NO("[\"\xff\"]", "a byte that is not UTF-8 at byte 3");
	NO("[\"\xc0\xaf\"]", "a byte that is not UTF-8 at byte 3");
	NO("[\"\xed\xa0\x80\"]", "a byte that is not UTF-8 at byte 3");
	NO("[\"\\u0000\"]", "\\u0000, which no string may hold, at byte 3");
	NO("[\"\\ud800\"]", "a lone surrogate at byte");
	NO("[\"\\udc00\"]", "a lone surrogate at byte");
	NO("[\"\\ud800\\ud800\"]", "a lone surrogate at byte");
	NO("[\"\\ud800x\"]", "a lone surrogate at byte");
	NO("[\"\\ud800\\n\"]", "a lone surrogate at byte");
	NO("[\"\\u12g4\"]", "\\u without four hexadecimal digits at byte 3");
	NO("[\"\\u12", "\\u without four hexadecimal digits at byte 3");
	NO("[\"\\x\"]", "an unknown escape at byte 3");
	NO("[\"\\\0\"]", "an unknown escape at byte 3");
	NO("[\"\\", "an escape that is cut at byte 3");
	NO("[\"abc", "a string that does not end at byte 6");
	NO("[1,]", "something that is no value at byte 4");
	NO("[1 2]", "neither a comma");
	NO("[1}", "neither a comma");
	NO("{\"a\": 1,}", "no name where a member is expected at byte 9");
	NO("{a: 1}", "no name where a member is expected at byte 2");
	NO("{\"a\" 1}", "no colon after a member's name at byte 6");
	NO("{\"a\"", "no colon");
	NO("[1", "neither a comma");
	NO("{\"a\": 1, \"a\": 1}", "a member that is there twice, at byte 11");
	NO("{\"a\": 1, \"\\u0061\": 1}", "a member that is there twice,");
	NO("{\"\\ud83d\\ude00\": 1, \"\xf0\x9f\x98\x80\": 1}", "there twice");
	NO("{\"\\n\": 1, \"\\u000A\": 1}", "there twice");
	NO("{\"\": 1, \"\": 1}", "there twice");
	NO("[{\"x\": {\"b\": 1, \"c\": 2, \"b\": 3}}]", "there twice");
	NO("{\"b\": {\"a\": 1}, \"a\": 2, \"b\": 3}", "there twice");
}

/* count times open, then the rest. */
static enum ss_err
nested(char open, char close, size_t count)
{
	char text[512];

	memset(text, open, count);
	memset(text + count, close, count);
	return json_check(text, 2 * count, &error);
}

static void
test_bounds(void)
{
	char *text = malloc(4 << 20);
	struct buf b = BUF_INIT(4 << 20);
	clock_t begun;

	if (!ok(text != NULL, "has memory for long texts"))
		return;
	is_int(SS_OK, nested('[', ']', 64), "takes 64 levels");
	is_int(SS_BAD_REQUEST, nested('[', ']', 65), "refuses 65");
	memset(text, '[', 1 << 20);
	is_int(SS_BAD_REQUEST, json_check(text, 1 << 20, &error),
		"refuses a million levels without falling over");

	buf_char(&b, '{');
	for (int i = 0; i < 100000; i++)
		buf_printf(&b, "%s\"k%d\":0", i ? "," : "", i * 7919 % 100000);
	buf_char(&b, '}');
	begun = clock();
	is_int(SS_OK, json_check(b.data, b.len, &error),
		"takes 100000 members");
	ok(clock() - begun < 5 * CLOCKS_PER_SEC, "in less than 5 s");
	b.len--;
	buf_text(&b, ",\"k4711\":1}");
	is_int(SS_BAD_REQUEST, json_check(b.data, b.len, &error),
		"finds the one of 100001 that is there twice");
	buf_release(&b);
	free(text);
}

static void
test_request(void)
{
	is_int(SS_OK, parse("{\"command\": [\"ls\", \"-l\"]}"),
		"takes a command");
	is_int(2, (long long)request.word_count, "of two words");
	is_str("ls", request.words[0].data, "the first is ls");
	is_int(2, (long long)request.words[1].len, "the second has two bytes");
	is_int(0, (long long)request.env_count, "there is no env");
	ok(!request.has_stdin, "nor stdin");

	is_int(SS_OK,
		parse("{\"command\": [\"\"], \"args\": null, \"env\": null, "
		      "\"stdin\": null, \"future\": [{}]}"),
		"null is absent, unknown members do not count");
	ok(!request.has_stdin, "stdin null is no stdin");

	is_int(SS_OK,
		parse("{\"env\": {\"A\": \"1\", \"B\": \"\"}, \"stdin\": \"\", "
		      "\"command\": [\"x\"]}"),
		"members come in any order");
	is_int(2, (long long)request.env_count, "env has two");
	is_str("A", request.env[0].name, "a name");
	is_str("1", request.env[0].value, "its value");
	is_str("", request.env[1].value, "an empty value");
	ok(request.has_stdin && request.stdin_text.len == 0,
		"an empty stdin is one");
	is_int(SS_OK, parse("{\"command\": [\"\\ud83d\\ude00\"]}"),
		"takes a pair of surrogates");
	is_str("\xf0\x9f\x98\x80", request.words[0].data,
		"which is one character");
	is_int(SS_OK, parse("{\"command\": [\"{w}\"]}"),
		"takes braces without args");
	is_str("{w}", request.words[0].data, "which stay text");
	is_int(SS_BAD_REQUEST, parse("{\"Command\": [\"x\"]}"),
		"names are case-sensitive");
}

static void
wrong(const char *text, const char *message)
{
	is_int(SS_BAD_REQUEST, parse(text), "refuses %s", text);
	is_str(message, error.message, "and says why");
}

static void
test_wrong_requests(void)
{
	wrong("[]", "the body must be a JSON object: it is an array");
	ok(strstr(error.hint, "{\"command\": [") != NULL,
		"the hint shows a correct body");
	wrong("\"echo\"", "the body must be a JSON object: it is a string");
	wrong("{}", "\"command\" must be an array of strings: it is missing");
	wrong("{\"command\": null}",
		"\"command\" must be an array of strings: it is missing");
	wrong("{\"command\": \"ls\"}",
		"\"command\" must be an array of strings: it is a string");
	wrong("{\"command\": {\"0\": \"ls\"}}",
		"\"command\" must be an array of strings: it is an object");
	wrong("{\"command\": []}",
		"\"command\" must be an array of strings: it is empty");
	wrong("{\"command\": [\"a\", \"b\", 3]}",
		"\"command\" must be an array of strings: item 3 is a number");
	wrong("{\"command\": [[\"a\"]]}",
		"\"command\" must be an array of strings: item 1 is an array");
	wrong("{\"command\": [true]}",
		"\"command\" must be an array of strings: item 1 is a boolean");
	wrong("{\"command\": [null]}",
		"\"command\" must be an array of strings: item 1 is null");
	wrong("{\"command\": [\"a\"], \"args\": []}",
		"\"args\" must be an object of strings: it is an array");
	wrong("{\"command\": [\"a\"], \"args\": {\"w\": 1}}",
		"\"args\" must be an object of strings: \"w\" is a number");
	wrong("{\"command\": [\"a\"], \"env\": \"A=1\"}",
		"\"env\" must be an object of strings: it is a string");
	wrong("{\"command\": [\"a\"], \"env\": {\"A\": null}}",
		"\"env\" must be an object of strings: \"A\" is null");
	wrong("{\"command\": [\"a\"], \"stdin\": 1}",
		"\"stdin\" must be a string: it is a number");
	wrong("{\"command\": [\"a\"], \"args\": {\"\": \"x\"}}",
		"a name in \"args\" is empty or holds a brace");
	wrong("{\"command\": [\"a\"], \"args\": {\"{a}\": \"x\"}}",
		"a name in \"args\" is empty or holds a brace");
	wrong("{\"command\": [\"a\"]",
		"invalid JSON: neither a comma nor the end of what is open at "
		"byte 18");
	ok(error.hint[0] != '\0', "bad JSON gets the hint too");
}

/* The arguments of a call as one text: name=kind:what, each. */
static const char *
called(void)
{
	static char text[1024];
	size_t at = 0;

	text[0] = '\0';
	for (size_t i = 0; i < request.call_arg_count; i++) {
		const struct proto_argument *a = &request.call_args[i];
		const char *what =
			a->kind == PROTO_TEXT ? a->text.data : a->found;

		at += (size_t)snprintf(
			text + at, sizeof(text) - at, "%s=", a->name);
		for (size_t k = 0; k < a->item_count; k++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				"[%s]", a->items[k].data);
		for (size_t k = 0; k < a->pair_count; k++)
			at += (size_t)snprintf(text + at, sizeof(text) - at,
				"{%s:%s}", a->pairs[k].name, a->pairs[k].value);
		if (a->kind == PROTO_TEXT || a->kind == PROTO_OTHER ||
			a->kind == PROTO_NUMBER)
			at += (size_t)snprintf(
				text + at, sizeof(text) - at, "%s", what);
		at += (size_t)snprintf(text + at, sizeof(text) - at, ";");
	}
	return text;
}

static bool
is_other(size_t i, const char *found)
{
	return request.call_args[i].kind == PROTO_OTHER &&
		strcmp(request.call_args[i].found, found) == 0;
}

#define CALL(arguments)                                                        \
	"{\"tool_call\": {\"name\": \"n\", \"arguments\": " arguments "}}"

static void
test_call(void)
{
	is_int(SS_OK,
		parse(CALL("{\"t\": \"x\", \"l\": [\"p\", \"q\"], \"e\": "
			   "[], \"no\": null, \"m\": {\"k\": \"v\", \"w\": "
			   "\"\"}, \"n\": 7}")),
		"a tool is called by its name");
	is_str("n", request.call_name, "the name is kept");
	is_int(0, (long long)request.word_count, "there are no words yet");
	is_str("t=x;l=[p][q];e=;m={k:v}{w:};n=a number;", called(),
		"its arguments are text, list, map or what else they are");
	parse(CALL("{\"big\": 1e400, \"less\": 1e300}"));
	ok(is_other(0, "a number that is too large") &&
			request.call_args[1].kind == PROTO_NUMBER,
		"a number that no double holds is none");
	parse(CALL("{\"a\": [\"x\", 1], \"b\": {\"k\": []}, \"c\": [[]], "
		   "\"d\": true}"));
	ok(is_other(0, "a list that holds more than strings") &&
			is_other(1, "an object that holds more than strings") &&
			is_other(2, "a list that holds more than strings") &&
			request.call_args[3].kind == PROTO_BOOL &&
			text_is(request.call_args[3].text, "true"),
		"a list and a map hold strings and nothing else");
	ok(parse("{\"tool_call\": {\"name\": \"n\"}}") == SS_OK &&
			request.call_arg_count == 0 &&
			parse(CALL("null")) == SS_OK &&
			request.call_arg_count == 0,
		"arguments may be left out");
	wrong("{\"tool_call\": \"n\"}", "\"tool_call\": it must be an object");
	ok(strstr(error.hint, "{\"tool_call\": {") != NULL,
		"the hint shows a call");
	wrong("{\"tool_call\": {}}",
		"\"tool_call\": \"name\" must be the tool's name");
	wrong("{\"tool_call\": {\"name\": \"\"}}",
		"\"tool_call\": \"name\" must be the tool's name");
	wrong(CALL("[]"), "\"tool_call\": \"arguments\" must be an object");
	wrong("{\"tool_call\": {\"name\": \"n\"}, \"args\": {}}",
		"\"tool_call\": send it alone: without \"command\" and "
		"\"args\"");
	wrong("{\"tool_call\": {\"name\": \"n\"}, \"command\": [\"a\"]}",
		"\"tool_call\": send it alone: without \"command\" and "
		"\"args\"");
}

static void
fills(const char *word, const char *wanted)
{
	static const struct ss_pair args[] = { { "word", "x y" },
		{ "a", "{b}" }, { "b", "B" }, { "empty", "" },
		{ "c d", "$X" } };
	struct ss_text words[] = { text_of("grep"), text_of(word) };

	arena_clear(&arena);
	is_int(SS_OK,
		proto_fill(&arena, words, 2, args, ARRAY_LEN(args), &error),
		"fills %s", word);
	is_str(wanted, words[1].data, "to %s", wanted);
	is_int((long long)strlen(wanted), (long long)words[1].len,
		"and knows its length");
	is_str("grep", words[0].data, "and leaves the other word");
}

static void
test_fill(void)
{
	fills("{word}", "x y");
	fills("-e={word}!", "-e=x y!");
	fills("{a}{b}", "{b}B");
	fills("{{b}}", "{B}");
	fills("{x{b}", "{xB");
	fills("{b", "{b");
	fills("b}", "b}");
	fills("{}", "{}");
	fills("{unknown}", "{unknown}");
	fills("{wor}{words}", "{wor}{words}");
	fills("{empty}", "");
	fills("", "");
	fills("{c d}", "$X");
	fills("{a}}", "{b}}");
	fills("{b}{b}{b}", "BBB");
	fills("{", "{");
	is_int(SS_OK,
		parse("{\"command\": [\"echo\", \"{w}\", \"w\"], "
		      "\"args\": {\"w\": \"{w}\"}}"),
		"a request's args are filled in");
	is_str("{w}", request.words[1].data, "and not scanned again");
}

/* A body whose command is count times word, after first. */
static enum ss_err
parse_repeated(const char *first, const char *word, size_t count)
{
	struct buf b = BUF_INIT(4 << 20);
	enum ss_err code;

	buf_printf(&b, "{\"command\": [%s", first);
	for (size_t i = 0; i < count; i++) {
		buf_text(&b, i > 0 || *first != '\0' ? "," : "");
		buf_text(&b, word);
	}
	buf_text(&b, "], \"args\": {\"w\": \"0123456789\"}}");
	arena_clear(&arena);
	code = proto_parse(&arena, b.data, b.len, &request, &error);
	buf_release(&b);
	return code;
}

/* A word of len bytes in its quotes, static. */
static const char *
long_word(size_t len)
{
	static char word[PROTO_WORD_MAX + 16];

	memset(word, 'x', sizeof(word));
	word[0] = '"';
	memcpy(word + 1 + len, "\"", 2);
	return word;
}

static void
test_limits(void)
{
	is_int(SS_OK, parse_repeated("", "\"\"", PROTO_WORDS_MAX),
		"takes 65536 words");
	is_int(PROTO_WORDS_MAX, (long long)request.word_count, "all of them");
	is_int(SS_COMMAND_TOO_LARGE,
		parse_repeated("", "\"\"", PROTO_WORDS_MAX + 1),
		"refuses 65537");
	is_int(SS_OK, parse_repeated("", long_word(PROTO_WORD_MAX), 1),
		"takes a word of 131071 bytes");
	is_int(SS_COMMAND_TOO_LARGE,
		parse_repeated("", long_word(PROTO_WORD_MAX + 1), 1),
		"refuses one of 131072");
	is_int(SS_OK, parse_repeated("", long_word(PROTO_WORD_MAX), 8),
		"takes a command of 1048576 bytes, NULs counted");
	is_int(SS_COMMAND_TOO_LARGE,
		parse_repeated("\"\"", long_word(PROTO_WORD_MAX), 8),
		"refuses one of 1048577");
	is_int(SS_OK,
		parse_repeated("", "\"{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}\"", 10381),
		"takes what is filled to 1048481 bytes");
	is_int(SS_COMMAND_TOO_LARGE,
		parse_repeated("", "\"{w}{w}{w}{w}{w}{w}{w}{w}{w}{w}\"", 10382),
		"refuses what is filled to 1048582");
}

/* Many keys at many places: a table that is searched, not walked. */
static void
test_fill_cost(void)
{
	struct buf b = BUF_INIT(8 << 20);
	clock_t begun;

	buf_text(&b, "{\"command\": [\"");
	for (int i = 0; i < 16000; i++)
		buf_printf(&b, "{k%d}", i);
	buf_text(&b, "\"], \"args\": {");
	for (int i = 0; i < 60000; i++)
		buf_printf(&b, "%s\"k%d\": \"\"", i ? "," : "", i);
	buf_text(&b, "}}");
	arena_clear(&arena);
	begun = clock();
	is_int(SS_OK, proto_parse(&arena, b.data, b.len, &request, &error),
		"60000 args fill 16000 places");
	ok(clock() - begun < 5 * CLOCKS_PER_SEC, "in less than 5 s");
	is_str("", request.words[0].data, "with nothing, here");
	b.len = 0;
	buf_text(&b, "{\"command\": [\"");
	for (int i = 0; i < 500000; i++)
		buf_char(&b, '{');
	buf_text(&b, "\"], \"args\": {\"a\": \"\"}}");
	begun = clock();
	is_int(SS_COMMAND_TOO_LARGE,
		proto_parse(&arena, b.data, b.len, &request, &error),
		"half a million braces are too long");
	ok(clock() - begun < 2 * CLOCKS_PER_SEC, "and are read once");
	buf_release(&b);
}

static void
string_is(const char *data, size_t len, const char *wanted)
{
	struct buf b = BUF_INIT(4096);

	ok(json_string(&b, data, len), "writes a string");
	is_str(wanted, b.data, "as %s", wanted);
	buf_release(&b);
}

#define STRING(text, wanted) string_is(text, sizeof(text) - 1, wanted)
#define R "\xef\xbf\xbd"

static void
test_string(void)
{
	STRING("", "\"\"");
	STRING("abc", "\"abc\"");
	STRING("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
	STRING("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
	STRING("\0\x01\x1f\x7f", "\"\\u0000\\u0001\\u001f\x7f\"");
	STRING("12345678\n12345678", "\"12345678\\n12345678\"");
	STRING("1234567\"", "\"1234567\\\"\"");
	STRING("caf\xc3\xa9 \xf0\x9f\x98\x80",
		"\"caf\xc3\xa9 \xf0\x9f\x98\x80\"");
	STRING("a\xff"
	       "b",
		"\"a" R "b\"");
	/* The table of Unicode 16, section 3.9, and its neighbours. */
	STRING("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82\x41",
		"\"" R R R R R R R R "A\"");
	STRING("\xed\xa0\x80\xed\xbf\xbf\xed\xaf\x41",
		"\"" R R R R R R R R "A\"");
	STRING("\xf4\x91\x92\x93\xff\x41\x80\xbf\x42",
		"\"" R R R R R "A" R R "B\"");
	STRING("\xe1\x80\xe2\xf0\x91\x92\xf1\xbf\x41", "\"" R R R R "A\"");
	STRING("\xf0\x9f\x98", "\"" R "\"");
	STRING("\xf0\x9f", "\"" R "\"");
	STRING("\xe2\x82", "\"" R "\"");
	STRING("\xf0", "\"" R "\"");
	STRING("\xc3", "\"" R "\"");
	STRING("\xf4\x90\x80\x80", "\"" R R R R "\"");
}

/* Runs are copied eight bytes at a time: no byte may hide in one. */
static void
test_no_byte_hides(void)
{
	struct buf b = BUF_INIT(4096);
	int wrong = 0;

	for (int c = 0; c < 256; c++)
		for (size_t at = 0; at < 17; at++) {
			char text[] = "abcdefghijklmnopq";
			bool plain =
				c >= 0x20 && c < 0x80 && c != '"' && c != '\\';

			text[at] = (char)c;
			buf_clear(&b);
			json_string(&b, text, 17);
			wrong += plain != (b.len == 19);
			for (size_t i = 0; i < b.len; i++)
				wrong += (unsigned char)b.data[i] < 0x20;
		}
	is_int(0, wrong, "every byte at every place is written as it must be");
	buf_release(&b);
}

/* A prefix of any size is what json_string makes of it, and one more is not. */
static void
test_fit(void)
{
	static const char text[] = "ab\"c\n\x01\xc3\xa9\xff-\xf0\x9f\x98\x80z";
	size_t len = sizeof(text) - 1, used, n, last = 0;
	struct buf b = BUF_INIT(256);
	int wrong = 0;

	json_string(&b, text, len);
	is_int(len, json_fit(text, len, SIZE_MAX, &used), "all of it fits");
	is_int(b.len, used, "in as many bytes as it is written with");
	for (size_t room = 2; room <= b.len; room++) {
		n = json_fit(text, len, room, &used);
		wrong += n < last || used > room;
		last = n;
	}
	is_int(len, last, "its own size is enough");
	is_int(len - 1, json_fit(text, len, b.len - 1, &used), "one less not");
	is_int(0, wrong, "more space never takes less, nor more than there is");
	is_int(5, json_fit(text, len, 12, &used), "an escape is not split");
	is_int(6, json_fit(text, len, 16, &used), "nor a character");
	is_int(0, json_fit(text, len, 0, &used), "no room takes nothing");
	buf_release(&b);
}

static void
test_ended(void)
{
	struct ss_error err = { .code = SS_TIMEOUT, .message = "late" };
	struct buf b = BUF_INIT(8192);

	struct ss_result r = { .out = TEXT("a\n"), .step = "{}" };

	ok(proto_ended(&b, &r, TEXT("b\nlate"), &err),
		"writes what a tool that was ended had written");
	is_str("{\"stdout\": \"a\\n\", \"stderr\": \"b\\nlate\", "
	       "\"returncode\": 1, \"error\": {\"code\": \"timeout\", "
	       "\"message\": \"late\", \"hint\": \"\", \"class\": \"limit\", "
	       "\"retryable\": false, \"next\": {}}}",
		b.data, "beside the error");
	buf_clear(&b);
	r.type = "image/png";
	proto_ended(&b, &r, TEXT("late"), &err);
	is_str("{\"stdout_base64\": \"YQo=\", \"type\": \"image/png\", "
	       "\"stderr\": \"late\", \"returncode\": 1, \"error\": {\"code\": "
	       "\"timeout\", \"message\": \"late\", \"hint\": \"\", \"class\": "
	       "\"limit\", \"retryable\": false, \"next\": {}}}",
		b.data, "bytes in base64");
	buf_release(&b);
}

/* The answer for that output. */
static void
answers(const char *text, const char *type, bool parse, const char *expected)
{
	struct buf b = BUF_INIT(8192);
	struct ss_result r = {
		.out = text_of(text), .type = type, .parse = parse
	};

	ok(proto_result(&b, &r), "writes %s as %s", text, type ? type : "text");
	is_str(expected, b.data, parse ? "parsed" : "as declared");
	buf_release(&b);
}

#define END_OF_ANSWER "\"stderr\": \"\", \"returncode\": 0}"

static void
test_forms(void)
{
	answers("a", "image/png", false,
		"{\"stdout_base64\": \"YQ==\", \"type\": "
		"\"image/png\", " END_OF_ANSWER);
	answers("a", "text/csv", false,
		"{\"stdout\": \"a\", \"type\": \"text/csv\", " END_OF_ANSWER);
	answers("", "image/png", false,
		"{\"stdout_base64\": \"\", \"type\": "
		"\"image/png\", " END_OF_ANSWER);
	answers(" [1,\n \"a b\\\" c\" ]\n", "application/json", true,
		"{\"stdout_json\": [1,\"a b\\\" c\"], \"type\": "
		"\"application/json\", " END_OF_ANSWER);
	answers("1", NULL, true, "{\"stdout_json\": 1, " END_OF_ANSWER);
	answers("[", NULL, true,
		"{\"stdout\": \"[\", \"parse_error\": \"invalid JSON: the end "
		"where a value is expected at byte 2\", " END_OF_ANSWER);
	answers("1", "image/png", true,
		"{\"stdout_base64\": \"MQ==\", \"type\": \"image/png\", "
		"\"parse_error\": \"the output is declared as image/png\", " END_OF_ANSWER);
}

static void
test_answers(void)
{
	struct buf b = BUF_INIT(8192), tiny = BUF_INIT(10);
	struct ss_error err = { 0 };
	struct ss_result r = { 0 };

	r.out = TEXT("hi\n");
	ok(proto_result(&b, &r), "writes a result");
	is_str("{\"stdout\": \"hi\\n\", \"stderr\": \"\", \"returncode\": 0}",
		b.data, "without a sandbox");
	buf_clear(&b);
	r = (struct ss_result){ .err = TEXT("x"),
		.returncode = 137,
		.sandbox = "strict",
		.limit = "wall" };
	proto_result(&b, &r);
	is_str("{\"stdout\": \"\", \"stderr\": \"x\", \"returncode\": 137, "
	       "\"sandbox\": {\"level\": \"strict\", \"limit\": \"wall\"}}",
		b.data, "with level and limit");
	buf_clear(&b);
	r.memory = "process";
	r.limit = "memory";
	proto_result(&b, &r);
	is_str("{\"stdout\": \"\", \"stderr\": \"x\", \"returncode\": 137, "
	       "\"sandbox\": {\"level\": \"strict\", "
	       "\"memory\": \"process\", \"limit\": \"memory\"}}",
		b.data, "and with how memory was bounded");
	buf_clear(&b);
	r = (struct ss_result){ .returncode = -1, .sandbox = "none" };
	proto_result(&b, &r);
	is_str("{\"stdout\": \"\", \"stderr\": \"\", \"returncode\": -1, "
	       "\"sandbox\": {\"level\": \"none\"}}",
		b.data, "with the level alone");
	buf_clear(&b);
	r.sandbox = "landlock";
	r.remedy = "sysctl -w a=\"1\"";
	proto_result(&b, &r);
	ok(strstr(b.data,
		   "\"sandbox\": {\"level\": \"landlock\", "
		   "\"remedy\": \"sysctl -w a=\\\"1\\\"\"}") != NULL,
		"and with what would give a higher one");
	buf_clear(&b);
	error_set(&err, SS_NOT_ALLOWED, "no \"tool\"");
	ok(proto_error(&b, NULL, &err), "writes an error");
	is_str("{\"stdout\": \"\", \"stderr\": \"no \\\"tool\\\"\", "
	       "\"returncode\": 1, \"error\": {\"code\": \"not_allowed\", "
	       "\"message\": \"no \\\"tool\\\"\", \"hint\": \"\", "
	       "\"class\": \"matching\", \"retryable\": false, "
	       "\"next\": {\"do\": \"get\", \"text\": \"this lists the pages "
	       "and how to call their tools\", \"path\": \"/AGENTS.md\"}}}",
		b.data, "the hint is always there");
	buf_clear(&b);
	error_hint(&err, "cat\n");
	error_detail(&err, "/secret");
	proto_error(&b, NULL, &err);
	ok(strstr(b.data, "\"hint\": \"cat\\n\"") != NULL, "with its text");
	ok(strstr(b.data, "secret") == NULL, "the operator's detail never is");
	ok(!proto_error(&tiny, NULL, &err),
		"says when the ceiling was reached");
	buf_release(&b);
	buf_release(&tiny);
}

static void
test_no_memory(void)
{
	struct arena small;

	arena_init(&small, 100);
	is_int(SS_INTERNAL,
		proto_parse(
			&small, "{\"command\": [\"a\"]}", 18, &request, &error),
		"an arena that is full is an internal error");
	arena_release(&small);
}

int
main(void)
{
	arena_init(&arena, 0);
	test_json();
	test_bounds();
	test_request();
	test_wrong_requests();
	test_call();
	test_fill();
	test_limits();
	test_fill_cost();
	test_string();
	test_no_byte_hides();
	test_fit();
	test_ended();
	test_forms();
	test_answers();
	test_no_memory();
	arena_release(&arena);
	return done();
}
