/* SPDX-License-Identifier: MIT */
/*
 * Commands take turns, run by run, and every run is timed: whatever else the
 * machine does falls on all of them.
 *
 *	turns ROUNDS WORD... [, WORD...]...
 *
 * A line for each command: the microseconds of each of its runs.  One that
 * fails ends it all.
 */
#include "child.h"
#include "measure.h"

#define COMMANDS_MAX 16

/* Cuts the words at each ","; how many commands there are. */
static size_t
commands_of(char **argv, char **commands[COMMANDS_MAX])
{
	size_t count = 0;

	while (*argv != NULL && count < COMMANDS_MAX) {
		commands[count++] = argv;
		while (*argv != NULL && strcmp(*argv, ",") != 0)
			argv++;
		if (*argv != NULL)
			*argv++ = NULL;
	}
	return count;
}

static double
timed(char *const argv[])
{
	static char out[CHILD_OUT], err[CHILD_OUT];
	double start = now_us();

	if (child_run(argv, out, err, CHILD_OUT) != 0) {
		fprintf(stderr, "turns: %s failed: %s\n", argv[0], err);
		exit(1);
	}
	return now_us() - start;
}

int
main(int argc, char **argv)
{
	size_t rounds = argc > 2 ? (size_t)atol(argv[1]) : 0, count;
	char **commands[COMMANDS_MAX];
	double *took;

	if (rounds == 0)
		return 2;
	count = commands_of(argv + 2, commands);
	took = calloc(rounds * count, sizeof(*took));
	if (took == NULL)
		return 1;
	for (size_t i = 0; i < count; i++)
		timed(commands[i]);
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++) {
			size_t who = (i + round) % count;

			took[who * rounds + round] = timed(commands[who]);
		}
	for (size_t i = 0; i < count * rounds; i++)
		printf("%.1f%c", took[i], (i + 1) % rounds == 0 ? '\n' : ' ');
	free(took);
	return 0;
}
