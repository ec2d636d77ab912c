/* SPDX-License-Identifier: MIT */
/*
 * In this order: what all batches share, the wait, the end of a child, the end
 * of all.
 *
 * The child is made by clone(2) with CLONE_VM | CLONE_VFORK on a stack of its
 * own: no page is copied however large this process is, it does not run until
 * the child has become the program, and the child writes what failed into
 * memory that both share.
 */
#include "run/spawn_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define STACK_BYTES (256 * 1024)
/* A killed process that takes longer hangs in the kernel. */
#define DEATH_MS 5000
/* How often to call waitid(2) where the kernel gives no pidfd. */
#define TICK_US 2000

uint64_t spawn_pass;

static struct {
	pid_t pid; /* that prepared: a fork of it is no subreaper */
	char *stack;
	int null;
} shared = { .null = -1 };

/* ----------------------------------------------- what all batches share */

/* No access to the lowest page: a stack that grows too far faults there. */
static int
stack_map(void)
{
	long page = sysconf(_SC_PAGESIZE);
	void *m;

	if (shared.stack != NULL)
		return 0;
	m = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (m == MAP_FAILED)
		return errno;
	if (mprotect(m, (size_t)page, PROT_NONE) != 0) {
		int e = errno;

		munmap(m, STACK_BYTES);
		return e;
	}
	shared.stack = m;
	return 0;
}

/*
 * Keeps /dev/null open, since a confined worker may not have it.  Each time the
 * descriptor is checked again: a host may have closed it and opened another
 * file under that number, which a tool must not get.
 */
static int
null_open(void)
{
	struct stat st;

	if (shared.null >= 0 && fstat(shared.null, &st) == 0 &&
		S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3))
		return 0;
	shared.null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (shared.null < 0)
		return errno;
	return spawn_io_keep_clear(&shared.null);
}

int
spawn_prepare(void)
{
	int e = stack_map();

	if (e == 0)
		e = null_open();
	if (e != 0 || shared.pid == getpid())
		return e;
	e = reap_prepare();
	if (e == 0)
		shared.pid = getpid();
	return e;
}

/* Notes the first step of ours that failed; returns number. */
int
spawn_note_fault(struct batch *b, const char *step, int number)
{
	if (number != 0 && b->step == NULL) {
		b->step = step;
		b->number = number;
	}
	return number;
}

/* ------------------------------------------------- how a run comes to end */

/* The first reason counts. */
void
spawn_stop(struct run *run, enum spawn_end end)
{
	if (!run->over)
		run->r->end = end;
	run->over = true;
}

/* Starts nothing more, and ends what runs. */
static void
batch_close(struct batch *b, enum spawn_end end)
{
	for (size_t i = 0; i < b->live_count; i++)
		spawn_stop(&b->live[i], end);
	for (; b->next < b->asked->count; b->next++)
		b->asked->results[b->next].end = end;
}

/* Something of ours failed: all runs of the batch fail. */
void
spawn_fail(struct run *run, const char *step, int number)
{
	spawn_note_fault(run->batch, step, number);
	spawn_stop(run, SPAWN_FAILED);
	batch_close(run->batch, SPAWN_FAILED);
}

/* -------------------------------------------------------------- the wait */

enum { OUT, ERR, CHILD, FEED, RELAY, CLIENT, PROGRESS, SLOTS };

short
spawn_client_events(const struct spawn *s)
{
	return s->client_left != NULL ? POLLIN | POLLRDHUP : POLLRDHUP;
}

bool
spawn_client_left(const struct spawn *s, short revents)
{
	if (revents & (POLLRDHUP | POLLHUP | POLLERR))
		return true;
	return revents & POLLIN && s->client_left(s->client_ctx);
}

