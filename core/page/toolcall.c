/* SPDX-License-Identifier: MIT */
#include "page/toolcall.h"

#include <stdio.h>

#include "base/digest.h"
#include "wire/path.h"

#define CUT 48

/* ------------------------------------------------------------------ name -- */

static bool
is_name_char(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-';
}

/* The page's part of a name: docs/a for docs/a.md, docs for docs/README.md. */
static struct ss_text
page_stem(const char *page)
{
	struct ss_text t = text_of(page);
	size_t dir = path_dir_len(page);

	if (text_ends(t, ".md"))
		t.len -= 3;
	else if (text_ends(t, ".markdown"))
		t.len -= 9;
	if (text_is((struct ss_text){ page + dir + (dir > 0),
			    t.len - dir - (dir > 0) },
		    "README"))
		t.len = dir;
	return t;
}

/* The program's name without its path: jq for "/usr/bin/jq". */
static struct ss_text
program_of(const struct spec *spec)
{
	const struct part *first = &spec->parts[0];
	const char *slash;

	if (first->kind != PART_TEXT)
		return TEXT("run");
	slash = strrchr(first->text.data, '/');
	return text_of(slash != NULL ? slash + 1 : first->text.data);
}

static void
add_name(struct buf *name, struct ss_text t)
{
	for (size_t i = 0; i < t.len; i++) {
		/* One dash for a character, however many bytes it has. */
		if (((unsigned char)t.data[i] & 0xc0) == 0x80)
			continue;
		buf_char(name, is_name_char(t.data[i]) ? t.data[i] : '-');
	}
}

/* Writes one byte more than fits, so that the caller sees that it was cut. */
static size_t
plain_name(const struct spec *spec, const char *page, char *out, size_t cap)
{
	struct buf name = BUF_INIT(PATH_BYTES_MAX * 2);
	struct ss_text stem = page_stem(page);
	size_t len;

	if (spec->name != NULL) {
		add_name(&name, text_of(spec->name));
	} else {
		add_name(&name, stem);
		if (stem.len > 0)
			buf_char(&name, '_');
		add_name(&name, program_of(spec));
	}
	len = name.len < cap ? name.len : cap;
	if (len > 0)
		memcpy(out, name.data, len);
	buf_release(&name);
	return len;
}

void
toolcall_hashed_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	struct buf canonical = BUF_INIT((size_t)1 << 20);
	uint8_t digest[DIGEST_BYTES];
	struct ss_text parts[2] = { text_of(page) };
	size_t len = plain_name(spec, page, out, CUT);

	spec_print(spec, &canonical);
	parts[1] = buf_view(&canonical);
	digest_parts(parts, 2, digest);
	buf_release(&canonical);
	out[len] = '-';
	digest_hex(digest, 4, out + len + 1);
}

void
toolcall_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1])
{
	char plain[TOOLCALL_NAME_MAX + 1];
	size_t len = plain_name(spec, page, plain, sizeof(plain));

	if (len == 0 || len > TOOLCALL_NAME_MAX) {
		toolcall_hashed_name(spec, page, out);
		return;
	}
	memcpy(out, plain, len);
	out[len] = '\0';
}

/* -------------------------------------------------------------- arguments -- */

static bool
is_taken(const struct spec *spec, size_t i)
{
	const char *name = spec->parts[i].name;

	if (strcmp(name, TOOLCALL_ARGS) == 0 ||
		strcmp(name, TOOLCALL_ENV) == 0 ||
		strcmp(name, TOOLCALL_STDIN) == 0 ||
		strlen(name) > TOOLCALL_PROPERTY_MAX)
		return true;
	for (size_t k = 0; k < i; k++)
		if (spec->parts[k].name != NULL &&
			strcmp(spec->parts[k].name, name) == 0)
			return true;
	return false;
}

/* Does the author give this name to a part? */
static bool
is_given(const struct spec *spec, const char *name)
{
	for (size_t i = 0; i < spec->part_count; i++)
		if (spec->parts[i].name != NULL &&
			strcmp(spec->parts[i].name, name) == 0)
			return true;
	return false;
}

