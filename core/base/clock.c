/* SPDX-License-Identifier: MIT */
#include "base/clock.h"

#include <limits.h>
#include <time.h>

static uint64_t
read_us(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

uint64_t
clock_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

uint64_t
clock_ms(void)
{
	return clock_us() / 1000;
}

uint64_t
clock_cpu_ms(void)
{
	return read_us(CLOCK_THREAD_CPUTIME_ID) / 1000;
}

int
clock_left_ms(uint64_t deadline_ms)
{
	uint64_t now = clock_ms();

	if (now >= deadline_ms)
		return 0;
	return deadline_ms - now > INT_MAX ? INT_MAX : (int)(deadline_ms - now);
}

/* strftime(3) runs once a second, for all but the milliseconds. */
void
clock_stamp(char out[static CLOCK_STAMP])
{
	static char text[CLOCK_STAMP];
	static time_t second = -1;
	struct timespec t = { 0 };
	struct tm tm;
	long ms;

	clock_gettime(CLOCK_REALTIME, &t);
	if (t.tv_sec != second) {
		gmtime_r(&t.tv_sec, &tm);
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S.000Z", &tm);
		second = t.tv_sec;
	}
	ms = t.tv_nsec / 1000000;
	memcpy(out, text, sizeof(text));
	out[20] = (char)('0' + ms / 100);
	out[21] = (char)('0' + ms / 10 % 10);
	out[22] = (char)('0' + ms % 10);
}
