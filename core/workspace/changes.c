/* SPDX-License-Identifier: MIT */
/* The list of changes: sorted, renames paired, digested. */
#include "workspace/changes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "workspace/scan.h"

const char *
change_kind_name(enum change_kind kind)
{
	switch (kind) {
	case CHANGE_NONE: return "";
	case CHANGE_FILE: return "file";
	case CHANGE_DIRECTORY: return "directory";
	case CHANGE_LINK: return "link";
	case CHANGE_OTHER: return "other";
	}
	return "";
}

/* ------------------------------------------------------------- renames -- */

/* Can it be a half of a rename? */
static const struct change_side *
half(const struct change *c)
{
	const struct change_side *side = c->op == 'A' ? &c->now
		: c->op == 'D'                        ? &c->was
						      : NULL;

	return side != NULL && side->kind == CHANGE_FILE && side->hashed &&
			side->size > 0 && !c->attributes && c->note == NULL
		? side
		: NULL;
}

static int
by_content(const void *left, const void *right)
{
	const struct change *a = *(struct change *const *)left;
	const struct change *b = *(struct change *const *)right;
	int order = memcmp(half(a)->digest, half(b)->digest, DIGEST_BYTES);

	if (order != 0)
		return order;
	return a->op != b->op ? (a->op < b->op ? -1 : 1)
			      : strcmp(a->path, b->path);
}

static bool
same_content(const struct change *a, const struct change *b)
{
	const struct change_side *one = half(a), *other = half(b);

	return one != NULL && other != NULL &&
		memcmp(one->digest, other->digest, DIGEST_BYTES) == 0;
}

/* 'A' comes before 'D'; the deleted one is marked by its op. */
static void
pair(struct change *added, struct change *deleted)
{
	if (added->op != 'A' || deleted->op != 'D' ||
		added->now.mode != deleted->was.mode)
		return;
	added->op = 'R';
	added->from = deleted->path;
	added->was = deleted->was;
	if (added->conflict == NULL)
		added->conflict = deleted->conflict;
	if (added->refused == NULL)
		added->refused = deleted->refused;
	deleted->op = '\0';
}

enum ss_err
changes_pair(struct changes *c, struct arena *arena, struct ss_error *err)
{
	struct change **halves =
		arena_array(arena, c->count + 1, sizeof(struct change *));
	size_t n = 0, kept = 0, same;

	if (halves == NULL)
		return error_memory(err);
	for (size_t i = 0; i < c->count; i++)
		if (half(&c->items[i]) != NULL)
			halves[n++] = &c->items[i];
	if (n > 1)
		qsort(halves, n, sizeof(struct change *), by_content);
	for (size_t i = 0; i < n; i += same) {
		for (same = 1; i + same < n &&
			same_content(halves[i], halves[i + same]);)
			same++;
		if (same == 2)
			pair(halves[i], halves[i + 1]);
		/* half() of a paired one is gone: look at it no more. */
	}
	for (size_t i = 0; i < c->count; i++)
		if (c->items[i].op != '\0')
			c->items[kept++] = c->items[i];
	c->count = kept;
	scan_count(c);
	return SS_OK;
}

/* ----------------------------------------------------- counts and digest -- */

void
scan_count(struct changes *c)
{
	c->conflicts = c->refusals = 0;
	for (size_t i = 0; i < c->count; i++) {
		c->conflicts += c->items[i].conflict != NULL;
		c->refusals += c->items[i].refused != NULL;
	}
}

bool
scan_digest(struct changes *c)
{
	struct buf all = BUF_INIT(SIZE_MAX / 2);
	uint8_t digest[DIGEST_BYTES];
	bool ok;

	for (size_t i = 0; i < c->count; i++) {
		const struct change *one = &c->items[i];
		const struct change_side *sides[] = { &one->now, &one->was };

		buf_printf(&all, "%c%s", one->op, one->path);
		buf_char(&all, '\0');
		for (size_t j = 0; j < 2; j++) {
			buf_printf(&all, "%d %o %" PRIu64 " ", sides[j]->kind,
				(unsigned)sides[j]->mode, sides[j]->size);
			buf_add(&all, (const char *)sides[j]->digest,
				DIGEST_BYTES);
		}
		buf_printf(&all, "%d", one->attributes);
	}
	ok = buf_ok(&all);
	if (ok) {
		digest_of(all.data, all.len, digest);
		digest_hex(digest, DIGEST_BYTES, c->digest);
	}
	buf_release(&all);
	return ok;
}