bool
toolcall_property(const struct spec *spec, size_t i,
	char out[static TOOLCALL_PROPERTY_MAX + 1])
{
	const struct part *p = &spec->parts[i];
	size_t place = 0;

	if (p->kind == PART_TEXT)
		return false;
	if (p->name != NULL && !is_taken(spec, i)) {
		strcpy(out, p->name);
		return true;
	}
	for (size_t k = 0; k <= i; k++)
		place += spec->parts[k].kind != PART_TEXT;
	snprintf(out, TOOLCALL_PROPERTY_MAX, "arg%zu", place);
	/* The author may have named another placeholder "arg2". */
	while (is_given(spec, out) && strlen(out) < TOOLCALL_PROPERTY_MAX)
		strcat(out, "_");
	return true;
}

const struct part *
toolcall_part(const struct spec *spec, const char *name)
{
	char own[TOOLCALL_PROPERTY_MAX + 1];

	for (size_t i = 0; i < spec->part_count; i++)
		if (toolcall_property(spec, i, own) && strcmp(own, name) == 0)
			return &spec->parts[i];
	return NULL;
}

bool
toolcall_fits(const struct part *p, struct ss_text word)
{
	return p->kind != PART_REGEX ||
		pattern_search(p->pattern, word.data, word.len) == PATTERN_YES;
}

/* Adds a hint with what the tool takes: "pattern, file, args (a list)". */
static enum ss_err
hint_arguments(const struct spec *spec, struct ss_error *err)
{
	char name[TOOLCALL_PROPERTY_MAX + 1];
	struct buf b = BUF_INIT(1024);

	if (err == NULL)
		return SS_BAD_REQUEST;
	for (size_t i = 0; i < spec->part_count; i++)
		if (toolcall_property(spec, i, name))
			buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", name);
	if (!spec->locked)
		buf_printf(&b, "%s" TOOLCALL_ARGS " (a list of words)",
			b.len > 0 ? ", " : "");
	if (spec->takes_stdin)
		buf_printf(&b, "%s" TOOLCALL_STDIN, b.len > 0 ? ", " : "");
	if (b.len > 0)
		error_hint(err, "this tool takes %.*s", (int)b.len, b.data);
	else
		error_hint(err, "this tool takes no arguments");
	buf_release(&b);
	return SS_BAD_REQUEST;
}

static const struct proto_argument *
find_argument(const struct proto_argument *args, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(args[i].name, name) == 0)
			return &args[i];
	return NULL;
}

static const char *
kind_found(const struct proto_argument *a)
{
	switch (a->kind) {
	case PROTO_TEXT: return "a string";
	case PROTO_LIST: return "an array";
	case PROTO_MAP: return "an object";
	case PROTO_OTHER: return a->found;
	}
	return "something else";
}

static enum ss_err
wrong_kind(const struct spec *spec, const struct proto_argument *a,
	const char *wanted, struct ss_error *err)
{
	error_set(err, SS_BAD_REQUEST,
		"the argument \"%.64s\" must be %s: it is %s", a->name, wanted,
		kind_found(a));
	return hint_arguments(spec, err);
}

/* Refuses an argument that the tool does not have. */
static enum ss_err
check_known(const struct spec *spec, const struct proto_argument *args,
	size_t count, struct ss_error *err)
{
	for (size_t i = 0; i < count; i++) {
		const char *given = args[i].name;
		bool known = strcmp(given, TOOLCALL_ENV) == 0 ||
			(!spec->locked && strcmp(given, TOOLCALL_ARGS) == 0) ||
			(spec->takes_stdin &&
				strcmp(given, TOOLCALL_STDIN) == 0);

		if (known || toolcall_part(spec, given) != NULL)
			continue;
		error_set(err, SS_BAD_REQUEST, "there is no argument \"%.*s\"",
			(int)utf8_cut(given, strlen(given), 64), given);
		return hint_arguments(spec, err);
	}
	return SS_OK;
}

