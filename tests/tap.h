/* SPDX-License-Identifier: MIT */
/*
 * TAP for the C tests: a check is a sentence about behaviour.
 *
 *	ok(condition, "refuses a dot-dot hidden by percent signs");
 *	is_int(expected, seen, "...");  is_str(expected, seen, "...");
 *	skip(2, "no Landlock here");
 *	return done();			the plan, as the last line
 *
 * And what several of them count or measure.
 */
#ifndef TAP_H
#define TAP_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int tap_count, tap_failed;

static inline bool
tap_line(bool passed, const char *format, va_list args)
{
	printf("%sok %d - ", passed ? "" : "not ", ++tap_count);
	vprintf(format, args);
	putchar('\n');
	fflush(stdout);
	tap_failed += !passed;
	return passed;
}

__attribute__((format(printf, 2, 3))) static inline bool
ok(bool passed, const char *sentence, ...)
{
	va_list args;

	va_start(args, sentence);
	tap_line(passed, sentence, args);
	va_end(args);
	return passed;
}

__attribute__((format(printf, 3, 4))) static inline bool
is_int(long long expected, long long seen, const char *sentence, ...)
{
	va_list args;

	va_start(args, sentence);
	tap_line(seen == expected, sentence, args);
	va_end(args);
	if (seen != expected)
		printf("# expected %lld, saw %lld\n", expected, seen);
	return seen == expected;
}

__attribute__((format(printf, 3, 4))) static inline bool
is_str(const char *expected, const char *seen, const char *sentence, ...)
{
	bool same = seen != NULL && expected != NULL
		? strcmp(seen, expected) == 0
		: seen == expected;
	va_list args;

	va_start(args, sentence);
	tap_line(same, sentence, args);
	va_end(args);
	if (!same)
		printf("# expected \"%s\", saw \"%s\"\n",
			expected ? expected : "(null)", seen ? seen : "(null)");
	return same;
}

static inline void
skip(int count, const char *why)
{
	while (count-- > 0)
		printf("ok %d # SKIP %s\n", ++tap_count, why);
}

static inline int
done(void)
{
	printf("1..%d\n", tap_count);
	return tap_failed != 0;
}

/* The descriptors that are open now. */
static inline int
open_count(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Processor time of this process. */
static inline double
cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Valgrind is some thirty times slower than what is promised. */
static inline bool
is_timed(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload == NULL || strstr(preload, "vgpreload") == NULL;
}

#endif
