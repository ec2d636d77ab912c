/* SPDX-License-Identifier: MIT */
#include "sizing.h"

#include <string.h>

#define WORKERS_PER_CORE 4

static unsigned
between(unsigned least, double value, unsigned most)
{
	if (!(value > least))
		return least;
	return value < most ? (unsigned)value : most;
}

/* A key of [pool], or its default when it is not set (0). */
static double
key(const struct ss_site *site, const char *name, double otherwise)
{
	double value = ss_site_option_number(site, name);

	return value > 0 ? value : otherwise;
}

void
sizing_read(struct sizing *s, const struct ss_site *site, unsigned cores)
{
	const char *mode = ss_site_option(site, "pool.mode");
	double all = (double)cores * WORKERS_PER_CORE;

	if (mode != NULL && strcmp(mode, "static") == 0)
		s->mode = SIZING_STATIC;
	else if (mode != NULL && strcmp(mode, "ondemand") == 0)
		s->mode = SIZING_ONDEMAND;
	else
		s->mode = SIZING_DYNAMIC;
	s->max = between(
		1, key(site, "pool.workers", all > 4 ? all : 4), SIZING_MAX);
	s->spare_min =
		between(1, key(site, "pool.spare_min", s->max / 4.0), s->max);
	s->spare_max = between(s->spare_min,
		key(site, "pool.spare_max", s->max * 3 / 4.0), s->max);
	s->start = between(s->spare_min,
		key(site, "pool.start", (s->spare_min + s->spare_max) / 2.0),
		s->max);
	s->idle_us = (uint64_t)(key(site, "pool.idle_timeout", 10) * 1e6);
}

static int
starts(const struct sizing *s, const struct headcount *h, unsigned wanted)
{
	unsigned most = s->max + h->reserve;
	unsigned left = h->total < most ? most - h->total : 0;

	if (wanted > left)
		wanted = left;
	return (int)(wanted < SIZING_AT_ONCE ? wanted : SIZING_AT_ONCE);
}

int
sizing_change(const struct sizing *s, const struct headcount *h)
{
	unsigned short_of = s->spare_min > h->idle ? s->spare_min - h->idle : 0;

	if (h->total > s->max + h->reserve && h->idle > 0)
		return -1;
	switch (s->mode) {
	case SIZING_STATIC: return starts(s, h, s->max + h->reserve);
	case SIZING_DYNAMIC:
		if (short_of > 0)
			return starts(s, h, short_of);
		return h->idle > s->spare_max ? -1 : 0;
	case SIZING_ONDEMAND:
		if (h->waiting && h->idle == 0)
			return starts(s, h, 1);
		return h->idle > 0 && !h->waiting && h->longest_us > s->idle_us
			? -1
			: 0;
	}
	return 0;
}
