/* SPDX-License-Identifier: MIT */
#include "tool_counts.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

/* What was counted for one number. */
struct numbered {
	uint64_t number;
	struct tool_sum sum;
};

struct numbers {
	struct numbered *all; /* sorted, each number once */
	size_t count;
	struct tool_counts *out;
};

static void
count_sizes(struct worker_page *own, const struct ss_result *result)
{
	size_t i = 0, k = 0;

	while (i < SCOREBOARD_TIMES - 1 &&
		result->cpu_us > scoreboard_bounds[i])
		i++;
	while (k < SCOREBOARD_SIZES - 1 &&
		result->memory_bytes > scoreboard_sizes[k])
		k++;
	own->cpu[i]++;
	own->cpu_us += result->cpu_us;
	own->memory[k]++;
	own->memory_bytes += result->memory_bytes;
	if (result->memory_bytes > own->memory_most)
		own->memory_most = result->memory_bytes;
}

void
tool_counts_add(struct worker_page *own, uint64_t number,
	const struct ss_result *result)
{
	struct tool_count *t;
	size_t i = 0;

	while (i < SCOREBOARD_TOOLS - 1 && i < own->tool_count &&
		own->tools[i].number != number)
		i++;
	t = &own->tools[i];
	if (i >= own->tool_count) {
		t->number = number;
		own->tool_count = (uint32_t)i + 1;
	}
	t->runs++;
	t->cpu_us += result->cpu_us;
	if (result->memory_bytes > t->memory_most)
		t->memory_most = result->memory_bytes;
	count_sizes(own, result);
}

/* ------------------------------------------------------------- the figures */

static void
add_sum(struct tool_sum *to, const struct tool_sum *more)
{
	to->runs += more->runs;
	to->cpu_us += more->cpu_us;
	if (more->memory_most > to->memory_most)
		to->memory_most = more->memory_most;
}

/* A worker may have written any number here. */
static size_t
used(const struct worker_page *p)
{
	uint32_t count = p->tool_count;

	return count < SCOREBOARD_TOOLS ? count : SCOREBOARD_TOOLS;
}

static int
by_number(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;

	return (a->number > b->number) - (a->number < b->number);
}

static void
read_page(struct numbers *n, size_t most, const struct worker_page *p)
{
	size_t count = used(p);

	for (size_t i = 0; i < count; i++) {
		const struct tool_count *t = &p->tools[i];
		struct numbered one = { t->number,
			{ t->runs, t->cpu_us, t->memory_most } };

		if (i < SCOREBOARD_TOOLS - 1 && n->count < most)
			n->all[n->count++] = one;
		else
			add_sum(&n->out->other, &one.sum);
	}
}

static void
add_up(struct numbers *n)
{
	size_t kept = 0;

	qsort(n->all, n->count, sizeof(*n->all), by_number);
	for (size_t i = 0; i < n->count; i++)
		if (kept > 0 && n->all[kept - 1].number == n->all[i].number)
			add_sum(&n->all[kept - 1].sum, &n->all[i].sum);
		else
			n->all[kept++] = n->all[i];
	n->count = kept;
}

/* A tool by another name of its page finds its runs taken. */
static void
name_tool(void *ctx, uint64_t number, const char *page, size_t tool)
{
	struct numbers *n = ctx;
	struct tool_counts *out = n->out;
	struct numbered key = { .number = number }, *found;
	struct tool_named *named = &out->named[out->count];

	if (out->count == TOOL_COUNTS_NAMED)
		return;
	found = bsearch(&key, n->all, n->count, sizeof(key), by_number);
	if (found == NULL || found->sum.runs == 0 ||
		ss_path_clean(page, strlen(page), named->page,
			sizeof(named->page), NULL) != SS_OK)
		return;
	named->tool = tool;
	named->sum = found->sum;
	found->sum = (struct tool_sum){ 0 };
	out->count++;
}

void
tool_counts_take(struct tool_counts *out, const void *scoreboard, size_t slots,
	struct ss_site *site)
{
	struct ss_error err = { .code = SS_OK };
	struct numbers n = { .out = out };
	size_t most = 0;

	out->count = 0;
	out->other = (struct tool_sum){ 0 };
	for (size_t i = 0; i < slots; i++)
		most += used(scoreboard_read(scoreboard, i));
	if (most == 0)
		return;
	n.all = calloc(most, sizeof(*n.all));
	for (size_t i = 0; i < slots; i++)
		read_page(&n, n.all != NULL ? most : 0,
			scoreboard_read(scoreboard, i));
	if (n.all == NULL)
		return;
	add_up(&n);
	if (ss_site_each_tool(site, name_tool, &n, &err) != SS_OK)
		say_error("the tools of the status have no names", &err);
	for (size_t i = 0; i < n.count; i++)
		add_sum(&out->other, &n.all[i].sum);
	free(n.all);
}
