/* SPDX-License-Identifier: MIT */
/* census: the tasks of this account, as RLIMIT_NPROC would count them. */
#include "run/tasks.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"

int
main(void)
{
	uint64_t began = clock_ms(), before = tasks_count(), after;
	pid_t children[20];

	ok(before >= 1, "we are there ourselves");
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		if (children[i] == 0) {
			pause();
			_exit(0);
		}
	}
	after = tasks_count();
	if (clock_ms() - began < 1000)
		is_int((long long)before, (long long)after,
			"it is not counted twice within a second");
	else
		skip(1, "the machine is too slow to tell");
	while (clock_ms() - began < 2100)
		usleep(50000);
	after = tasks_count();
	ok(after >= 20 && after + 1000 > before,
		"twenty processes of ours are among the next count");
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return done();
}