static void
wait_for(const struct run *run, struct pollfd p[static SLOTS])
{
	bool idle = run->pending_len == 0;

	p[OUT] = (struct pollfd){ run->from[0], POLLIN, 0 };
	p[ERR] = (struct pollfd){ run->from[1], POLLIN, 0 };
	p[CHILD] = (struct pollfd){ run->pidfd, POLLIN, 0 };
	p[FEED] = (struct pollfd){ run->feed, idle ? 0 : POLLOUT, 0 };
	p[RELAY] = (struct pollfd){ idle ? run->relay : -1, POLLIN, 0 };
	p[CLIENT] = (struct pollfd){ run->s->client_fd,
		spawn_client_events(run->s), 0 };
	p[PROGRESS] = (struct pollfd){ spawn_io_progress_fd(run), POLLIN, 0 };
}

/* How long ppoll(2) may sleep; NULL: until something happens. */
static const struct timespec *
wait_time(const struct batch *b, struct timespec *t)
{
	uint64_t now = clock_us(), until = b->deadline_us, us;
	bool tick = false;

	if (b->look_us != 0 && (until == 0 || b->look_us < until))
		until = b->look_us;

	for (size_t i = 0; i < b->live_count; i++) {
		uint64_t own = b->live[i].deadline_us;

		if (own != 0 && (until == 0 || own < until))
			until = own;
		own = b->live[i].tick_us;
		if (own != 0 && (until == 0 || own < until))
			until = own;
		tick |= b->live[i].pidfd < 0;
	}
	us = until == 0 ? UINT64_MAX : until > now ? until - now : 0;
	if (tick && us > TICK_US)
		us = TICK_US;
	if (us == UINT64_MAX)
		return NULL;
	t->tv_sec = (time_t)(us / 1000000);
	t->tv_nsec = (long)(us % 1000000) * 1000;
	return t;
}

static bool
child_is_dead(const struct run *run)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)run->pid, &info,
		       WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == run->pid;
}

static void
run_turn(struct run *run, const struct pollfd p[static SLOTS])
{
	for (int stream = 1; stream <= 2; stream++)
		if (p[stream - 1].revents != 0 && !run->over)
			spawn_io_take(run, stream, SIZE_MAX);
	if (p[PROGRESS].revents != 0)
		spawn_io_take_progress(run);
	if (p[FEED].revents & POLLOUT)
		spawn_io_feed(run);
	else if (p[FEED].revents != 0)
		spawn_io_close_feed(run);
	else if (p[RELAY].revents != 0)
		spawn_io_relay(run);
	if (p[CHILD].revents != 0 || (run->pidfd < 0 && child_is_dead(run)))
		spawn_stop(run, SPAWN_EXITED);
	if (spawn_client_left(run->s, p[CLIENT].revents)) {
		spawn_stop(run, SPAWN_GONE);
		batch_close(run->batch, SPAWN_GONE);
	}
	if (run->deadline_us != 0 && clock_us() >= run->deadline_us)
		spawn_stop(run, SPAWN_TIMEOUT);
	if (run->tick_us != 0 && clock_us() >= run->tick_us && !run->over) {
		spawn_io_deliver(run, 0, "", 0);
		run->tick_us = clock_us() + (uint64_t)run->s->tick_ms * 1000;
	}
}

/* The limits of all runs together. */
static void
bounds_turn(struct batch *b, const struct pollfd *p)
{
	const struct spawn_bounds *bounds = b->bounds;
	enum spawn_limit limit;

	if (p->revents & POLLIN)
		bounds->ready(bounds->ctx);
	if (b->look_us == 0 || clock_us() < b->look_us)
		return;
	limit = bounds->over(bounds->ctx);
	for (size_t i = 0; i < b->live_count && limit != SPAWN_LIMIT_NONE;
		i++) {
		if (!b->live[i].over)
			b->live[i].r->limit = limit;
		spawn_stop(&b->live[i], SPAWN_SIGNALLED);
	}
	b->look_us = clock_us() + (uint64_t)bounds->every_ms * 1000;
}

