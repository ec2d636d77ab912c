/* SPDX-License-Identifier: MIT */
/*
 * A command near to the refused words: the words are aligned with the parts of
 * each tool that may be meant, and the best alignment is written down.
 */
#include "page/form.h"

#include "page/near.h"
#include "page/template.h"
#include "page/words.h"

#define WORDS_MAX 64     /* of the caller's that are looked at */
#define PARTS_MAX 128    /* of a tool that is looked at */
#define TOOLS_MAX 16     /* that are aligned */
#define MATCHES_MAX 4096 /* comparisons for one refusal */

/* What one step of an alignment is worth. */
enum {
	SCORE_PROGRAM = 12,
	SCORE_WORD = 6,
	SCORE_TAKEN = 4,
	SCORE_REPAIRED = 2,
	SCORE_EXTRA = 1,
	SCORE_SKIPPED = -1, /* a word of the caller's */
	SCORE_FILLED = -2   /* an argument that nothing was given for */
};

struct align {
	const struct form_page *page;
	const struct spec *spec;
	const struct ss_text *words;
	size_t count;
	struct arena *arena;
	size_t *budget;
	int *best; /* (parts + 1) rows of count + 1 */
	int *fit;  /* of part and word; 0: it does not fit */
};

static int *
cell(const struct align *a, int *table, size_t part, size_t word)
{
	return &table[part * (a->count + 1) + word];
}

/* ------------------------------------------------------------- one part ---- */

/* A template whose only argument the word may be. */
static const struct argument *
only_argument(const struct part *p)
{
	const struct argument *found = NULL;

	for (size_t i = 0; i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a != NULL && found != NULL && a != found)
			return NULL;
		if (a != NULL)
			found = a;
	}
	return found;
}

static bool
is_split(const struct align *al, const struct part *p, struct ss_text word)
{
	struct ss_text *values = arena_array(
		al->arena, al->spec->argument_count + 1, sizeof(*values));
	size_t left = TEMPLATE_BYTES_MAX / 64;

	return values != NULL &&
		template_split(p, word, al->arena, values, &left) ==
		PATTERN_YES;
}

/* Does the word begin with the text that the template begins with? */
static bool
begins_so(const struct part *p, struct ss_text word)
{
	const struct piece *first = &p->pieces[0];

	return p->piece_count > 0 && first->argument == NULL &&
		first->text.len > 0 && first->text.len <= word.len &&
		memcmp(first->text.data, word.data, first->text.len) == 0;
}

static int
fit_argument(
	const struct align *al, const struct argument *a, struct ss_text word)
{
	struct ss_text value = form_repair(al->page, a, word);

	if (value.data == NULL)
		return 0;
	if (value.data != word.data)
		return SCORE_REPAIRED;
	/* An option where any word fits is probably no value. */
	return word.len > 1 && word.data[0] == '-' ? SCORE_EXTRA : SCORE_TAKEN;
}

static int
fit_part(const struct align *al, size_t index, struct ss_text word)
{
	const struct part *p = &al->spec->parts[index];
	const char *name = p->text.data;

	if (*al->budget == 0)
		return 0;
	--*al->budget;
	switch (p->kind) {
	case PART_TEXT:
		if (text_equal(p->text, word))
			return index == 0 ? SCORE_PROGRAM : SCORE_WORD;
		return near_word(word, &name, 1) != NULL ? SCORE_TAKEN : 0;
	case PART_ARGUMENT: return fit_argument(al, part_argument(p), word);
	case PART_TEMPLATE: break;
	}
	if (is_split(al, p, word))
		return SCORE_TAKEN;
	if (begins_so(p, word))
		return SCORE_REPAIRED;
	if (only_argument(p) == NULL)
		return 0;
	return fit_argument(al, only_argument(p), word) > 0 ? SCORE_REPAIRED
							    : 0;
}

/* ------------------------------------------------------------ the alignment -- */

static int
most(int a, int b)
{
	return a > b ? a : b;
}

/* Words behind the last part: appended, where the tool takes more. */
static int
score_rest(const struct align *al, size_t from)
{
	int score = 0;

	for (size_t i = from; i < al->count; i++)
		score += !al->spec->locked &&
				word_check(al->words[i], false, NULL) == SS_OK
			? SCORE_EXTRA
			: SCORE_SKIPPED;
	return score;
}

static int
score_without(const struct part *p)
{
	if (p->optional)
		return 0;
	return p->kind == PART_TEXT ? SCORE_SKIPPED : SCORE_FILLED;
}

