/* SPDX-License-Identifier: MIT */
#include "page/match.h"

#include "page/nearest.h"
#include "page/template.h"
#include "page/toolcall.h"
#include "wire/proto.h"

/* -------------------------------------------------------- words to values */

struct matching {
	const struct spec *spec;
	const struct ss_text *words;
	size_t count;
	struct arena *arena;
	struct ss_text *values;
	size_t used;                 /* words that parts took */
	size_t left;                 /* for template_split */
	enum pattern_result stopped; /* a limit or no memory; PATTERN_NO */
	/*
	 * Bit d of failed[k]: with d optional parts left out so far, nothing
	 * fits from the k-th optional part on.  Bounds the search.
	 */
	uint64_t failed[SPEC_OPTIONAL_MAX];
};

/* Is this word one for the part?  Sets the values. */
static bool
fits(struct matching *m, const struct part *p, struct ss_text word)
{
	enum pattern_result found = PATTERN_NO;
	const struct argument *a = part_argument(p);

	switch (p->kind) {
	case PART_TEXT: return text_equal(p->text, word);
	case PART_ARGUMENT:
		found = argument_takes(a, word);
		if (found == PATTERN_YES)
			m->values[a->index] = word;
		break;
	case PART_TEMPLATE:
		found = template_split(p, word, m->arena, m->values, &m->left);
	}
	if (found != PATTERN_YES && found != PATTERN_NO)
		m->stopped = found;
	return found == PATTERN_YES;
}

static void
forget_values(struct matching *m, const struct part *p)
{
	for (size_t i = 0; i < p->piece_count; i++)
		if (p->pieces[i].argument != NULL)
			m->values[p->pieces[i].argument->index] =
				(struct ss_text){ NULL, 0 };
}

/*
 * Matches the parts from `part` on.  Of the optional parts before it, which are
 * `seen`, `absent` took no word, so it begins with word part - absent.
 */
static bool
match_from(struct matching *m, size_t part, size_t seen, size_t absent)
{
	const struct spec *s = m->spec;

	for (; part < s->part_count; part++) {
		const struct part *p = &s->parts[part];
		bool here = part - absent < m->count &&
			fits(m, p, m->words[part - absent]);

		if (!p->optional && !here)
			return false;
		if (!p->optional)
			continue;
		if (m->stopped != PATTERN_NO || m->failed[seen] >> absent & 1)
			return false;
		if (here && match_from(m, part + 1, seen + 1, absent))
			return true;
		forget_values(m, p);
		if (match_from(m, part + 1, seen + 1, absent + 1))
			return true;
		m->failed[seen] |= (uint64_t)1 << absent;
		return false;
	}
	m->used = part - absent;
	return m->used == m->count || (!s->locked && m->used < m->count);
}

/*
 * Compares all words of the author first, which refuses most commands cheaply:
 * a regex is tried only when they match.
 */
static bool
has_its_words(const struct spec *s, const struct ss_text *words, size_t count)
{
	if (count + s->optional_count < s->part_count ||
		(s->locked && count > s->part_count))
		return false;
	if (!s->plain)
		return text_equal(s->parts[0].text, words[0]) ||
			s->parts[0].kind != PART_TEXT;
	for (size_t i = 0; i < s->part_count; i++)
		if (s->parts[i].kind == PART_TEXT &&
			!text_equal(s->parts[i].text, words[i]))
			return false;
	return true;
}

bool
given_init(struct given *g, const struct spec *s, struct arena *arena)
{
	*g = (struct given){ 0 };
	g->values =
		arena_array(arena, s->argument_count + 1, sizeof(*g->values));
	g->count = s->argument_count;
	return g->values != NULL;
}

/* Each part has one word, and the author's are the same already. */
static enum pattern_result
match_plain(const struct spec *s, const struct ss_text *words,
	struct ss_text *values)
{
	enum pattern_result found = PATTERN_YES;

	for (size_t i = 0; found == PATTERN_YES && i < s->part_count; i++) {
		const struct argument *a = part_argument(&s->parts[i]);

		if (a == NULL)
			continue;
		values[a->index] = words[i];
		found = argument_takes(a, words[i]);
	}
	return found;
}

static enum pattern_result
search(const struct spec *s, const struct ss_text *words, size_t count,
	struct arena *arena, struct given *given, size_t *left)
{
	struct matching m = { .spec = s,
		.words = words,
		.count = count,
		.arena = arena,
		.values = given->values,
		.left = *left };
	bool found = match_from(&m, 0, 0, 0);

	given->extra = words + m.used;
	given->extra_count = count - m.used;
	*left = m.left;
	if (m.stopped != PATTERN_NO)
		return m.stopped;
	return found ? PATTERN_YES : PATTERN_NO;
}

/* match_words with what is left for template_split. */
static enum pattern_result
match_within(const struct spec *s, const struct ss_text *words, size_t count,
	struct arena *arena, struct given *out, size_t *left)
{
	struct given given;
	enum pattern_result found;

