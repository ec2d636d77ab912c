/* SPDX-License-Identifier: MIT */
/*
 * Several children as one run: they go at the same time, each to its own end,
 * and what one of them does takes nothing from the others.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "run/spawn.h"
#include "tap.h"

#define MOST 24

static char path_line[] = "PATH=/usr/bin:/bin";
static char *envp[] = { path_line, NULL };

static struct spawn commands[MOST];
static struct spawn_result results[MOST];
static char *words[MOST][4];
static struct spawn_batch batch = { .commands = commands, .results = results };
static struct ss_error err;

static char *
word(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static void
add(const char *script, uint32_t timeout_ms)
{
	size_t i = batch.count++;

	words[i][0] = word("/bin/sh");
	words[i][1] = word("-c");
	words[i][2] = word(script);
	commands[i] = (struct spawn){
		.program = words[i][0],
		.argv = words[i],
		.envp = envp,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = { .timeout_ms = timeout_ms, .output_bytes = 65536 },
	};
}

static enum ss_err
run(size_t parallel, uint32_t total_ms)
{
	batch.parallel = parallel;
	batch.total_ms = total_ms;
	return spawn_run_many(&batch, &err);
}

static void
clear(void)
{
	for (size_t i = 0; i < batch.count; i++)
		spawn_result_release(&results[i]);
	batch.count = 0;
}

static bool
said(size_t i, const char *expected)
{
	return results[i].out.len == strlen(expected) &&
		(results[i].out.len == 0 ||
			memcmp(results[i].out.data, expected,
				results[i].out.len) == 0);
}

static bool
no_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0;
}

static void
test_order(void)
{
	add("sleep 0.2; echo a", 5000);
	add("echo b; exit 3", 5000);
	add("echo c; echo bad >&2; kill -TERM $$", 5000);
	ok(run(2, 0) == SS_OK, "a batch runs");
	ok(said(0, "a\n") && said(1, "b\n") && said(2, "c\n"),
		"each result has the place of its command");
	ok(results[1].end == SPAWN_EXITED && results[1].status == 3,
		"each has its own exit code");
	ok(results[2].end == SPAWN_SIGNALLED && results[2].status == SIGTERM &&
			results[2].err.len == 4,
		"each has its own signal and its own stderr");
	clear();
	ok(run(4, 0) == SS_OK, "a batch of none is nothing to do");
}

/* Four that sleep as long as one, and eight that sleep as long as two. */
static void
test_parallel(void)
{
	uint64_t start = clock_ms(), took;

	for (int i = 0; i < 8; i++)
		add("sleep 0.5", 20000);
	run(4, 0);
	took = clock_ms() - start;
	ok(took >= 1000, "no more than four run at a time: %u ms",
		(unsigned)took);
	ok(took < 3000, "four run at the same time: %u ms", (unsigned)took);
	clear();
}

static void
test_limits(void)
{
	char own[64];

	snprintf(own, sizeof(own), "sleep 60 & echo $!; wait");
	add(own, 300);
	add("sleep 1; echo late", 20000);
	add("yes", 20000);
	add("echo fine", 20000);
	run(2, 0);
	ok(results[0].end == SPAWN_TIMEOUT &&
			results[0].limit == SPAWN_LIMIT_WALL,
		"one is ended at its own time");
	ok(results[0].run_us >= 300000 && results[0].run_us < 5000000,
		"which it is told");
	ok(said(1, "late\n"), "a slower neighbour is not");
	ok(results[2].end == SPAWN_OUTPUT && results[2].out.len == 65536,
		"one is ended at its own ceiling, and keeps what fits");
	ok(said(3, "fine\n"), "what comes after them runs");
	ok(results[0].out.len > 0 &&
			kill((pid_t)atoi(results[0].out.data), 0) != 0,
		"its group is gone with it");
	ok(no_children(), "and no child is left");
	clear();
}

static void
test_total(void)
{
	uint64_t start = clock_ms();

	for (int i = 0; i < 5; i++)
		add("echo x; sleep 20", 20000);
	ok(run(2, 500) == SS_OK, "the total is no error");
	ok(clock_ms() - start < 8000, "all are ended when it is over");
	ok(results[0].end == SPAWN_TIMEOUT && said(0, "x\n") &&
			results[0].run_us > 0,
		"one that ran keeps its output");
	ok(results[4].end == SPAWN_TIMEOUT && results[4].run_us == 0 &&
			said(4, ""),
		"one that waited was never started");
	clear();
}

static void
test_client(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		abort();
	for (int i = 0; i < 4; i++) {
		add("sleep 20", 20000);
		commands[i].client_fd = pair[0];
	}
	close(pair[1]);
	ok(run(2, 0) == SS_OK && results[0].end == SPAWN_GONE &&
			results[1].end == SPAWN_GONE,
		"a client that leaves ends all of them");
	ok(results[3].end == SPAWN_GONE && results[3].run_us == 0,
		"and nothing more is started");
	ok(no_children(), "and no child is left");
	close(pair[0]);
	clear();
}

/* One that fled its group lives on until the last one ends, no longer. */
static void
test_fled(void)
{
	pid_t fled;

	add("setsid sleep 60 >/dev/null 2>&1 & echo $!", 20000);
	add("sleep 0.3", 20000);
	ok(run(1, 0) == SS_OK && results[0].end == SPAWN_EXITED,
		"one that leaves a process behind ends all the same");
	fled = results[0].out.len > 0 ? atoi(results[0].out.data) : 0;
	ok(fled > 0 && kill(fled, 0) != 0, "nothing of it stays");
	ok(no_children(), "and no child is left");
	clear();
}

static void
test_no_program(void)
{
	add("echo a", 20000);
	add("echo b", 20000);
	add("echo c", 20000);
	commands[1].program = "/nonexistent/program";
	ok(run(4, 0) == SS_OK, "a program that is not there is no error");
	ok(results[1].end == SPAWN_FAILED &&
			results[1].failed_step == SPAWN_STEP_EXEC,
		"its result says so");
	ok(said(0, "a\n") && said(2, "c\n"), "its neighbours run");
	clear();
}

static void
test_many(void)
{
	int before, good = 0;

	for (int i = 0; i < MOST; i++)
		add("echo x", 20000);
	before = open_count();
	run(MOST, 0);
	for (int i = 0; i < MOST; i++)
		good += said((size_t)i, "x\n");
	is_int(good, MOST, "two dozen at a time, each with its pipes");
	is_int(open_count(), before, "no descriptor is left open");
	clear();
}

int
main(void)
{
	test_order();
	test_parallel();
	test_limits();
	test_total();
	test_client();
	test_fled();
	test_no_program();
	test_many();
	return done();
}