/* False: no memory. */
static bool
fill_table(struct align *al)
{
	size_t parts = al->spec->part_count, n = al->count;
	size_t cells = (parts + 1) * (n + 1);

	al->best = arena_array(al->arena, cells, sizeof(*al->best));
	al->fit = arena_array(al->arena, cells, sizeof(*al->fit));
	if (al->best == NULL || al->fit == NULL)
		return false;
	for (size_t i = 0; i <= n; i++)
		*cell(al, al->best, parts, i) = score_rest(al, i);
	for (size_t p = parts; p-- > 0;)
		for (size_t i = n + 1; i-- > 0;) {
			int without = score_without(&al->spec->parts[p]) +
				*cell(al, al->best, p + 1, i);
			int *fit = cell(al, al->fit, p, i);

			if (i < n) {
				*fit = fit_part(al, p, al->words[i]);
				without = most(without,
					SCORE_SKIPPED +
						*cell(al, al->best, p, i + 1));
			}
			if (i<n && * fit> 0)
				without = most(without,
					*fit +
						*cell(al, al->best, p + 1,
							i + 1));
			*cell(al, al->best, p, i) = without;
		}
	return true;
}

/* A template with this value for its only argument, else with examples. */
static struct ss_text
fill_template(const struct align *al, const struct part *p, struct ss_text word)
{
	struct ss_text *values = arena_array(
		al->arena, al->spec->argument_count + 1, sizeof(*values));
	struct buf filled = BUF_INIT(PROTO_WORD_MAX);
	struct ss_text out = { NULL, 0 };
	bool whole = values != NULL;

	for (size_t i = 0; whole && i < p->piece_count; i++) {
		const struct argument *a = p->pieces[i].argument;

		if (a == NULL || values[a->index].data != NULL)
			continue;
		values[a->index] = word.data != NULL
			? form_repair(al->page, a, word)
			: form_example(al->page, a);
		whole = values[a->index].data != NULL;
	}
	if (whole)
		template_fill(p, values, &filled);
	if (whole && buf_ok(&filled)) {
		out.data = arena_copy(al->arena, filled.data, filled.len);
		out.len = out.data != NULL ? filled.len : 0;
	}
	buf_release(&filled);
	return out;
}

/* The part's word, from one of the caller's (data NULL: from none). */
static struct ss_text
make_word(const struct align *al, const struct part *p, struct ss_text word)
{
	switch (p->kind) {
	case PART_TEXT: return p->text;
	case PART_ARGUMENT:
		return word.data != NULL
			? form_repair(al->page, part_argument(p), word)
			: form_example(al->page, part_argument(p));
	case PART_TEMPLATE: break;
	}
	if (word.data != NULL && is_split(al, p, word))
		return word;
	if (word.data != NULL && !begins_so(p, word))
		return fill_template(al, p, word);
	return fill_template(al, p, (struct ss_text){ NULL, 0 });
}

static bool
add_word(struct form *out, struct ss_text word)
{
	out->words[out->word_count++] = word;
	return word.data != NULL;
}

/* Follows the best way through the table. */
static bool
write_words(struct align *al, struct form *out)
{
	const struct ss_text none = { NULL, 0 };
	size_t p = 0, i = 0;
	bool good = true;

	out->words = arena_array(al->arena,
		al->spec->part_count + al->count + 1, sizeof(*out->words));
	if (out->words == NULL)
		return false;
	while (good && p < al->spec->part_count) {
		const struct part *part = &al->spec->parts[p];
		int here = *cell(al, al->best, p, i);
		int fit = *cell(al, al->fit, p, i);

		if (i < al->count && fit > 0 &&
			here == fit + *cell(al, al->best, p + 1, i + 1)) {
			good = add_word(out, make_word(al, part, al->words[i]));
			out->own++;
			p++, i++;
		} else if (i < al->count &&
			here == SCORE_SKIPPED + *cell(al, al->best, p, i + 1)) {
			i++;
		} else {
			if (!part->optional)
				good = add_word(out, make_word(al, part, none));
			p++;
		}
	}
	for (; good && i < al->count && !al->spec->locked; i++)
		if (word_check(al->words[i], false, NULL) == SS_OK) {
			good = add_word(out, al->words[i]);
			out->own++;
		}
	return good;
}

/* ----------------------------------------------------------- which tool ---- */

static struct ss_text
base_name(struct ss_text word)
{
	size_t from = word.len;

	while (from > 0 && word.data[from - 1] != '/')
		from--;
	return (struct ss_text){ word.data + from, word.len - from };
}

