/* SPDX-License-Identifier: MIT */
/*
 * What one start of a command costs, level by level, beside the least that it
 * can cost.  The contestants are processes that wait for their turn, and take
 * turns run by run: whatever else the machine does falls on all of them.
 *
 *	launch SITE ROUNDS [PROGRAM]
 *
 * A line each: name, median and 99th percentile of the run in microseconds,
 * mean processor time of run and runner, median of the ratio to "bare" in the
 * same round.
 */
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "child.h"
#include "base/clock.h"
#include "sandbox/policy.h"
#include "sandbox/ruleset.h"
#include "sandbox/sandbox_fork.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"

struct turn {
	double wall_us, cpu_us;
};

/* What a contestant's process keeps between its turns. */
struct runner {
	const char *program;
	const char *site;
	bool bare; /* child.h's way, though confined at its start */
	int socket;
	struct arena arena;
	struct grant grant;
	struct policy policy;
	struct ruleset ruleset;
	int dir_fd;
};

struct contestant {
	const char *name;
	enum sandbox_mode mode;
	bool confined, bare;
	int socket;
	pid_t pid;
	struct turn *turns;
};

static double
cpu_us(void)
{
	double sum = 0;
	struct rusage u;

	for (int who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		getrusage(who, &u);
		sum += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e6 +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
	}
	return sum;
}

static bool
run_bare(const struct runner *r)
{
	char name[256], *argv[] = { name, NULL };
	char out[4096], err[4096];

	snprintf(name, sizeof(name), "%s", r->program);
	return child_run(argv, out, err, sizeof(out)) == 0;
}

/* As executor.c does it for a request. */
static bool
run_spawn(struct runner *r, bool confined)
{
	char path[] = "PATH=/usr/bin:/bin";
	char *env[] = { path, NULL };
	char *argv[] = { NULL, NULL };
	struct spawn_result result;
	struct spawn s = { .program = r->program,
		.argv = argv,
		.envp = env,
		.dir_fd = r->dir_fd,
		.stdin_fd = -1,
		.client_fd = r->socket,
		.limits = r->grant.limits };
	struct ss_error err;
	char name[] = "true";
	bool fine;

	argv[0] = name;
	if (confined && !ruleset_is_fresh(&r->ruleset))
		return false;
	fine = (confined ? sandbox_run(
				   &r->policy, &r->ruleset, &s, &result, &err)
			 : spawn_run(&s, &result, &err)) == SS_OK &&
		result.end == SPAWN_EXITED && result.status == 0;
	spawn_result_release(&result);
	return fine && (!confined || sandbox_clean());
}

static bool
run_once(struct runner *r)
{
	enum sandbox_level level = sandbox_self()->level;

	if (r->bare)
		return run_bare(r);
	return run_spawn(r, level != SANDBOX_NONE);
}

/* One byte in: one run; its time out. */
static int
serve(void *ctx)
{
	struct runner *r = ctx;
	struct turn t;
	uint64_t start;
	char turn;

	while (read(r->socket, &turn, 1) == 1) {
		t.cpu_us = cpu_us();
		start = clock_us();
		if (!run_once(r))
			return 1;
		t.wall_us = (double)(clock_us() - start);
		t.cpu_us = cpu_us() - t.cpu_us;
		if (write(r->socket, &t, sizeof(t)) != sizeof(t))
			return 1;
	}
	return 0;
}

static int
worker(void *ctx)
{
	static const struct wants nothing;
	struct runner *r = ctx;
	struct policy_ask ask = {
		.page = &nothing, .page_dir = "", .program = r->program
	};
	struct ss_error err;

	arena_init(&r->arena, 0);
	if (policy_resolve(&r->arena, &ask, &r->grant, &r->policy, &err) !=
			SS_OK ||
		ruleset_make(&r->arena, &r->policy, &r->ruleset, &err) != SS_OK)
		return 1;
	r->dir_fd = open(sandbox_self()->site, O_PATH | O_CLOEXEC);
	return serve(r);
}

