/* SPDX-License-Identifier: MIT */
/*
 * Words with arguments in them: whatever the value, the filled text is one word
 * that a reader of its language divides as the author wrote it, and the match
 * gives the value back.  The input chooses a tool and is the value.
 */
#include "fuzz.h"
#include "page/frontmatter.h"
#include "page/match.h"
#include "page/template.h"
#include "wire/proto.h"

#include <cjson/cJSON.h>
#include <stdio.h>

/* One argument q between two texts; reads finds q's value again, or fails. */
struct choice {
	const char *part;
	const char *before, *after;
	bool (*reads)(struct ss_text inner, struct ss_text value);
	bool dash; /* the author lets the word begin with - */
};

/* A URL: between two delimiters only unreserved characters and escapes. */
static bool
reads_url(struct ss_text inner, struct ss_text value)
{
	size_t n = 0;

	for (size_t i = 0; i < inner.len; n++) {
		unsigned byte = (unsigned char)inner.data[i];

		if (byte == '%') {
			if (sscanf(inner.data + i + 1, "%2x", &byte) != 1)
				return false;
			i += 3;
		} else if (strchr("/?#&=:@ '\"\\", (int)byte) != NULL) {
			return false;
		} else {
			i++;
		}
		if (n >= value.len || (unsigned char)value.data[n] != byte)
			return false;
	}
	return n == value.len && !text_is(inner, ".") && !text_is(inner, "..");
}

/* SQL: a quote inside of quotes is doubled. */
static bool
reads_sql(struct ss_text inner, struct ss_text value)
{
	size_t n = 0;

	for (size_t i = 0; i < inner.len; i++, n++) {
		if (inner.data[i] == '\\' ||
			(inner.data[i] == '\'' &&
				(i + 1 == inner.len ||
					inner.data[i + 1] != '\'')))
			return false;
		i += inner.data[i] == '\'';
		if (n >= value.len || value.data[n] != inner.data[i])
			return false;
	}
	return n == value.len;
}

static bool
reads_json(struct ss_text inner, struct ss_text value)
{
	struct buf text = BUF_INIT((size_t)1 << 20);
	cJSON *read;
	bool same;

	buf_char(&text, '"');
	buf_add(&text, inner.data, inner.len);
	buf_char(&text, '"');
	read = cJSON_ParseWithLengthOpts(text.data, text.len + 1, NULL, true);
	same = cJSON_IsString(read) && text_is(value, read->valuestring);
	cJSON_Delete(read);
	buf_release(&text);
	return same;
}

static bool
reads_plain(struct ss_text inner, struct ss_text value)
{
	return text_equal(inner, value);
}

static bool
reads_digits(struct ss_text inner, struct ss_text value)
{
	for (size_t i = 0; i < inner.len; i++)
		if (inner.data[i] < '0' || inner.data[i] > '9')
			return false;
	return inner.len > 0 && text_equal(inner, value);
}

static const struct choice choices[] = {
	{ "{ text: 'http://h/{q}/x', q: { kind: text, escape: url } }",
		"http://h/", "/x", reads_url, false },
	{ "{ text: '{q}/x', q: { kind: text, escape: url, dash: true } }", "",
		"/x", reads_url, true },
	{ "{ text: \"n = '{q}' or\", q: { kind: text, escape: sql } }", "n = '",
		"' or", reads_sql, false },
	{ "{ text: '{\"a\": \"{q}\"}', q: { kind: text, escape: json } }",
		"{\"a\": \"", "\"}", reads_json, false },
	{ "{ text: 'a={q}', q: '^[0-9]+$' }", "a=", "", reads_digits, false },
	{ "{ text: '{q}z', q: '^[^/]+$' }", "", "z", reads_plain, false },
	{ "{ text: '-{q}', q: { type: integer } }", "-", "", reads_digits,
		true },
	{ "{ name: q, kind: text }", "", "", reads_plain, false },
	{ "{ name: q, kind: path }", "", "", reads_plain, false },
	{ "{ name: q, type: integer }", "", "", reads_digits, false },
	{ "{ name: q, type: number, min: -5 }", "", "", reads_plain, true },
	{ "{ name: q, enum: [a, b] }", "", "", reads_plain, false },
};

static const struct spec *
parse(struct arena *arena, const struct choice *c, struct frontmatter *front)
{
	struct buf page = BUF_INIT(4096);
	enum ss_err code;

	buf_printf(&page, "---\ntools:\n  - [x, %s, ;]\n---\n", c->part);
	code = frontmatter_parse(arena, page.data, page.len, front, NULL, NULL);
	promise(code == SS_OK && front->spec_count == 1);
	buf_release(&page);
	return front->specs;
}

/* The word is one, it reads as its author wrote it, and it is found again. */
static void
check_filled(struct arena *arena, const struct choice *c,
	const struct spec *spec, const struct command *command,
	struct ss_text value)
{
	struct ss_text word = command->words[1], inner;
	size_t around = strlen(c->before) + strlen(c->after);
	struct given again;

	promise(command->count == 2 && strlen(word.data) == word.len);
	promise(word.len >= around && text_starts(word, c->before) &&
		text_ends(word, c->after));
	inner = (struct ss_text){ word.data + strlen(c->before),
		word.len - around };
	promise(c->reads(inner, value));
	promise(c->dash || !text_starts(word, "-"));
	promise(match_words(spec, command->words, 2, arena, &again) ==
		PATTERN_YES);
	promise(text_equal(again.values[0], value));
}

/* A word that matches is the one that its values make. */
static void
check_sent(struct arena *arena, const struct spec *spec, struct ss_text word)
{
	struct ss_text words[2] = { TEXT("x"), word };
	struct given given;
	struct command command;

	if (match_words(spec, words, 2, arena, &given) != PATTERN_YES)
		return;
	promise(command_build(arena, spec, &given, &command, NULL) == SS_OK);
	promise(command.count == 2 && text_equal(command.words[1], word));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frontmatter front;
	struct arena arena;
	struct given given;
	struct command command;
	const struct choice *c;
	const struct spec *spec;
	struct ss_text value;

	if (size < 1 || size > 4096)
		return 0;
	arena_init(&arena, 0);
	c = &choices[data[0] % ARRAY_LEN(choices)];
	spec = parse(&arena, c, &front);
	value.len = strnlen((const char *)data + 1, size - 1);
	value.data = arena_copy(&arena, (const char *)data + 1, value.len);
	if (utf8_valid(value.data, value.len)) {
		promise(given_init(&given, spec, &arena));
		given.values[0] = value;
		if (command_build(&arena, spec, &given, &command, NULL) ==
			SS_OK)
			check_filled(&arena, c, spec, &command, value);
		check_sent(&arena, spec, value);
	}
	frontmatter_release(&front);
	arena_release(&arena);
	return 0;
}
