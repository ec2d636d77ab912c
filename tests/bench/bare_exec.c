/* SPDX-License-Identifier: MIT */
/*
 * Runs a command again and again and says how often a second it could: the
 * ceiling of everything that runs commands.
 *
 *	bare_exec SECONDS PROCESSES WORD...
 *
 * One line: runs a second, median and 99th percentile in microseconds.
 */
#include <time.h>

#include "child.h"

#define RUNS_MAX 200000

static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int
by_value(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Every run's time goes into the pipe, in pieces that it takes whole. */
static int
run(char *const argv[], double seconds, int pipe_fd)
{
	static char out[CHILD_OUT], err[CHILD_OUT];
	double start = now(), begun = start, ended;
	float took;

	do {
		if (child_run(argv, out, err, CHILD_OUT) != 0)
			return 1;
		ended = now();
		took = (float)(ended - begun);
		if (write(pipe_fd, &took, sizeof(took)) != sizeof(took))
			return 1;
		begun = ended;
	} while (ended - start < seconds);
	return 0;
}

int
main(int argc, char **argv)
{
	static float took[RUNS_MAX];
	double seconds = argc > 3 ? atof(argv[1]) : 0;
	size_t count = 0;
	int ends[2], left;

	if (argc < 4 || pipe2(ends, O_CLOEXEC) != 0)
		return 2;
	for (left = atoi(argv[2]); left > 0; left--)
		if (fork() == 0)
			_exit(run(argv + 3, seconds, ends[1]));
	close(ends[1]);
	while (count < RUNS_MAX &&
		read(ends[0], &took[count], sizeof(*took)) == sizeof(*took))
		count++;
	while (wait(NULL) > 0)
		;
	if (count == 0)
		return 1;
	qsort(took, count, sizeof(*took), by_value);
	printf("%.1f %.1f %.1f\n", (double)count / seconds,
		(double)took[count / 2] * 1e6,
		(double)took[count * 99 / 100] * 1e6);
	return 0;
}