/* Is the tool called so, by its program or its name? */
static bool
is_meant(const struct spec *s, struct ss_text word)
{
	struct ss_text base = base_name(word);
	const char *names[2] = { s->name, NULL };
	size_t count = s->name != NULL;

	if (s->part_count > 0 && s->parts[0].kind == PART_TEXT)
		names[count++] = s->parts[0].text.data;
	for (size_t i = 0; i < count; i++)
		if (text_is(base, names[i]) ||
			text_equal(base_name(text_of(names[i])), base))
			return true;
	return near_word(base, names, count) != NULL;
}

static bool
align_tool(const struct form_page *page, size_t tool,
	const struct ss_text *words, size_t count, size_t *budget, int *score,
	struct form *out)
{
	struct align al = { .page = page,
		.spec = &page->specs[tool],
		.words = words,
		.count = count < WORDS_MAX ? count : WORDS_MAX,
		.arena = page->arena,
		.budget = budget };
	int worth;

	if (al.spec->part_count > PARTS_MAX || !fill_table(&al))
		return false;
	worth = *cell(&al, al.best, 0, 0) +
		(al.spec->confirm ? SCORE_FILLED : 0);
	if (*score >= worth)
		return false;
	*out = (struct form){ .tool = tool };
	if (!write_words(&al, out))
		return false;
	*score = worth;
	return true;
}

/* Of the tools that are meant, or of all. */
static bool
best_of(const struct form_page *page, const struct ss_text *words, size_t count,
	bool meant, struct form *out)
{
	size_t budget = MATCHES_MAX, tried = 0;
	struct form one;
	int score = -1000;

	for (size_t i = 0; i < page->count && tried < TOOLS_MAX; i++) {
		if (meant && !is_meant(&page->specs[i], words[0]))
			continue;
		tried++;
		if (align_tool(page, i, words, count, &budget, &score, &one))
			*out = one;
	}
	return score > -1000;
}

/* The words of a line, by its blanks; quotes around a word are taken off. */
static struct ss_text *
split_line(struct ss_text line, struct arena *arena, size_t *count)
{
	struct ss_text *words =
		arena_array(arena, line.len / 2 + 2, sizeof(*words));
	size_t at = 0;

	*count = 0;
	while (words != NULL && at < line.len) {
		const char *c = line.data + at;
		bool quoted = *c == '"' || *c == '\'';
		const char *end =
			quoted ? memchr(c + 1, *c, line.len - at - 1) : NULL;
		size_t n = 0;

		if (strchr(" \t\r\n", *c) != NULL) {
			at++;
			continue;
		}
		if (end == NULL)
			while (at + n < line.len &&
				strchr(" \t\r\n", c[n]) == NULL)
				n++;
		else
			n = (size_t)(end - c) - 1;
		words[*count].data = arena_copy(arena, c + (end != NULL), n);
		words[*count].len = n;
		if (words[(*count)++].data == NULL)
			return NULL;
		at += end != NULL ? n + 2 : n;
	}
	return words;
}

/* ["grep -c x a.txt"], ["sh", "-c", "grep -c x a.txt"] */
static bool
is_line(const struct ss_text *words, size_t count)
{
	struct ss_text base = base_name(words[0]);

	if (count == 1)
		return memchr(words[0].data, ' ', words[0].len) != NULL;
	return count == 3 && words[1].len > 1 && words[1].data[0] == '-' &&
		words[1].data[words[1].len - 1] == 'c' &&
		(text_is(base, "sh") || text_is(base, "bash"));
}

bool
form_of_words(const struct form_page *page, const struct ss_text *words,
	size_t count, struct form *out)
{
	bool found;

	if (count == 0 || page->count == 0)
		return false;
	pattern_command_begin();
	found = best_of(page, words, count, true, out);
	if (!found && is_line(words, count) && words[count - 1].len < 4096) {
		words = split_line(words[count - 1], page->arena, &count);
		found = words != NULL && count > 0 &&
			best_of(page, words, count, true, out);
	}
	if (!found && words != NULL && count > 1 &&
		best_of(page, words + 1, count - 1, false, out)) {
		found = out->own > 0;
		out->own = 0; /* another program was meant */
	}
	pattern_command_end();
	return found;
}

bool
form_of_tool(const struct form_page *page, size_t tool, struct form *out)
{
	size_t budget = MATCHES_MAX;
	int score = -1000;
	bool found;

	pattern_command_begin();
	found = align_tool(page, tool, NULL, 0, &budget, &score, out);
	pattern_command_end();
	return found;
}
