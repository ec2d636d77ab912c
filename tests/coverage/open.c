/* SPDX-License-Identifier: MIT */
/*
 * Of `make coverage` alone: linked into each program.  A tool that is started
 * within the sandbox cannot open the file of its counts: the profiler is told
 * so before it begins, since it would say it on the tool's standard error.
 */
#include <stdlib.h>
#include <unistd.h>

static void __attribute__((constructor(101))) look(void)
{
	if (access(PROFILES, W_OK) != 0)
		setenv("LLVM_PROFILE_FILE", "/dev/null", 1);
}
