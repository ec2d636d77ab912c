/* SPDX-License-Identifier: MIT */
/*
 * Runs a command again and again and says how often a second it could: the
 * ceiling of everything that runs commands.
 *
 *	bare_exec SECONDS PROCESSES WORD...
 *
 * One line: runs a second, median and 99th percentile in microseconds.
 */
#include "child.h"
#include "measure.h"

#define RUNS_MAX 200000

/* Every run's time goes into the pipe, in pieces that it takes whole. */
static int
run(char *const argv[], double seconds, int pipe_fd)
{
	static char out[CHILD_OUT], err[CHILD_OUT];
	double start = now_us(), begun = start, ended, took;

	do {
		if (child_run(argv, out, err, CHILD_OUT) != 0)
			return 1;
		ended = now_us();
		took = ended - begun;
		if (write(pipe_fd, &took, sizeof(took)) != sizeof(took))
			return 1;
		begun = ended;
	} while (ended - start < seconds * 1e6);
	return 0;
}

int
main(int argc, char **argv)
{
	static double took[RUNS_MAX];
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
	printf("%.1f %.1f %.1f\n", (double)count / seconds, took[count / 2],
		took[count * 99 / 100]);
	return 0;
}