static struct grant
ceiling(const char *site)
{
	return (struct grant){ .root = site,
		.exec_any = true,
		.limits = { .timeout_ms = 20000,
			.output_bytes = 1 << 20,
			.cpu_s = 20,
			.memory_bytes = 1 << 30,
			.processes = 64,
			.open_files = 256,
			.file_bytes = 64 << 20 } };
}

static bool
start(struct contestant *c, const char *site, const char *program)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct runner r = { .program = program,
		.site = site,
		.bare = c->bare,
		.ruleset = RULESET_INIT,
		.grant = ceiling(site),
		.dir_fd = -1 };
	const struct sandbox_process process = { .main = worker, .ctx = &r };
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return false;
	c->socket = ends[0];
	r.socket = ends[1];
	plan.mode = c->mode;
	plan.root = site;
	plan.grant = &r.grant;
	if (!c->confined) {
		c->pid = fork();
		if (c->pid == 0) {
			close(ends[0]);
			_exit(serve(&r));
		}
	} else if (sandbox_prepare(&plan, &err) != SS_OK ||
		sandbox_fork(&plan, &process, &child, &err) != SS_OK) {
		fprintf(stderr, "launch: %s: %s\n", c->name, err.message);
		return false;
	} else {
		c->pid = child.pid;
	}
	close(ends[1]);
	return c->pid > 0;
}

static int
by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
part(double *values, size_t n, double share)
{
	qsort(values, n, sizeof(*values), by_value);
	return values[(size_t)((double)(n - 1) * share)];
}

static void
report(const struct contestant *c, const struct contestant *bare, size_t n,
	double *room)
{
	double p50, p99, cpu = 0;

	for (size_t i = 0; i < n; i++) {
		room[i] = c->turns[i].wall_us;
		cpu += c->turns[i].cpu_us;
	}
	p50 = part(room, n, 0.5);
	p99 = part(room, n, 0.99);
	for (size_t i = 0; i < n; i++)
		room[i] = c->turns[i].wall_us / bare->turns[i].wall_us;
	printf("%-28s %8.0f %8.0f %8.0f %6.3f\n", c->name, p50, p99,
		cpu / (double)n, part(room, n, 0.5));
}

static bool
race(struct contestant *all, size_t count, size_t rounds)
{
	struct turn t;

	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < count; i++) {
			struct contestant *c = &all[(i + round) % count];

			if (write(c->socket, "", 1) != 1 ||
				read(c->socket, &t, sizeof(t)) != sizeof(t)) {
				fprintf(stderr, "launch: %s: gave up\n",
					c->name);
				return false;
			}
			c->turns[round] = t;
		}
	return true;
}

int
main(int argc, char **argv)
{
	struct contestant all[] = {
		{ .name = "bare", .bare = true },
		{ .name = "spawn alone" },
		{ .name = "off", .mode = SANDBOX_MODE_OFF, .confined = true },
		{ .name = "landlock",
			.mode = SANDBOX_MODE_LANDLOCK,
			.confined = true },
		{ .name = "strict",
			.mode = SANDBOX_MODE_STRICT,
			.confined = true },
		{ .name = "bare, in strict's namespaces",
			.mode = SANDBOX_MODE_STRICT,
			.confined = true,
			.bare = true },
	};
	size_t count = sizeof(all) / sizeof(all[0]);
	size_t rounds = argc > 2 ? (size_t)atol(argv[2]) : 0;
	const char *program = argc > 3 ? argv[3] : "/usr/bin/true";
	double *room = calloc(rounds + 1, sizeof(*room));

	signal(SIGPIPE, SIG_IGN);
	if (rounds == 0 || room == NULL)
		return 2;
	for (size_t i = 0; i < count; i++) {
		all[i].turns = calloc(rounds, sizeof(struct turn));
		if (all[i].turns == NULL || !start(&all[i], argv[1], program))
			return 1;
	}
	if (!race(all, count, rounds / 10 + 1) || !race(all, count, rounds))
		return 1;
	for (size_t i = 0; i < count; i++)
		report(&all[i], &all[0], rounds, room);
	for (size_t i = 0; i < count; i++) {
		shutdown(all[i].socket, SHUT_RDWR);
		waitpid(all[i].pid, NULL, 0);
	}
	return 0;
}
