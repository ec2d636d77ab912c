/* SPDX-License-Identifier: MIT */
/*
 * Clocks.  clock_us and clock_ms read CLOCK_MONOTONIC, which never goes back.
 */
#ifndef SS_BASE_CLOCK_H
#define SS_BASE_CLOCK_H

#include "base/base.h"

uint64_t clock_us(void);
uint64_t clock_ms(void);
/* Processor time of the calling thread, CLOCK_THREAD_CPUTIME_ID. */
uint64_t clock_cpu_ms(void);
/* Milliseconds until deadline_ms, 0 when it has passed, at most INT_MAX. */
int clock_left_ms(uint64_t deadline_ms);
#define CLOCK_STAMP 25
/* Now as "2026-11-21T22:14:42.123Z" (RFC 3339). */
void clock_stamp(char out[static CLOCK_STAMP]);

#endif
