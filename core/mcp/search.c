/* SPDX-License-Identifier: MIT */
#include "mcp/search.h"

#define WORDS_MAX 8
#define FOUND_MAX 12
#define PAGES_TOLD 50
#define TOOL_BEGINS "\n- **" /* in the lines of a page in AGENTS.md */

struct query {
	struct ss_text words[WORDS_MAX];
	size_t count;
};

/* A tool, or a page without one that fits: len 0. */
struct found {
	const struct catalog_page *page;
	struct ss_text lines;
	unsigned score;
};

struct search {
	struct query query;
	struct found best[FOUND_MAX]; /* the best first */
	size_t count, all;
};

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool
is_word_char(char c)
{
	char l = lower(c);

	return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') ||
		(c & 0x80) != 0;
}

static struct query
read_query(const char *text)
{
	struct query q = { .count = 0 };

	while (*text != '\0' && q.count < WORDS_MAX) {
		size_t n = 0;

		while (is_word_char(text[n]))
			n++;
		if (n > 0)
			q.words[q.count++] = (struct ss_text){ text, n };
		text += n > 0 ? n : 1;
	}
	return q;
}

enum has { HAS_NOT, HAS_PART, HAS_WORD };

static enum has
has_word(struct ss_text in, struct ss_text word)
{
	enum has found = HAS_NOT;

	for (size_t i = 0; i + word.len <= in.len; i++) {
		size_t k = 0;

		while (k < word.len &&
			lower(in.data[i + k]) == lower(word.data[k]))
			k++;
		if (k < word.len)
			continue;
		found = HAS_PART;
		if ((i == 0 || !is_word_char(in.data[i - 1])) &&
			(i + k == in.len || !is_word_char(in.data[i + k])))
			return HAS_WORD;
	}
	return found;
}

/* A word counts most in the name, and more when it is a whole one. */
static unsigned
score_of(const struct query *q, struct ss_text name, struct ss_text lines,
	struct ss_text head)
{
	unsigned score = 0;

	for (size_t i = 0; i < q->count; i++) {
		unsigned in_name = has_word(name, q->words[i]);
		unsigned in_lines = has_word(lines, q->words[i]);
		unsigned in_head = has_word(head, q->words[i]);

		if (in_name > 0)
			score += 10 + 4 + in_name;
		else if (in_lines > 0)
			score += 10 + 2 + in_lines;
		else if (in_head > 0)
			score += 10 + in_head;
	}
	return score;
}

static void
keep(struct search *s, struct found f)
{
	size_t at = s->count;

	s->all++;
	while (at > 0 && s->best[at - 1].score < f.score)
		at--;
	if (at == FOUND_MAX)
		return;
	if (s->count < FOUND_MAX)
		s->count++;
	memmove(&s->best[at + 1], &s->best[at],
		(s->count - at - 1) * sizeof(f));
	s->best[at] = f;
}

/* The part of the text up to the mark, or all of it. */
static struct ss_text
up_to(struct ss_text t, const char *mark)
{
	const char *end =
		t.len > 0 ? memmem(t.data, t.len, mark, strlen(mark)) : NULL;

	if (end != NULL)
		t.len = (size_t)(end - t.data);
	return t;
}

static struct ss_text
without(struct ss_text t, size_t n)
{
	n = n < t.len ? n : t.len;
	return (struct ss_text){ t.data + n, t.len - n };
}

static void
search_page(struct search *s, const struct catalog_page *p, struct ss_text text)
{
	struct ss_text head = up_to(text, TOOL_BEGINS);
	struct ss_text left = without(text, head.len + 1);
	bool any = false;
	unsigned score;

	while (left.len > 0) {
		struct ss_text tool = up_to(left, TOOL_BEGINS);
		struct ss_text name =
			up_to(without(tool, sizeof(TOOL_BEGINS) - 2), "**");

		left = without(left, tool.len + 1);
		score = score_of(&s->query, name, tool, head);
		/* A word of the page alone finds the page. */
		if (score == 0 ||
			score_of(&s->query, name, tool, TEXT("")) == 0)
			continue;
		any = true;
		keep(s, (struct found){ p, tool, score });
	}
	score = any ? 0 : score_of(&s->query, text_of(p->title), head, head);
	if (score > 0)
		keep(s, (struct found){ p, TEXT(""), score });
}

static void
tell_page(const struct catalog_page *p, struct buf *out)
{
	buf_printf(out, "%s (%s)", p->path, p->title);
	if (p->tool_count > 0)
		buf_printf(out, ", %zu tool%s", p->tool_count,
			p->tool_count == 1 ? "" : "s");
	buf_char(out, '\n');
}

static void
list_pages(const struct catalog *c, size_t skip, struct buf *out)
{
	size_t i = skip, start = out->len;

	for (; i < c->page_count && i - skip < PAGES_TOLD &&
		out->len - start < SEARCH_BYTES;
		i++)
		tell_page(&c->pages[i], out);
	if (i < c->page_count)
		buf_printf(out, "[%zu of %zu pages; go on with \"skip\": %zu]",
			i, c->page_count, i);
	else if (c->page_count == 0 || skip >= c->page_count)
		buf_text(out, "[no more pages]");
}

void
mcp_search(const struct catalog *c, const char *query, size_t skip,
	struct buf *out)
{
	struct search s = { .query = read_query(query) };
	size_t told = 0, start = out->len;

	if (s.query.count == 0) {
		list_pages(c, skip, out);
		return;
	}
	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];
		const struct buf *all = &c->lists[CATALOG_AGENTS].text;

		search_page(&s, p,
			(struct ss_text){
				all->data + p->lines[CATALOG_AGENTS].at,
				p->lines[CATALOG_AGENTS].len });
	}
	for (; told < s.count && out->len - start < SEARCH_BYTES; told++) {
		const struct found *f = &s.best[told];

		if (told == 0 || f->page != s.best[told - 1].page)
			tell_page(f->page, out);
		buf_add(out, f->lines.data, f->lines.len);
		if (f->lines.len > 0 && out->data[out->len - 1] != '\n')
			buf_char(out, '\n');
	}
	if (s.all == 0)
		buf_text(out,
			"Nothing has these words. Without words the pages are "
			"listed.");
	else if (s.all > told)
		buf_printf(out, "[the best %zu of %zu; more words find less]",
			told, s.all);
}
