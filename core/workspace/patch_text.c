/* SPDX-License-Identifier: MIT */
/*
 * Differences of two texts by lines: Myers, "An O(ND) Difference Algorithm and
 * Its Variations" (1986), the greedy form.  Texts that differ in more than
 * EDITS_MAX lines are replaced as a whole, which is as right and longer.
 */
#include <stdlib.h>

#include "workspace/patch.h"

#define CONTEXT 3
#define EDITS_MAX 1000

struct line {
	struct ss_text text; /* with its line break, which the last may lack */
	uint64_t hash;
};

struct lines {
	struct line *items;
	size_t count;
};

struct diff {
	struct lines left, right;
	bool *gone, *come; /* of each line */
};

static bool
split(struct ss_text text, struct lines *out)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < text.len; i++)
		n += text.data[i] == '\n';
	out->items = calloc(n + 1, sizeof(*out->items));
	if (out->items == NULL)
		return false;
	while (at < text.len) {
		struct line *line = &out->items[out->count++];
		uint64_t hash = 14695981039346656037u; /* FNV-1a */
		size_t end = at;

		do
			hash = (hash ^ (unsigned char)text.data[end]) *
				1099511628211u;
		while (text.data[end++] != '\n' && end < text.len);
		line->text = (struct ss_text){ text.data + at, end - at };
		line->hash = hash;
		at = end;
	}
	return true;
}

static bool
same(const struct diff *d, size_t i, size_t j)
{
	const struct line *a = &d->left.items[i], *b = &d->right.items[j];

	return a->hash == b->hash && text_equal(a->text, b->text);
}

/* --------------------------------------------------------------- Myers -- */

/* The part between the equal starts and the equal ends. */
struct span {
	size_t left, right; /* where it begins */
	long n, m;          /* its lines */
};

#define NOWHERE (-1L)

/*
 * Where the e-th edit leads on diagonal k: the furthest x, from a deletion
 * (diagonal k - 1) or an insertion (k + 1), which *from says.  before holds
 * those of the edit before it, by diagonal.
 */
static long
step(const struct span *s, const long *before, long e, long k, long *from)
{
	long down = k + 1 <= e - 1 ? before[k + 1] : NOWHERE;
	long right = k - 1 >= -(e - 1) ? before[k - 1] : NOWHERE;

	if (down != NOWHERE && down - k > s->m)
		down = NOWHERE;
	right = right != NOWHERE && right < s->n ? right + 1 : NOWHERE;
	*from = down > right ? k + 1 : k - 1;
	return down > right ? down : right;
}

/* furthest[e] holds x of the diagonals -e..e after e edits. */
static void
mark(struct diff *d, const struct span *s, long **furthest, long edits)
{
	long k = s->n - s->m, from;

	for (long e = edits; e > 0; e--, k = from) {
		long x = step(s, furthest[e - 1] + (e - 1), e, k, &from);

		if (from == k + 1)
			d->come[s->right + (size_t)(x - k) - 1] = true;
		else
			d->gone[s->left + (size_t)x - 1] = true;
	}
}

/* The furthest x on diagonal k after e edits. */
static long
reach(const struct diff *d, const struct span *s, const long *before, long e,
	long k)
{
	long from, x = e > 0 ? step(s, before, e, k, &from) : 0;

	if (x == NOWHERE)
		return x;
	while (x < s->n && x - k < s->m &&
		same(d, s->left + (size_t)x, s->right + (size_t)(x - k)))
		x++;
	return x;
}

/* 1: marked; 0: too many edits; -1: no memory. */
static int
search(struct diff *d, const struct span *s)
{
	long **furthest = calloc(EDITS_MAX + 1, sizeof(long *));
	int found = furthest != NULL ? 0 : -1;

	for (long e = 0; found == 0 && e <= EDITS_MAX && e <= s->n + s->m;
		e++) {
		furthest[e] = calloc((size_t)(2 * e + 1), sizeof(long));
		if (furthest[e] == NULL) {
			found = -1;
			break;
		}
		for (long k = -e; found == 0 && k <= e; k += 2) {
			long x = reach(d, s,
				e > 0 ? furthest[e - 1] + (e - 1) : NULL, e, k);

			furthest[e][e + k] = x;
			if (x >= s->n && x - k >= s->m) {
				mark(d, s, furthest, e);
				found = 1;
			}
		}
	}
	for (long e = 0; furthest != NULL && e <= EDITS_MAX; e++)
		free(furthest[e]);
	free(furthest);
	return found;
}