static void
batch_wait(struct batch *b)
{
	struct pollfd p[SPAWN_PARALLEL_MAX + 1][SLOTS];
	nfds_t count = (nfds_t)b->live_count * SLOTS + 1;
	struct pollfd *own = p[b->live_count];
	struct timespec t;

	for (size_t i = 0; i < b->live_count; i++)
		wait_for(&b->live[i], p[i]);
	*own = (struct pollfd){ b->bounds != NULL ? b->bounds->fd : -1, POLLIN,
		0 };
	if (ppoll(p[0], count, wait_time(b, &t), &b->wait_mask) < 0) {
		if (errno != EINTR)
			spawn_fail(&b->live[0], "ppoll", errno);
		memset(p, 0, count * sizeof(p[0][0]));
	}
	for (size_t i = 0; i < b->live_count; i++)
		run_turn(&b->live[i], p[i]);
	bounds_turn(b, own);
	if (b->deadline_us != 0 && clock_us() >= b->deadline_us)
		batch_close(b, SPAWN_TIMEOUT);
}

/* -------------------------------------------------------- one child ends */

/*
 * Kills the child's process group, then reaps the child: until it is reaped no
 * other process can have its number.  0 or errno.
 */
static int
run_reap(struct run *run)
{
	struct pollfd p = { .fd = run->pidfd, .events = POLLIN };
	uint64_t deadline = clock_ms() + DEATH_MS;
	pid_t n;

	kill(-run->pid, SIGKILL);
	for (;;) {
		n = wait4(run->pid, &run->status, WNOHANG, &run->usage);
		if (n == run->pid)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
		if (clock_left_ms(deadline) == 0)
			return ETIME;
		poll(&p, 1, run->pidfd < 0 ? 1 : 10);
	}
}

/* RLIMIT_CPU sends SIGXCPU at its soft limit, SIGKILL at the hard one. */
static enum spawn_limit
limit_of_signal(const struct run *run, int number)
{
	const struct timeval *u = &run->usage.ru_utime;
	const struct timeval *k = &run->usage.ru_stime;
	uint32_t cpu_s = run->s->limits.cpu_s;

	if (number == SIGXCPU)
		return SPAWN_LIMIT_CPU;
	if (number == SIGXFSZ)
		return SPAWN_LIMIT_FILE;
	if (number == SIGKILL && cpu_s > 0 && u->tv_sec + k->tv_sec >= cpu_s)
		return SPAWN_LIMIT_CPU;
	return SPAWN_LIMIT_NONE;
}

static void
run_classify(struct run *run)
{
	struct spawn_result *r = run->r;

	switch (r->end) {
	case SPAWN_EXITED:
		if (WIFEXITED(run->status)) {
			r->status = WEXITSTATUS(run->status);
			break;
		}
		r->end = SPAWN_SIGNALLED;
		r->status = WTERMSIG(run->status);
		r->limit = limit_of_signal(run, r->status);
		break;
	case SPAWN_TIMEOUT: r->limit = SPAWN_LIMIT_WALL; break;
	case SPAWN_OUTPUT: r->limit = SPAWN_LIMIT_OUTPUT; break;
	case SPAWN_SIGNALLED: r->status = SIGKILL; break; /* for b->bounds */
	case SPAWN_GONE:
	case SPAWN_FAILED: break;
	}
}

static void
take_usage(struct run *run)
{
	const struct timeval *u = &run->usage.ru_utime;
	const struct timeval *k = &run->usage.ru_stime;

	run->r->cpu_us = (uint64_t)(u->tv_sec + k->tv_sec) * 1000000 +
		(uint64_t)(u->tv_usec + k->tv_usec);
	run->r->memory_bytes = (uint64_t)run->usage.ru_maxrss * 1024;
}

/* Processes that left its group are killed at the end of the batch. */
static void
run_end(struct run *run)
{
	struct batch *b = run->batch;

	run->r->run_us = clock_us() - run->start_us;
	if (spawn_note_fault(b, "kill", run_reap(run)) != 0) {
		b->stuck = true;
		batch_close(b, SPAWN_FAILED);
	}
	if (run->r->failed_step != SPAWN_STEP_NONE) {
		run->r->end = SPAWN_FAILED;
		run->r->run_us = 0;
	} else {
		take_usage(run);
		spawn_io_drain(run);
		spawn_io_take_report(run);
		spawn_io_drain_progress(run);
		run_classify(run);
	}
	spawn_io_close(run);
}

