/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <limits.h>
#include <stdio.h>
#include <time.h>

uint64_t
clock_us(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t
clock_ms(void)
{
	return clock_us() / 1000;
}

int
clock_left_ms(uint64_t deadline_ms)
{
	uint64_t now = clock_ms();

	if (now >= deadline_ms)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

void
clock_stamp(char out[static 32])
{
	struct timespec t = { 0 };
	struct tm tm;
	size_t n;

	clock_gettime(CLOCK_REALTIME, &t);
	gmtime_r(&t.tv_sec, &tm);
	n = strftime(out, 32, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + n, 32 - n, ".%03dZ", (int)(t.tv_nsec / 1000000 % 1000));
}