static bool
compare(struct diff *d)
{
	struct span s = { 0 };
	size_t n = d->left.count, m = d->right.count;
	int found;

	while (s.left < n && s.left < m && same(d, s.left, s.left))
		s.left++;
	s.right = s.left;
	while (n > s.left && m > s.right && same(d, n - 1, m - 1)) {
		n--;
		m--;
	}
	s.n = (long)(n - s.left);
	s.m = (long)(m - s.right);
	found = search(d, &s);
	if (found == 0) {
		for (size_t i = s.left; i < n; i++)
			d->gone[i] = true;
		for (size_t i = s.right; i < m; i++)
			d->come[i] = true;
	}
	return found >= 0;
}

/* --------------------------------------------------------------- hunks -- */

static void
put_line(struct buf *out, char sign, struct ss_text line)
{
	buf_char(out, sign);
	buf_add(out, line.data, line.len);
	if (line.data[line.len - 1] != '\n')
		buf_text(out, "\n\\ No newline at end of file\n");
}

static void
put_range(struct buf *out, char sign, size_t first, size_t count)
{
	/* Of an empty range the line before it is named. */
	buf_printf(out, "%c%zu", sign, count > 0 ? first + 1 : first);
	if (count != 1)
		buf_printf(out, ",%zu", count);
}

/* From i, j to the ends of a hunk, which are returned in them. */
static void
end_of_hunk(const struct diff *d, size_t *i, size_t *j)
{
	size_t equal = 0;

	while (*i < d->left.count || *j < d->right.count) {
		if (*i < d->left.count && d->gone[*i]) {
			*i += 1;
			equal = 0;
		} else if (*j < d->right.count && d->come[*j]) {
			*j += 1;
			equal = 0;
		} else if (equal == 2 * CONTEXT) {
			break;
		} else {
			*i += 1;
			*j += 1;
			equal++;
		}
	}
	if (equal > CONTEXT) {
		*i -= equal - CONTEXT;
		*j -= equal - CONTEXT;
	}
}

static void
put_hunk(struct buf *out, const struct diff *d, size_t i, size_t j,
	size_t i_end, size_t j_end)
{
	buf_text(out, "@@ ");
	put_range(out, '-', i, i_end - i);
	buf_char(out, ' ');
	put_range(out, '+', j, j_end - j);
	buf_text(out, " @@\n");
	while (i < i_end || j < j_end) {
		if (i < i_end && d->gone[i])
			put_line(out, '-', d->left.items[i++].text);
		else if (j < j_end && d->come[j])
			put_line(out, '+', d->right.items[j++].text);
		else {
			put_line(out, ' ', d->left.items[i++].text);
			j++;
		}
	}
}

static void
put_hunks(struct buf *out, const struct diff *d)
{
	size_t i = 0, j = 0;

	while (i < d->left.count || j < d->right.count) {
		size_t back, i_end, j_end;

		if (!(i < d->left.count && d->gone[i]) &&
			!(j < d->right.count && d->come[j])) {
			i++;
			j++;
			continue;
		}
		/* Hunks before this one end at least so far away. */
		back = i < CONTEXT ? i : CONTEXT;
		if (j < back)
			back = j;
		i_end = i;
		j_end = j;
		end_of_hunk(d, &i_end, &j_end);
		put_hunk(out, d, i - back, j - back, i_end, j_end);
		i = i_end;
		j = j_end;
	}
}

bool
patch_hunks(struct buf *out, struct ss_text left, struct ss_text right)
{
	struct diff d = { 0 };
	bool ok = split(left, &d.left) && split(right, &d.right);

	d.gone = calloc(d.left.count + 1, sizeof(bool));
	d.come = calloc(d.right.count + 1, sizeof(bool));
	ok = ok && d.gone != NULL && d.come != NULL && compare(&d);
	if (ok)
		put_hunks(out, &d);
	free(d.left.items);
	free(d.right.items);
	free(d.gone);
	free(d.come);
	return ok && buf_ok(out);
}