/*
 * Returns when the child has become the program, or has failed to.  Some
 * sandboxed kernels refuse CLONE_PIDFD.
 */
static int
run_start(struct run *run)
{
	int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
	char *top = shared.stack + STACK_BYTES;
	uint32_t ms = run->s->limits.timeout_ms;

	run->start_us = clock_us();
	if (ms > 0)
		run->deadline_us = run->start_us + (uint64_t)ms * 1000;
	if (run->s->tick_ms != 0 && run->s->output != NULL)
		run->tick_us = run->start_us + (uint64_t)run->s->tick_ms * 1000;
	run->pid = clone(spawn_child_main, top, flags | CLONE_PIDFD, run,
		&run->pidfd, NULL, (void *)(uintptr_t)spawn_pass);
	if (run->pid < 0 && errno == EINVAL)
		run->pid = clone(spawn_child_main, top, flags, run, NULL, NULL,
			(void *)(uintptr_t)spawn_pass);
	if (run->pid < 0)
		return spawn_note_fault(run->batch, "clone", errno);
	spawn_io_close_child_ends(run);
	return 0;
}

/* ---------------------------------------------------------- the batch */

static size_t
output_ceiling(const struct spawn_limits *l)
{
	return l->output_bytes == 0 || l->output_bytes > SIZE_MAX / 2
		? SIZE_MAX / 2
		: (size_t)l->output_bytes;
}

static void
run_init(struct run *run, struct batch *b, size_t i)
{
	*run = (struct run){
		.batch = b,
		.s = &b->asked->commands[i],
		.r = &b->asked->results[i],
		.pidfd = -1,
		.child = { -1, -1, -1 },
		.from = { -1, -1 },
		.report = { -1, -1 },
		.feed = -1,
		.relay = -1,
		.left = output_ceiling(&b->asked->commands[i].limits),
	};
}

/* Starts as many as may run; one that could not start has ended. */
static void
batch_start(struct batch *b)
{
	const struct spawn_batch *asked = b->asked;

	while (b->next < asked->count && b->live_count < asked->parallel) {
		struct run *run = &b->live[b->live_count];

		run_init(run, b, b->next++);
		if (spawn_io_open(run) != 0 || run_start(run) != 0) {
			spawn_io_close(run);
			batch_close(b, SPAWN_FAILED);
		} else if (run->r->failed_step != SPAWN_STEP_NONE) {
			run_end(run);
		} else {
			b->live_count++;
		}
	}
}

static void
batch_end_runs(struct batch *b)
{
	for (size_t i = b->live_count; i-- > 0;)
		if (b->live[i].over) {
			run_end(&b->live[i]);
			b->live[i] = b->live[--b->live_count];
		}
}

/* Runs all of them, then kills what they left. */
static void
batch_run_all(struct batch *b)
{
	b->null = shared.null;
	b->reset = spawn_signals_to_reset(shared.pid);
	spawn_signals_hold(b);
	batch_start(b);
	spawn_alarm_arm(b);
	while (b->live_count > 0) {
		batch_wait(b);
		batch_end_runs(b);
		batch_start(b);
	}
	spawn_alarm_disarm(b);
	if (!b->stuck)
		spawn_note_fault(b, "reap", reap_all(&b->reap, DEATH_MS));
	spawn_signals_release(b);
}

static void
results_init(const struct spawn_batch *asked)
{
	for (size_t i = 0; i < asked->count; i++) {
		size_t most = output_ceiling(&asked->commands[i].limits);

		asked->results[i] = (struct spawn_result){
			.end = SPAWN_FAILED,
			.out = BUF_INIT(most),
			.err = BUF_INIT(most),
			.report = BUF_INIT(SPAWN_REPORT_BYTES),
		};
	}
}

/* Only a callback may block in this process: then a timer must end it. */
static bool
has_callback(const struct spawn_batch *asked)
{
	for (size_t i = 0; i < asked->count; i++)
		if (asked->commands[i].output != NULL ||
			asked->commands[i].progress != NULL)
			return true;
	return false;
}