	if (!has_its_words(s, words, count))
		return PATTERN_NO;
	if (!given_init(&given, s, arena))
		return PATTERN_MEMORY;
	if (s->plain) {
		found = match_plain(s, words, given.values);
		given.extra = words + s->part_count;
		given.extra_count = count - s->part_count;
	} else {
		found = search(s, words, count, arena, &given, left);
	}
	if (found != PATTERN_YES)
		return found;
	given.matched = true;
	given.words = s->plain ? words : NULL;
	if (out != NULL)
		*out = given;
	return PATTERN_YES;
}

enum pattern_result
match_words(const struct spec *s, const struct ss_text *words, size_t count,
	struct arena *arena, struct given *out)
{
	size_t left = TEMPLATE_BYTES_MAX;

	return match_within(s, words, count, arena, out, &left);
}

enum pattern_result
spec_match(const struct spec *s, const struct ss_text *words, size_t count)
{
	struct arena arena;
	enum pattern_result found;

	arena_init(&arena, 0);
	found = match_words(s, words, count, &arena, NULL);
	arena_release(&arena);
	return found;
}

/* Bytes kept free for "and N more". */
#define MORE_BYTES 64

static bool
hint_tools(const struct spec *specs, size_t count, struct ss_error *err)
{
	struct buf line = BUF_INIT(sizeof(err->hint) - MORE_BYTES);
	size_t shown = 0, kept = 0;
	bool failed;

	while (shown < count && buf_text(&line, shown ? ", " : "") &&
		spec_print(&specs[shown], &line)) {
		kept = line.len;
		shown++;
	}
	if (shown == count && count > 0)
		error_hint(err, "this page allows: %s", line.data);
	else if (kept > 0)
		error_hint(err, "this page allows: %.*s, … and %zu more",
			(int)kept, line.data, count - shown);
	else
		error_hint(err,
			count > 0 ? "this page has %zu tool%s"
				  : "this page has no tools",
			count, count == 1 ? "" : "s");
	failed = line.failed;
	buf_release(&line);
	return !failed;
}

static enum ss_err
refuse_limit(const struct spec *s, struct ss_error *err)
{
	error_set(err, SS_NOT_ALLOWED,
		"a regex reached its limit on this command");
	error_hint(err, "try a shorter word");
	error_detail(err, "line %u", s->line);
	error_rule(err, s->line, "a regex of this tool");
	return SS_NOT_ALLOWED;
}

static enum ss_err
choose(const struct spec *specs, size_t count, const struct ss_text *words,
	size_t word_count, struct arena *arena, size_t *tool, struct given *out,
	struct ss_error *err)
{
	struct buf why = BUF_INIT(1024);
	const struct spec *near;
	const struct part *part;
	size_t left = TEMPLATE_BYTES_MAX;

	for (size_t i = 0; i < count; i++)
		switch (match_within(
			&specs[i], words, word_count, arena, out, &left)) {
		case PATTERN_NO: break;
		case PATTERN_YES: *tool = i; return SS_OK;
		case PATTERN_LIMIT: return refuse_limit(&specs[i], err);
		case PATTERN_MEMORY: return error_memory(err);
		}
	if (err == NULL)
		return SS_NOT_ALLOWED;
	near = nearest_print(
		specs, count, words, word_count, arena, &part, &why);
	error_set(err, SS_NOT_ALLOWED,
		"no tool of this page allows this command%s%s",
		why.len > 0 ? ": " : "", why.data);
	if (near != NULL)
		spec_rule(near, part, err);
	if (why.failed || !hint_tools(specs, count, err))
		error_memory(err);
	buf_release(&why);
	return err->code;
}

enum ss_err
match_choose(const struct spec *specs, size_t count,
	const struct ss_text *words, size_t word_count, struct arena *arena,
	size_t *tool, struct given *out, struct ss_error *err)
{
	enum ss_err code;

	pattern_command_begin();
	code = choose(specs, count, words, word_count, arena, tool, out, err);
	pattern_command_end();
	return code;
}

/* -------------------------------------------------------- values to words */

struct build {
	struct arena *arena;
	const struct given *given;
	struct command *out;
	struct ss_text *words, *values;
	struct ss_error *err;
};

/* What callers know the argument by. */
static void
name_of(const struct build *b, const struct argument *a,
	char out[static SPEC_ARGUMENT_MAX + 1])
{
	toolcall_property(b->out->spec, a, out);
}

static enum ss_err
refuse_missing(const struct build *b, const struct argument *a)
{
	char name[SPEC_ARGUMENT_MAX + 1];

	name_of(b, a, name);
	error_set(
		b->err, SS_BAD_REQUEST, "the argument \"%s\" is missing", name);
	return toolcall_hint(b->out->spec, b->err);
}

/* Copies an author's word: the page may be freed before the answer is sent. */
static enum ss_err
copy_word(struct build *b, struct ss_text word, struct ss_text *out)
{
	out->len = word.len;
	out->data = arena_copy(b->arena, word.data, word.len);
	return out->data != NULL ? SS_OK : error_memory(b->err);
}

