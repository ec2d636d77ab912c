/* SPDX-License-Identifier: MIT */
/* census: the tasks of this account, as RLIMIT_NPROC would count them. */
#include "census.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

int
main(void)
{
	uint64_t before = census_tasks(), after;
	pid_t children[20];

	ok(before >= 1, "we are there ourselves");
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		children[i] = fork();
		if (children[i] == 0) {
			pause();
			_exit(0);
		}
	}
	is_int((long long)census_tasks(), (long long)before,
		"it is not counted twice within a second");
	usleep(1100000);
	after = census_tasks();
	ok(after >= 20 && after + 1000 > before,
		"twenty processes of ours are among the next count");
	for (size_t i = 0; i < ARRAY_LEN(children); i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	return done();
}
