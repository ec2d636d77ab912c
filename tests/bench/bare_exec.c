/* SPDX-License-Identifier: MIT */
/*
 * Runs `true` again and again and says how often a second it could: the
 * ceiling of everything that runs commands.
 *
 *	bare_exec SECONDS PROCESSES
 */
#include <time.h>

#include "child.h"

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double
rate(double seconds)
{
	char out[64], err[64];
	double start = now(), passed;
	unsigned long count = 0;

	while ((passed = now() - start) < seconds) {
		if (child_run("/bin/true", out, err, sizeof(out)) != 0)
			return 0;
		count++;
	}
	return (double)count / passed;
}

int
main(int argc, char **argv)
{
	double sum = 0, one;
	int ends[2], left;

	if (argc != 3 || pipe2(ends, O_CLOEXEC) != 0)
		return 2;
	for (left = atoi(argv[2]); left > 0; left--) {
		if (fork() != 0)
			continue;
		one = rate(atof(argv[1]));
		_exit(write(ends[1], &one, sizeof(one)) != sizeof(one));
	}
	close(ends[1]);
	while (read(ends[0], &one, sizeof(one)) == sizeof(one))
		sum += one;
	while (wait(NULL) > 0)
		;
	printf("%.1f\n", sum);
	return sum > 0 ? 0 : 1;
}