/* A page may have changed since the values were found. */
static enum ss_err
take_value(struct build *b, const struct argument *a)
{
	struct ss_text value = b->given->values[a->index];
	char name[SPEC_ARGUMENT_MAX + 1];
	enum pattern_result taken = PATTERN_YES;

	if (value.data == NULL && a->initial != NULL) {
		value = text_of(a->initial);
		if (copy_word(b, value, &value) != SS_OK)
			return SS_INTERNAL;
	}
	b->values[a->index] = value;
	if (value.data != NULL && !b->given->matched)
		taken = argument_takes(a, value);
	if (taken == PATTERN_YES)
		return SS_OK;
	if (taken == PATTERN_MEMORY)
		return error_memory(b->err);
	if (taken == PATTERN_LIMIT)
		return refuse_limit(b->out->spec, b->err);
	name_of(b, a, name);
	return argument_refuse(a, name, value, b->err);
}

/* The first argument of the part that has no value; NULL: each has one. */
static const struct argument *
first_missing(const struct build *b, const struct part *p)
{
	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL && b->values[a->index].data == NULL)
			return a;
	}
	return NULL;
}

static bool
is_given(const struct build *b, const struct part *p)
{
	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL && b->given->values[a->index].data != NULL)
			return true;
	}
	return false;
}

static enum ss_err
fill_template(struct build *b, const struct part *p, struct ss_text *out)
{
	struct buf word = BUF_INIT(PROTO_WORD_MAX);
	enum ss_err code = SS_OK;

	template_fill(p, b->values, &word);
	if (word.full)
		code = error_set(b->err, SS_COMMAND_TOO_LARGE,
			"a word is larger than %d bytes once it is filled in",
			PROTO_WORD_MAX);
	else if (template_adds_dash(p, buf_view(&word)))
		code = error_set(b->err, SS_BAD_REQUEST,
			"a value would make its word begin with -");
	out->data = arena_copy(b->arena, word.data, word.len);
	out->len = word.len;
	if (word.failed || out->data == NULL)
		code = error_memory(b->err);
	buf_release(&word);
	return code;
}

/* Adds the part's word, unless it is optional and has no value. */
static enum ss_err
add_part(struct build *b, const struct part *p)
{
	const struct argument *missing;
	struct ss_text *word = &b->words[b->out->count];
	enum ss_err code = SS_OK;

	for (size_t i = 0; code == SS_OK && i < p->piece_count; i++)
		if (p->pieces[i].argument != NULL)
			code = take_value(b, p->pieces[i].argument);
	if (code != SS_OK)
		return code;
	missing = first_missing(b, p);
	if (missing != NULL)
		return p->optional && !is_given(b, p)
			? SS_OK
			: refuse_missing(b, missing);
	if (p->kind == PART_TEXT)
		code = copy_word(b, p->text, word);
	else if (p->kind == PART_ARGUMENT)
		*word = b->values[part_argument(p)->index];
	else
		code = fill_template(b, p, word);
	b->out->parts[b->out->count++] = p;
	return code;
}

/* A plain tool's words are their own values. */
static void
take_words(struct build *b)
{
	const struct spec *s = b->out->spec;

	for (size_t i = 0; i < s->part_count; i++)
		b->out->parts[i] = &s->parts[i];
	memcpy(b->words, b->given->words,
		(s->part_count + b->given->extra_count) * sizeof(*b->words));
	b->out->count = s->part_count + b->given->extra_count;
	b->out->values = b->given->values;
}

static enum ss_err
make_words(struct build *b)
{
	const struct spec *s = b->out->spec;
	enum ss_err code = SS_OK;

	b->values = arena_array(
		b->arena, s->argument_count + 1, sizeof(*b->values));
	if (b->values == NULL)
		return error_memory(b->err);
	pattern_command_begin();
	for (size_t i = 0; code == SS_OK && i < s->part_count; i++)
		code = add_part(b, &s->parts[i]);
	pattern_command_end();
	for (size_t i = 0; i < b->given->extra_count; i++)
		b->words[b->out->count++] = b->given->extra[i];
	b->out->values = b->values;
	return code;
}

enum ss_err
command_build(struct arena *arena, const struct spec *s,
	const struct given *given, struct command *out, struct ss_error *err)
{
	struct build b = {
		.arena = arena, .given = given, .out = out, .err = err
	};
	size_t most = s->part_count + given->extra_count;

	*out = (struct command){ .spec = s };
	if (given->count != s->argument_count)
		return error_set(err, SS_BAD_REQUEST,
			"the page has changed: call the tool again");
	if (most > PROTO_WORDS_MAX)
		return error_set(err, SS_COMMAND_TOO_LARGE,
			"the command has %zu words, at most %d are taken", most,
			PROTO_WORDS_MAX);
	b.words = arena_array(arena, most + 1, sizeof(*b.words));
	out->parts = arena_array(arena, most + 1, sizeof(struct part *));
	out->words = b.words;
	if (b.words == NULL || out->parts == NULL)
		return error_memory(err);
	if (given->words == NULL)
		return make_words(&b);
	take_words(&b);
	return SS_OK;
}