static enum ss_err
take_placeholder(const struct spec *spec, size_t i,
	const struct proto_argument *args, size_t count, struct ss_text *out,
	struct ss_error *err)
{
	const struct part *p = &spec->parts[i];
	const struct proto_argument *a;
	char name[TOOLCALL_PROPERTY_MAX + 1];

	toolcall_property(spec, i, name);
	a = find_argument(args, count, name);
	if (a == NULL) {
		error_set(err, SS_BAD_REQUEST, "the argument \"%s\" is missing",
			name);
		return hint_arguments(spec, err);
	}
	if (a->kind != PROTO_TEXT)
		return wrong_kind(spec, a, "a string", err);
	*out = a->text;
	if (toolcall_fits(p, a->text))
		return SS_OK;
	error_set(err, SS_BAD_REQUEST,
		"the argument \"%s\" does not match its pattern", name);
	error_hint(err, "its pattern is %.900s", p->text.data);
	return SS_BAD_REQUEST;
}

static enum ss_err
take_extras(const struct spec *spec, const struct proto_argument *a,
	struct proto_request *out, struct ss_error *err)
{
	if (a == NULL)
		return SS_OK;
	if (a->kind != PROTO_LIST)
		return wrong_kind(spec, a, "an array of strings", err);
	for (size_t i = 0; i < a->item_count; i++)
		out->words[out->word_count++] = a->items[i];
	return SS_OK;
}

/* Copies the word: the page may be reloaded before the command runs. */
static enum ss_err
copy_word(struct arena *arena, struct ss_text word, struct ss_text *out,
	struct ss_error *err)
{
	out->len = word.len;
	out->data = arena_copy(arena, word.data, word.len);
	return out->data != NULL ? SS_OK : error_memory(err);
}

static enum ss_err
take_words(struct arena *arena, const struct spec *spec,
	const struct proto_argument *args, size_t count,
	struct proto_request *out, struct ss_error *err)
{
	const struct proto_argument *extra =
		find_argument(args, count, TOOLCALL_ARGS);
	size_t most =
		spec->part_count + (extra != NULL ? extra->item_count : 0);
	enum ss_err code = SS_OK;

	if (most > PROTO_WORDS_MAX)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command has %zu words, at most %d are taken", most,
			PROTO_WORDS_MAX);
	out->words = arena_array(arena, most, sizeof(*out->words));
	if (out->words == NULL)
		return error_memory(err);
	for (size_t i = 0; code == SS_OK && i < spec->part_count; i++) {
		struct ss_text *word = &out->words[out->word_count++];

		if (spec->parts[i].kind == PART_TEXT)
			code = copy_word(arena, spec->parts[i].text, word, err);
		else
			code = take_placeholder(
				spec, i, args, count, word, err);
	}
	return code == SS_OK ? take_extras(spec, extra, out, err) : code;
}

enum ss_err
toolcall_words(struct arena *arena, const struct spec *spec,
	const struct proto_argument *args, size_t count,
	struct proto_request *out, struct ss_error *err)
{
	const struct proto_argument *a;
	enum ss_err code = check_known(spec, args, count, err);

	*out = (struct proto_request){ 0 };
	if (code == SS_OK)
		code = take_words(arena, spec, args, count, out, err);
	if (code != SS_OK)
		return code;
	if ((a = find_argument(args, count, TOOLCALL_ENV)) != NULL) {
		if (a->kind != PROTO_MAP)
			return wrong_kind(spec, a, "an object of strings", err);
		out->env = a->pairs;
		out->env_count = a->pair_count;
	}
	if (spec->takes_stdin &&
		(a = find_argument(args, count, TOOLCALL_STDIN)) != NULL) {
		if (a->kind != PROTO_TEXT)
			return wrong_kind(spec, a, "a string", err);
		out->has_stdin = true;
		out->stdin_text = a->text;
	}
	/* Only checks the limits: there is nothing to fill. */
	return proto_fill(arena, out->words, out->word_count, NULL, 0, err);
}
