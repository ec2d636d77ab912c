/* SPDX-License-Identifier: MIT */
/* Microseconds, and the order they are sorted in. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <time.h>

static inline double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* For qsort(3). */
static inline int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#endif
