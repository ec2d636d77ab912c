/* SPDX-License-Identifier: MIT */
/*
 * The pipe for a tool's progress, descriptor 3: what is written there is heard
 * while the tool runs, counts for no limit, and is all that the tool can reach
 * through it.
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "run/spawn.h"
#include "tap.h"

static struct spawn_result result;
static struct buf heard = BUF_INIT(65536);
static uint64_t heard_bytes, heard_us;

static void
listen_to(void *ctx, const char *data, size_t len)
{
	heard_bytes += len;
	if (heard_us == 0)
		heard_us = clock_us();
	if (ctx == &heard && heard.len < 60000)
		buf_add(&heard, data, len < 4096 ? len : 4096);
}

static struct spawn
command(char *const argv[])
{
	static char *const envp[] = { NULL };

	return (struct spawn){
		.program = "/bin/sh",
		.argv = argv,
		.envp = envp,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = { .timeout_ms = 20000, .output_bytes = 65536 },
		.has_progress = true,
		.progress = listen_to,
		.output_ctx = &heard,
	};
}

static bool
run_spawn(const struct spawn *s)
{
	spawn_result_release(&result);
	buf_clear(&heard);
	heard_bytes = heard_us = 0;
	return spawn_run(s, &result, NULL) == SS_OK;
}

static bool
run(const char *script)
{
	char sh[] = "sh", c[] = "-c", text[512];
	char *const argv[] = { sh, c, text, NULL };
	struct spawn s = command(argv);

	snprintf(text, sizeof(text), "%s", script);
	return run_spawn(&s);
}

/* The lowest free number: the same before and after, nothing was left. */
static int
lowest(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), n = fd;

	fd_close(&fd);
	return n;
}

static void
test_heard(void)
{
	ok(run("echo 1/2 >&3; echo out; echo err >&2; exit 7") &&
			result.status == 7,
		"a tool tells its progress and ends");
	is_str("1/2\n", heard.data, "... which is heard");
	is_str("out\n", result.out.data, "... and is no output");
	is_str("err\n", result.err.data, "... nor an error");
	is_int(0, (long long)result.report.len, "... nor a report");
	ok(run("echo 1 >&3; sleep 0.5; echo 2 >&3") &&
			clock_us() - heard_us > 400000,
		"it is heard while the tool runs");
	ok(run("echo last >&3; kill -9 $$") &&
			strcmp(heard.data, "last\n") == 0,
		"also from one that dies right behind it");
	ok(run("exec 3>&-; echo out; sleep 0.2") && heard_bytes == 0 &&
			result.cpu_us < 150000,
		"one that closes the descriptor runs on, and nobody spins");
	ok(run("cat <&3") && result.status != 0 && heard_bytes == 0,
		"it cannot be read");
	ok(run("(sleep 30; echo late >&3) & echo now >&3"),
		"a process that stays behind is not waited for");
	is_str("now\n", heard.data, "... nor heard");
}

static void
test_descriptors(void)
{
	struct spawn s;
	char sh[] = "sh", c[] = "-c", list[] = "echo /proc/self/fd/*",
	     write[] = "echo x >&3";
	char *const lists[] = { sh, c, list, NULL };
	char *const writes[] = { sh, c, write, NULL };

	/* sh itself opens none: the glob is read with a descriptor more. */
	s = command(lists);
	ok(run_spawn(&s) &&
			strstr(result.out.data, "/proc/self/fd/3") != NULL &&
			strstr(result.out.data, "/proc/self/fd/5") == NULL,
		"the tool has four descriptors and no other");
	s = command(writes);
	s.has_progress = false;
	ok(run_spawn(&s) && result.status != 0 && heard_bytes == 0,
		"one without progress has no descriptor 3");
	s = command(writes);
	s.progress = NULL;
	ok(run_spawn(&s) && result.status == 0 && heard_bytes == 0,
		"where nobody listens it can be written all the same");
	s = command(writes);
	s.reports = true;
	ok(run_spawn(&s) && heard_bytes == 0 &&
			strcmp(result.report.data, "x\n") == 0,
		"the report of a helper is no progress");
}

static void
test_flood(void)
{
	uint64_t begun = clock_ms();

	ok(run("head -c 104857600 /dev/zero >&3; echo done"),
		"100 MB of progress");
	is_str("done\n", result.out.data, "... do not end the tool");
	ok(heard_bytes == 104857600 || heard_bytes > 104857600 - 65536,
		"... and all of it was read");
	ok(clock_ms() - begun < 15000, "... soon");
	is_int(SPAWN_EXITED, (long long)result.end,
		"... nor count for the limit of output");
	ok(run("yes 50% >&3 & sleep 0.3; echo done") &&
			strcmp(result.out.data, "done\n") == 0,
		"one that floods to its end is ended");
}

int
main(void)
{
	int before;

	run("exit 0");
	before = lowest();
	test_heard();
	test_descriptors();
	test_flood();
	is_int(before, lowest(), "no descriptor is left open");
	spawn_result_release(&result);
	buf_release(&heard);
	return done();
}
