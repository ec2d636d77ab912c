/* SPDX-License-Identifier: MIT */
/*
 * How many workers there should be.  Pure.
 *
 * static    always max
 * dynamic   between spare_min and spare_max idle ones, at most max
 * ondemand  none until a request waits; gone after being idle for a while
 */
#ifndef FCGI_SIZING_H
#define FCGI_SIZING_H

#include <stdbool.h>
#include <stdint.h>

#include "statespace.h"

#define SIZING_MAX 1024   /* workers */
#define SIZING_AT_ONCE 32 /* starts in one step */

enum sizing_mode { SIZING_STATIC, SIZING_DYNAMIC, SIZING_ONDEMAND };

struct sizing {
	enum sizing_mode mode;
	unsigned max, start, spare_min, spare_max;
	uint64_t idle_us; /* on demand: how long an idle one may stay */
};

struct headcount {
	unsigned total;
	unsigned idle;
	unsigned reserve;    /* that may be more than max now */
	bool waiting;        /* a connection is in the queue */
	uint64_t longest_us; /* the longest-idle worker's time */
};

/*
 * Reads [pool] mode, workers, start, spare_min, spare_max, idle_timeout; what
 * is not set follows from the number of cores (two to four workers a core are
 * enough for short tools).
 */
void sizing_read(struct sizing *s, const struct ss_site *site, unsigned cores);

/* How many workers to start now; -1: one idle worker may leave. */
int sizing_change(const struct sizing *s, const struct headcount *h);

#endif
