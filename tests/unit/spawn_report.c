/* SPDX-License-Identifier: MIT */
/* Descriptor 3 of a helper: what it says there comes back, and only then. */
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/spawn.h"
#include "tap.h"

static struct spawn_result result;

static bool
run(const char *script, bool reports)
{
	static char *const envp[] = { NULL };
	char sh[] = "sh", c[] = "-c", text[256];
	char *const argv[] = { sh, c, text, NULL };
	struct spawn s = {
		.program = "/bin/sh",
		.argv = argv,
		.envp = envp,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = { .timeout_ms = 10000, .output_bytes = 65536 },
		.reports = reports,
	};

	snprintf(text, sizeof(text), "%s", script);
	spawn_result_release(&result);
	return spawn_run(&s, &result, NULL) == SS_OK;
}

/* The lowest free number: the same before and after, nothing was left. */
static int
lowest(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), n = fd;

	fd_close(&fd);
	return n;
}

int
main(void)
{
	int before;

	ok(run("echo network >&3; echo out; exit 7", true) &&
			result.status == 7,
		"a helper reports and ends");
	is_str("network\n", result.report.data, "... the report is there");
	is_str("out\n", result.out.data, "... and its output");
	before = lowest();
	ok(run("exit 0", true) && result.report.len == 0,
		"a helper that says nothing has no report");
	ok(run("echo x >&3", false) && result.status != 0 &&
			result.report.len == 0,
		"who is no helper has no descriptor 3");
	ok(run("head -c 60000 /dev/zero >&3", true) &&
			result.report.len == SPAWN_REPORT_BYTES,
		"a long report is cut");
	ok(run("(sleep 30; echo late >&3) & echo now >&3", true),
		"a process that stays behind is not waited for");
	is_str("now\n", result.report.data, "... nor heard");
	ok(run("kill -9 $$", true) && result.end == SPAWN_SIGNALLED &&
			result.report.len == 0,
		"nor is one that dies");
	is_int(before, lowest(), "no descriptor is left open");
	spawn_result_release(&result);
	return done();
}