/* live has place for as many as run at a time. */
static enum ss_err
batch_run(const struct spawn_batch *asked, struct run *live, uint32_t alarm_ms,
	struct ss_error *err)
{
	struct batch b = {
		.asked = asked,
		.live = live,
		.start_us = clock_us(),
		.alarm_ms = has_callback(asked) ? alarm_ms : 0,
		.bounds = asked->commands[0].bounds,
		.reap = { .own_namespace =
				  asked->commands[0].own_pid_namespace },
	};

	if (asked->total_ms > 0)
		b.deadline_us = b.start_us + (uint64_t)asked->total_ms * 1000;
	if (b.bounds != NULL && b.bounds->over != NULL)
		b.look_us = b.start_us + (uint64_t)b.bounds->every_ms * 1000;
	results_init(asked);
	if (spawn_note_fault(&b, "prepare", spawn_prepare()) == 0 &&
		spawn_note_fault(&b, "children", reap_note(&b.reap)) == 0)
		batch_run_all(&b);
	reap_release(&b.reap);
	if (b.step == NULL)
		return SS_OK;
	return error_internal(err, b.number, "spawn: %s", b.step);
}

enum ss_err
spawn_run(const struct spawn *s, struct spawn_result *r, struct ss_error *err)
{
	struct spawn_batch one = {
		.commands = s, .results = r, .count = 1, .parallel = 1
	};
	struct run live;

	return batch_run(&one, &live, s->limits.timeout_ms, err);
}

enum ss_err
spawn_run_many(const struct spawn_batch *asked, struct ss_error *err)
{
	struct run live[SPAWN_PARALLEL_MAX];
	struct spawn_batch b = *asked;

	if (b.count == 0)
		return SS_OK;
	if (b.parallel > SPAWN_PARALLEL_MAX)
		b.parallel = SPAWN_PARALLEL_MAX;
	if (b.parallel == 0)
		b.parallel = 1;
	return batch_run(&b, live, b.total_ms, err);
}

const char *
spawn_limit_name(enum spawn_limit limit)
{
	switch (limit) {
	case SPAWN_LIMIT_NONE: break;
	case SPAWN_LIMIT_WALL: return "wall";
	case SPAWN_LIMIT_OUTPUT: return "output";
	case SPAWN_LIMIT_CPU: return "cpu";
	case SPAWN_LIMIT_FILE: return "file";
	case SPAWN_LIMIT_MEMORY: return "memory";
	}
	return NULL;
}

const char *
spawn_step_name(enum spawn_step step)
{
	switch (step) {
	case SPAWN_STEP_NONE: break;
	case SPAWN_STEP_CHDIR: return "chdir";
	case SPAWN_STEP_DESCRIPTORS: return "descriptors";
	case SPAWN_STEP_LIMITS: return "limits";
	case SPAWN_STEP_SANDBOX: return "sandbox";
	case SPAWN_STEP_EXEC: return "exec";
	}
	return "none";
}

void
spawn_result_release(struct spawn_result *r)
{
	buf_release(&r->out);
	buf_release(&r->err);
	buf_release(&r->report);
	buf_release(&r->workspace);
}

/* --------------------------------------------------------------- finding */

bool
spawn_is_program(int dir_fd, const char *path)
{
	struct stat st;

	return fstatat(dir_fd, path, &st, 0) == 0 && S_ISREG(st.st_mode) &&
		faccessat(dir_fd, path, X_OK, AT_EACCESS) == 0;
}

bool
spawn_find(const char *name, char *path, size_t cap)
{
	static const char *const folders[] = { "/usr/local/bin", "/usr/bin",
		"/bin" };
	int n;

	if (name[0] == '\0')
		return false;
	if (strchr(name, '/') != NULL) {
		n = snprintf(path, cap, "%s", name);
		return n >= 0 && (size_t)n < cap &&
			(name[0] != '/' || spawn_is_program(AT_FDCWD, path));
	}
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		n = snprintf(path, cap, "%s/%s", folders[i], name);
		if (n >= 0 && (size_t)n < cap &&
			spawn_is_program(AT_FDCWD, path))
			return true;
	}
	return false;
}
