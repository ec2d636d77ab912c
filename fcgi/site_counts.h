/* SPDX-License-Identifier: MIT */
/*
 * What each site of a pool of several was asked, in memory that all its workers
 * write: a worker can write wrong counts and nothing else.  A pool with one
 * site has none.
 */
#ifndef FCGI_SITE_COUNTS_H
#define FCGI_SITE_COUNTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "statespace.h"

/* Sites behind that many others are counted together, as the last row. */
#define SITE_COUNTS_NAMED 1000

enum site_answers { SITE_OK, SITE_REFUSED, SITE_FAILED, SITE_ANSWERS };

struct site_count {
	_Atomic uint64_t answers[SITE_ANSWERS]; /* 2xx and 3xx, 4xx, 5xx */
	_Atomic uint64_t runs, cpu_us;          /* of tools */
};

/* By the site's number; the first row is for requests without a site. */
struct site_counts {
	size_t rows;
	struct site_count of[];
};

/*
 * *out is NULL for one site.  False with errno: no memory.  before: its counts
 * go on for sites of the same name; NULL: none were counted.
 */
bool site_counts_open(struct site_counts **out, const struct ss_site *site,
	const struct site_counts *before, const struct ss_site *old);
void site_counts_close(struct site_counts *c);

/* Both for the site that was asked last; c NULL: nothing. */
void site_counts_answer(
	struct site_counts *c, const struct ss_site *site, enum ss_err outcome);
void site_counts_run(struct site_counts *c, const struct ss_site *site,
	const struct ss_result *result);
/* The name of a row, "other" for the last of too many. */
const char *site_counts_name(
	const struct site_counts *c, const struct ss_site *site, size_t row);

#endif
