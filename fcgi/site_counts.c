/* SPDX-License-Identifier: MIT */
#include "site_counts.h"

#include <string.h>
#include <sys/mman.h>

static size_t
bytes_of(size_t rows)
{
	return sizeof(struct site_counts) + rows * sizeof(struct site_count);
}

/* Rows of sites with a name; "other" is behind them. */
static size_t
named_rows(const struct ss_site *site)
{
	size_t count = ss_site_count(site) + 1;

	return count < SITE_COUNTS_NAMED ? count : SITE_COUNTS_NAMED;
}

static void
carry_row(struct site_count *to, const struct site_count *from)
{
	for (size_t i = 0; i < SITE_ANSWERS; i++)
		to->answers[i] = from->answers[i];
	to->runs = from->runs;
	to->cpu_us = from->cpu_us;
}

static void
carry(struct site_counts *c, const struct ss_site *site,
	const struct site_counts *before, const struct ss_site *old)
{
	size_t old_rows = named_rows(old), rows = named_rows(site);

	carry_row(&c->of[0], &before->of[0]);
	carry_row(&c->of[rows], &before->of[old_rows]);
	for (size_t i = 1; i < rows; i++) {
		size_t k = ss_site_find(old, ss_site_name(site, i));

		if (k > 0 && k < old_rows)
			carry_row(&c->of[i], &before->of[k]);
	}
}

bool
site_counts_open(struct site_counts **out, const struct ss_site *site,
	const struct site_counts *before, const struct ss_site *old)
{
	size_t rows = named_rows(site) + 1;
	void *map;

	*out = NULL;
	if (ss_site_count(site) == 0)
		return true;
	map = mmap(NULL, bytes_of(rows), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return false;
	*out = map;
	(*out)->rows = rows;
	if (before != NULL)
		carry(*out, site, before, old);
	return true;
}

void
site_counts_close(struct site_counts *c)
{
	if (c != NULL)
		munmap(c, bytes_of(c->rows));
}

static struct site_count *
row_of(struct site_counts *c, const struct ss_site *site)
{
	size_t number = ss_site_chosen(site), last = named_rows(site);

	return &c->of[number < last ? number : last];
}

void
site_counts_answer(
	struct site_counts *c, const struct ss_site *site, enum ss_err outcome)
{
	enum site_answers kind = outcome == SS_OK ? SITE_OK
		: ss_err_status(outcome) < 500    ? SITE_REFUSED
						  : SITE_FAILED;

	if (c != NULL && outcome != SS_GONE)
		atomic_fetch_add(&row_of(c, site)->answers[kind], 1);
}

void
site_counts_run(struct site_counts *c, const struct ss_site *site,
	const struct ss_result *result)
{
	struct site_count *row;

	if (c == NULL)
		return;
	row = row_of(c, site);
	atomic_fetch_add(&row->runs, 1);
	atomic_fetch_add(&row->cpu_us, result->cpu_us);
}

const char *
site_counts_name(
	const struct site_counts *c, const struct ss_site *site, size_t row)
{
	return row + 1 < c->rows ? ss_site_name(site, row) : "other";
}
