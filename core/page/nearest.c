/* SPDX-License-Identifier: MIT */
#include "page/nearest.h"

#include "page/template.h"

#define TOOLS_MAX 64    /* that are compared: a refusal costs little */
#define SHOWN_BYTES 48  /* of a word */
#define TAKES_BYTES 160 /* of what is expected */

/* How far the words come in one tool. */
struct reached {
	const struct spec *spec;
	size_t words;                /* that it took */
	const struct part *part;     /* that would be next; NULL: none */
	enum pattern_result stopped; /* a limit or no memory; PATTERN_NO */
	size_t left;                 /* for template_split */
};

static bool
takes(struct reached *r, const struct part *p, struct ss_text word,
	struct arena *arena, struct ss_text *values)
{
	enum pattern_result found = PATTERN_NO;

	switch (p->kind) {
	case PART_TEXT: return text_equal(p->text, word);
	case PART_ARGUMENT:
		found = argument_takes(part_argument(p), word);
		break;
	case PART_TEMPLATE:
		found = template_split(p, word, arena, values, &r->left);
	}
	if (found != PATTERN_YES && found != PATTERN_NO)
		r->stopped = found;
	return found == PATTERN_YES;
}

/*
 * Goes from one word to the next with every part that may be the next one:
 * an optional part may also be passed over.
 */
static struct reached
follow(const struct spec *s, const struct ss_text *words, size_t count,
	struct arena *arena, size_t left)
{
	struct reached r = { .spec = s, .left = left };
	struct ss_text *values =
		arena_array(arena, s->argument_count + 1, sizeof(*values));
	bool *now = arena_array(arena, s->part_count + 1, sizeof(*now));
	bool *next = arena_array(arena, s->part_count + 1, sizeof(*next));
	bool any = values != NULL && now != NULL && next != NULL;

	if (any)
		now[0] = true;
	else
		r.stopped = PATTERN_MEMORY;
	for (size_t i = 0; any; i++) {
		bool *other = next;

		any = false;
		if (r.stopped != PATTERN_NO)
			break;
		r.words = i;
		r.part = NULL;
		memset(next, 0, (s->part_count + 1) * sizeof(*next));
		for (size_t p = 0; p < s->part_count; p++) {
			if (!now[p])
				continue;
			if (r.part == NULL || r.part->optional)
				r.part = &s->parts[p];
			now[p + 1] |= s->parts[p].optional;
			if (i < count &&
				takes(&r, &s->parts[p], words[i], arena,
					values))
				any = next[p + 1] = true;
		}
		next = now;
		now = other;
	}
	return r;
}

static void
print_expected(const struct part *p, struct buf *out)
{
	const struct argument *a = part_argument(p);
	struct buf text = BUF_INIT(4096);
	size_t cut;

	if (p->kind == PART_TEXT)
		buf_text(&text, "the word ");
	if (a != NULL)
		argument_expects(a, &text);
	else
		part_outline(p, false, &text);
	cut = utf8_cut(text.data, text.len, TAKES_BYTES);
	if (!text.failed)
		buf_add(out, text.data, cut);
	if (cut < text.len)
		buf_text(out, "…");
	out->failed |= text.failed;
	buf_release(&text);
}

static void
print_word(struct ss_text word, struct buf *out)
{
	size_t cut = utf8_cut(word.data, word.len, SHOWN_BYTES);

	buf_char(out, '"');
	buf_add(out, word.data, cut);
	buf_text(out, cut < word.len ? "…\"" : "\"");
}

/* Is it what a tool is called by, and no tool's first word? */
static bool
is_name(const struct spec *specs, size_t count, struct ss_text word)
{
	for (size_t i = 0; i < count; i++)
		if (specs[i].name != NULL && text_is(word, specs[i].name))
			return true;
	return false;
}

static void
print_reached(const struct reached *r, const struct ss_text *words,
	size_t count, struct buf *out)
{
	if (r->words == 0 && count > 0) {
		buf_text(out, "no tool begins with ");
		print_word(words[0], out);
		return;
	}
	buf_printf(out, "word %zu", r->words + 1);
	if (r->words == count) {
		buf_text(out, " is missing");
	} else {
		buf_text(out, ", ");
		print_word(words[r->words], out);
	}
	if (r->part == NULL) {
		buf_text(out, ", is one too many");
		return;
	}
	buf_text(out, r->words == count ? ": " : ", is not ");
	print_expected(r->part, out);
}

const struct spec *
nearest_print(const struct spec *specs, size_t count,
	const struct ss_text *words, size_t word_count, struct arena *arena,
	const struct part **rule, struct buf *out)
{
	struct reached best = { .spec = NULL }, one;
	size_t left = TEMPLATE_BYTES_MAX;

	*rule = NULL;
	for (size_t i = 0; i < count && i < TOOLS_MAX; i++) {
		one = follow(&specs[i], words, word_count, arena, left);
		left = one.left;
		out->failed |= one.stopped == PATTERN_MEMORY;
		if (one.stopped != PATTERN_NO)
			return NULL; /* a refusal that costs more is not worth it */
		if (best.spec == NULL || one.words > best.words)
			best = one;
	}
	if (best.spec != NULL && best.words == 0 && word_count > 0 &&
		is_name(specs, count, words[0])) {
		print_word(words[0], out);
		buf_text(out,
			" is the name of a tool and no word of its "
			"command: call it by its name (tool_call, or "
			"at the shell --tool)");
		return NULL;
	}
	if (best.spec == NULL)
		return NULL;
	print_reached(&best, words, word_count, out);
	if (best.words == 0 && word_count > 0)
		return NULL; /* none of the tools is meant */
	*rule = best.part;
	return best.spec;
}
