/* SPDX-License-Identifier: MIT */
/*
 * Every call that spawn and reap make fails once, in every kind of run.  The
 * answer is the run's, or an honest failure; descriptors, children, signals
 * and timer are as before in any case.  Not among them: waitid, wait4, kill.
 * Without those nothing can be ended, and the kernel does not refuse them.
 *
 * wrap: malloc realloc mmap mprotect prctl open pipe2 fcntl clone ioctl
 * wrap: ppoll __ppoll_chk poll __poll_chk read __read_chk write opendir
 * wrap: pread __pread_chk dup2 close_range setrlimit fchdir execve
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "base/fd.h"
#include "run/spawn.h"
#include "tap.h"

FAULT(malloc, void *, NULL, ENOMEM, (size_t n), (n))
FAULT(realloc, void *, NULL, ENOMEM, (void *p, size_t n), (p, n))
FAULT(mmap, void *, MAP_FAILED, ENOMEM,
	(void *at, size_t n, int prot, int flags, int fd, off_t off),
	(at, n, prot, flags, fd, off))
FAULT(mprotect, int, -1, ENOMEM, (void *at, size_t n, int prot), (at, n, prot))
FAULT(pipe2, int, -1, EMFILE, (int ends[2], int flags), (ends, flags))
FAULT(ppoll, int, -1, ENOMEM,
	(struct pollfd * p, nfds_t n, const struct timespec *t,
		const sigset_t *mask),
	(p, n, t, mask))
FAULT(__ppoll_chk, int, -1, ENOMEM,
	(struct pollfd * p, nfds_t n, const struct timespec *t,
		const sigset_t *mask, size_t size),
	(p, n, t, mask, size))
FAULT(poll, int, -1, ENOMEM, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))
FAULT(__poll_chk, int, -1, ENOMEM,
	(struct pollfd * p, nfds_t n, int ms, size_t size), (p, n, ms, size))
FAULT(read, ssize_t, -1, ENOMEM, (int fd, void *p, size_t n), (fd, p, n))
FAULT(__read_chk, ssize_t, -1, ENOMEM, (int fd, void *p, size_t n, size_t size),
	(fd, p, n, size))
FAULT(write, ssize_t, -1, EIO, (int fd, const void *p, size_t n), (fd, p, n))
FAULT(pread, ssize_t, -1, EIO, (int fd, void *p, size_t n, off_t at),
	(fd, p, n, at))
FAULT(__pread_chk, ssize_t, -1, EIO,
	(int fd, void *p, size_t n, off_t at, size_t size),
	(fd, p, n, at, size))
FAULT(opendir, DIR *, NULL, EACCES, (const char *path), (path))
FAULT(dup2, int, -1, EBADF, (int from, int to), (from, to))
FAULT(close_range, int, -1, ENOSYS, (unsigned a, unsigned b, int flags),
	(a, b, flags))
FAULT(setrlimit, int, -1, EINVAL,
	(__rlimit_resource_t what, const struct rlimit *l), (what, l))
FAULT(fchdir, int, -1, EACCES, (int fd), (fd))
FAULT(execve, int, -1, EACCES,
	(const char *path, char *const argv[], char *const env[]),
	(path, argv, env))

/* Those with a variable end pass one word on. */
#define FAULT_MORE(name, number, params, args)                                 \
	int __real_##name params;                                              \
	int __wrap_##name params;                                              \
	int __wrap_##name params                                               \
	{                                                                      \
		va_list more;                                                  \
		long last;                                                     \
                                                                               \
		if (fault_now(#name)) {                                        \
			errno = number;                                        \
			return -1;                                             \
		}                                                              \
		va_start(more, before_last);                                   \
		last = va_arg(more, long);                                     \
		va_end(more);                                                  \
		return __real_##name args;                                     \
	}
FAULT_MORE(
	prctl, EINVAL, (int before_last, ...), (before_last, last, 0L, 0L, 0L))
FAULT_MORE(open, ENFILE, (const char *path, int before_last, ...),
	(path, before_last, last))
FAULT_MORE(
	fcntl, EMFILE, (int fd, int before_last, ...), (fd, before_last, last))
FAULT_MORE(ioctl, ENOTTY, (int fd, unsigned long before_last, ...),
	(fd, before_last, last))
FAULT_MORE(clone, EAGAIN,
	(int (*fn)(void *), void *stack, int flags, void *before_last, ...),
	(fn, stack, flags, before_last, last))

static char *
word(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

/* What has to be the same after a run, however it ended. */
struct state {
	size_t descriptors, children;
	sigset_t mask;
	struct sigaction child, alarm;
	struct itimerval timer;
};

static struct state
state_now(pid_t own)
{
	struct state s = { 0 };
	siginfo_t info = { 0 };

	for (int fd = 0; fd < 256; fd++)
		s.descriptors += fcntl(fd, F_GETFD) >= 0;
	s.children = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
	if (own > 0)
		s.children += waitid(P_PID, (id_t)own, &info,
				      WEXITED | WNOHANG | WNOWAIT) == 0;
	sigprocmask(SIG_SETMASK, NULL, &s.mask);
	sigaction(SIGCHLD, NULL, &s.child);
	sigaction(SIGALRM, NULL, &s.alarm);
	getitimer(ITIMER_REAL, &s.timer);
	return s;
}

static bool
state_same(const struct state *a, const struct state *b)
{
	for (int n = 1; n < 32; n++)
		if (sigismember(&a->mask, n) != sigismember(&b->mask, n))
			return false;
	return a->descriptors == b->descriptors && a->children == b->children &&
		a->child.sa_handler == b->child.sa_handler &&
		a->alarm.sa_handler == b->alarm.sa_handler &&
		b->timer.it_value.tv_sec == 0 && b->timer.it_value.tv_usec == 0;
}

/* One kind of run; out is what a good one prints. */
struct kind {
	const char *sentence;
	struct spawn spawn;
	const char *script;
	const char *out;
	bool new_relay; /* a pipe for each run */
	pid_t own;      /* a child of the host's, never to be touched */
	size_t copies;  /* a batch of so many, two at a time; 0: a run */
};

#define COPIES_MAX 3

static bool
honest(enum ss_err code, const struct spawn_result *r,
	const struct ss_error *err, const struct kind *k)
{
	if (code == SS_INTERNAL)
		return err->detail[0] != '\0' && err->sys_errno != 0;
	if (code != SS_OK)
		return false;
	if (r->end == SPAWN_FAILED)
		return r->failed_step != SPAWN_STEP_NONE &&
			r->failed_errno != 0;
	return r->end == SPAWN_EXITED && r->status == 0 && r->out.data &&
		strcmp(r->out.data, k->out) == 0;
}

/* Runs with the n-th call failing; false when there are not so many. */
static bool
run_once(const struct kind *k, int n, unsigned *lies, unsigned *traces)
{
	char *argv[] = { word("/bin/sh"), word("-c"), word(k->script), NULL };
	char *envp[] = { word("PATH=/usr/bin:/bin"), NULL };
	struct state before, after;
	struct spawn s[COPIES_MAX];
	int relay[2] = { -1, -1 };
	struct spawn_result r[COPIES_MAX];
	size_t count = k->copies > 0 ? k->copies : 1;
	struct spawn_batch batch = {
		.commands = s, .results = r, .count = count, .parallel = 2
	};
	struct ss_error err;
	enum ss_err code;
	bool reached;

	for (size_t i = 0; i < count; i++) {
		s[i] = k->spawn;
		s[i].argv = argv;
		s[i].envp = envp;
	}
	if (k->new_relay) {
		fd_pipe(relay);
		fd_write_all(relay[1], "relayed", 7);
		fd_close(&relay[1]);
		s[0].stdin_fd = relay[0];
	}
	before = state_now(k->own);
	error_clear(&err);
	fault_name = NULL;
	fault_at = n;
	code = k->copies > 0 ? spawn_run_many(&batch, &err)
			     : spawn_run(&s[0], &r[0], &err);
	reached = fault_at == 0;
	fault_at = 0;
	after = state_now(k->own);
	for (size_t i = 0; i < count; i++) {
		if (!honest(code, &r[i], &err, k) && ++*lies)
			printf("# %s: %s fails: code %d end %d %s\n",
				k->sentence,
				fault_name ? fault_name : "nothing", code,
				r[i].end, err.detail);
		spawn_result_release(&r[i]);
	}
	if (!state_same(&before, &after) && ++*traces)
		printf("# %s: %s fails: %zu, now %zu descriptors\n",
			k->sentence, fault_name ? fault_name : "nothing",
			before.descriptors, after.descriptors);
	fd_close(&relay[0]);
	return reached;
}

static void
try_kind(const struct kind *k)
{
	unsigned lies = 0, traces = 0;
	int n = 1;

	while (n < 500 && run_once(k, n, &lies, &traces))
		n++;
	ok(n > 10 && n < 500, "%s: %d calls fail, one after the other",
		k->sentence, n - 1);
	is_int(0, lies, "%s: each answer is honest", k->sentence);
	is_int(0, traces, "%s: none leaves a trace", k->sentence);
}

/*
 * The first run of a process prepares it; what it keeps open it keeps, so
 * only the answers are looked at.
 */
static void
try_first(const struct kind *k)
{
	unsigned lies = 0, traces = 0;
	int status, n;
	pid_t child;

	for (n = 1; n < 100; n++) {
		child = fork();
		if (child == 0) {
			run_once(k, n, &lies, &traces);
			lies += !run_once(k, 0, &lies, &traces);
			_exit(lies > 0);
		}
		waitpid(child, &status, 0);
		if (status != 0)
			break;
	}
	is_int(100, n, "a process whose first run failed can run the next");
}

int
main(void)
{
	static char data[100000];
	struct spawn plain = { .program = "/bin/sh",
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = { .timeout_ms = 10000, .output_bytes = 1 << 20 } };
	struct spawn full = plain, fed = plain;
	pid_t own;

	memset(data, 'x', sizeof(data) - 1);
	full.dir_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	full.limits.cpu_s = 5;
	full.limits.file_bytes = 1 << 20;
	full.limits.open_files = 64;
	fed.stdin_data = data;
	fed.stdin_len = sizeof(data) - 1;
	struct kind kinds[] = {
		{ "a plain run", plain, "echo out; echo err >&2", "out\n",
			false, 0, 0 },
		{ "one with limits", full, "echo out", "out\n", false, 0, 0 },
		{ "one that is fed", fed, "cat", data, false, 0, 0 },
		{ "one with a relay", plain, "cat", "relayed", true, 0, 0 },
		{ "one that leaves a daemon", plain,
			"setsid sleep 30 >/dev/null 2>&1 & sleep 0.02; echo x",
			"x\n", false, 0, 0 },
		{ "three as a batch", full, "sleep 30 & echo x", "x\n", false,
			0, COPIES_MAX },
		{ "one beside a child of ours", plain, "sleep 30 & echo x",
			"x\n", false, 0, 0 },
	};

	try_first(&kinds[0]);
	spawn_prepare();
	for (size_t i = 0; i + 1 < ARRAY_LEN(kinds); i++)
		try_kind(&kinds[i]);
	own = fork();
	if (own == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		pause();
		_exit(0);
	}
	kinds[6].own = own;
	try_kind(&kinds[6]);
	is_int(0, waitpid(own, NULL, WNOHANG), "that child lives");
	kill(own, SIGKILL);
	waitpid(own, NULL, 0);
	close(full.dir_fd);
	return done();
}
