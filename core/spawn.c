/* SPDX-License-Identifier: MIT */
/*
 * A run from top to bottom: what every run shares, the child between clone
 * and exec, what goes in and out, the wait, the end.
 *
 * The child is made with CLONE_VM | CLONE_VFORK on a stack of its own: no page
 * is copied however large we are, we stand still until it has become the
 * program, and what failed is read from our own memory afterwards.
 */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "fdio.h"
#include "reap.h"

#define STACK_BYTES (256 * 1024)
/* A killed process that is not dead by then hangs in the kernel. */
#define DEATH_MS 5000
/* How often to look where the kernel gives no pidfd. */
#define TICK_US 2000

static struct {
	pid_t pid; /* who prepared: a fork is no subreaper */
	char *stack;
	int null;
} shared = { .null = -1 };

struct run {
	const struct spawn *s;
	struct spawn_result *r;
	struct reap reap;
	pid_t pid;
	int pidfd;
	int child[3]; /* the child's ends */
	int from[2];  /* its stdout and stderr, for us to read */
	int feed;     /* its stdin, for us to write */
	int relay;    /* where more for it comes from */
	bool relay_is_socket;
	const char *pending; /* what feed takes next */
	size_t pending_len;
	uint64_t left; /* output still allowed */
	uint64_t start_us, deadline_us;
	bool over;   /* the wait has ended, for r->end */
	bool exited; /* by itself, as far as we know */
	bool piped;  /* a SIGPIPE may be pending */
	int status;
	struct rusage usage;
	const char *step; /* of ours that failed, with number */
	int number;
	sigset_t old_mask, wait_mask;
	struct sigaction old_alarm, old_child;
	struct itimerval old_timer;
};

/* ---------------------------------------------------- what runs share */

/* The lowest page stays closed: a stack that grows too far faults there. */
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
 * Moves *fd above 2, where the child's dup2 would land.  On failure it stays
 * what it was, for its owner to close.  0 or errno.
 */
static int
keep_clear(int *fd)
{
	int high = fd_raise(*fd, 3);

	if (high < 0)
		return errno;
	*fd = high;
	return 0;
}

/*
 * /dev/null is kept open, since a confined worker may not have it.  The
 * number is looked at again each time: a host that closes what it does not
 * know must not hand a stranger's descriptor to a tool.
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
	return keep_clear(&shared.null);
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

/* ------------------------------------------------------------- the child */

static int
child_failed(struct run *run, const char *step, int number)
{
	run->r->failed_step = step;
	run->r->failed_errno = number;
	return 127;
}

/* What was open without close-on-exec is a host's; it stays out of tools. */
static int
child_close(void)
{
	struct rlimit most;

	if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) == 0)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &most) != 0)
		return errno;
	for (int fd = 3; fd < 65536 && (rlim_t)fd < most.rlim_cur; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return 0;
}

/* A hard limit that is already lower stays as it is. */
static int
child_limit(int what, rlim_t soft, rlim_t hard)
{
	struct rlimit want = { soft, hard }, have;

	if (setrlimit((__rlimit_resource_t)what, &want) == 0)
		return 0;
	if (errno != EPERM || getrlimit((__rlimit_resource_t)what, &have) != 0)
		return errno;
	want.rlim_max = hard < have.rlim_max ? hard : have.rlim_max;
	want.rlim_cur = soft < want.rlim_max ? soft : want.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &want) != 0)
		return errno;
	return 0;
}

/* The second of grace after RLIMIT_CPU lets SIGXCPU name the limit. */
static int
child_limits(const struct spawn_limits *l)
{
	const struct {
		int what;
		uint64_t value;
	} rest[] = { { RLIMIT_DATA, l->memory_bytes },
		{ RLIMIT_NPROC, l->processes },
		{ RLIMIT_NOFILE, l->open_files },
		{ RLIMIT_FSIZE, l->file_bytes } };
	int e = child_limit(RLIMIT_CORE, 0, 0);

	if (e == 0 && l->cpu_s > 0)
		e = child_limit(RLIMIT_CPU, l->cpu_s, (rlim_t)l->cpu_s + 1);
	for (size_t i = 0; i < ARRAY_LEN(rest) && e == 0; i++)
		if (rest[i].value > 0)
			e = child_limit(
				rest[i].what, rest[i].value, rest[i].value);
	return e;
}

/*
 * Handlers would run in our memory, and what is ignored outlives exec.  The
 * bare call, since libc's refuses its own two signals, which some parents
 * leave ignored; all zero is SIG_DFL in the kernel's struct everywhere.
 */
static void
child_signals(void)
{
	static const uint64_t normal[8];

	for (int n = 1; n < NSIG; n++)
		syscall(SYS_rt_sigaction, n, normal, NULL, (size_t)(NSIG / 8));
}

static int
child_descriptors(const struct run *run)
{
	for (int fd = 0; fd < 3; fd++)
		if (dup2(run->child[fd], fd) < 0)
			return errno;
	return child_close();
}

/* Everything here is on the list of signal-safety(7), or a bare call. */
static int
child_main(void *arg)
{
	struct run *run = arg;
	const struct spawn *s = run->s;
	sigset_t none;
	int e;

	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (s->dir_fd >= 0 && fchdir(s->dir_fd) != 0)
		return child_failed(run, "chdir", errno);
	if ((e = child_descriptors(run)) != 0)
		return child_failed(run, "descriptors", e);
	if ((e = child_limits(&s->limits)) != 0)
		return child_failed(run, "limits", e);
	umask(077);
	child_signals();
	if (s->enter.child_enter != NULL &&
		(e = s->enter.child_enter(s->enter.ctx)) != 0)
		return child_failed(run, "sandbox", e);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(s->program, s->argv, s->envp);
	return child_failed(run, "exec", errno);
}

/* ----------------------------------------------------------- descriptors */

/* Remembers which step of ours failed; returns number. */
static int
fault(struct run *run, const char *step, int number)
{
	if (number != 0 && run->step == NULL) {
		run->step = step;
		run->number = number;
	}
	return number;
}

/* A pipe whose end of ours does not block.  0 or errno. */
static int
pipe_open(int *ours, int *childs, bool we_read)
{
	int ends[2], e = fd_pipe(ends);

	if (e != 0)
		return e;
	*ours = ends[we_read ? 0 : 1];
	*childs = ends[we_read ? 1 : 0];
	e = keep_clear(ours);
	if (e == 0)
		e = keep_clear(childs);
	if (e == 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		e = errno;
	return e;
}

/*
 * A terminal or pipe is opened anew, so that it can be non-blocking for us
 * without becoming so for everybody who shares it.
 */
static int
relay_open(struct run *run)
{
	int fd = run->s->stdin_fd;
	char path[32];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	run->relay_is_socket = S_ISSOCK(st.st_mode);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		run->relay = open(
			path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (run->relay < 0)
		run->relay = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return run->relay < 0 ? errno : 0;
}

static int
stdin_open(struct run *run)
{
	const struct spawn *s = run->s;
	int e;

	if (s->stdin_len == 0 && s->stdin_fd < 0) {
		run->child[0] = shared.null;
		return 0;
	}
	run->pending = s->stdin_data;
	run->pending_len = s->stdin_len;
	e = pipe_open(&run->feed, &run->child[0], false);
	return e != 0 || s->stdin_fd < 0 ? e : relay_open(run);
}

static int
run_open(struct run *run)
{
	int e = stdin_open(run);

	if (e == 0)
		e = pipe_open(&run->from[0], &run->child[1], true);
	if (e == 0)
		e = pipe_open(&run->from[1], &run->child[2], true);
	return fault(run, "descriptors", e);
}

static void
child_ends_close(struct run *run)
{
	if (run->child[0] == shared.null)
		run->child[0] = -1;
	for (int i = 0; i < 3; i++)
		fd_close(&run->child[i]);
}

static void
feed_close(struct run *run)
{
	fd_close(&run->feed);
	fd_close(&run->relay);
	run->pending_len = 0;
}

static void
run_close(struct run *run)
{
	child_ends_close(run);
	feed_close(run);
	fd_close(&run->from[0]);
	fd_close(&run->from[1]);
	fd_close(&run->pidfd);
}

/* --------------------------------------------------------------- signals */

/* It only has to end a ppoll; the clock decides. */
static void
on_alarm(int number)
{
	(void)number;
}

/*
 * Nothing is delivered but inside ppoll.  SIGCHLD waits until the end, so that
 * a host's handler cannot reap the child; where the host ignores it the
 * kernel would, so it does not for now.  SIGPIPE is an EPIPE here.
 */
static void
signals_hold(struct run *run)
{
	struct sigaction normal = { .sa_handler = SIG_DFL };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &run->old_mask);
	run->wait_mask = run->old_mask;
	sigaddset(&run->wait_mask, SIGPIPE);
	sigaddset(&run->wait_mask, SIGCHLD);
	sigaction(SIGCHLD, NULL, &run->old_child);
	if (run->old_child.sa_handler == SIG_IGN ||
		run->old_child.sa_flags & SA_NOCLDWAIT)
		sigaction(SIGCHLD, &normal, NULL);
}

/* Takes a pending signal back, so that the host never sees it. */
static void
signal_discard(int number)
{
	struct timespec now = { 0 };
	sigset_t one;

	sigemptyset(&one);
	sigaddset(&one, number);
	sigtimedwait(&one, NULL, &now);
}

static void
signals_release(struct run *run)
{
	if (run->old_child.sa_handler == SIG_IGN ||
		run->old_child.sa_flags & SA_NOCLDWAIT) {
		sigaction(SIGCHLD, &run->old_child, NULL);
		signal_discard(SIGCHLD);
	}
	if (run->piped)
		signal_discard(SIGPIPE);
	sigprocmask(SIG_SETMASK, &run->old_mask, NULL);
}

static void
alarm_arm(struct run *run)
{
	struct sigaction wake = { .sa_handler = on_alarm };
	uint32_t ms = run->s->limits.timeout_ms;
	struct itimerval timer = { .it_value = { .tv_sec = ms / 1000,
					   .tv_usec = ms % 1000 * 1000 } };

	if (ms == 0)
		return;
	sigdelset(&run->wait_mask, SIGALRM);
	sigaction(SIGALRM, &wake, &run->old_alarm);
	setitimer(ITIMER_REAL, &timer, &run->old_timer);
}

/* A timer of the host's goes on, shorter by what the run took. */
static void
alarm_disarm(struct run *run)
{
	struct itimerval *old = &run->old_timer;
	uint64_t value = (uint64_t)old->it_value.tv_sec * 1000000 +
		(uint64_t)old->it_value.tv_usec;
	uint64_t spent = clock_us() - run->start_us;

	if (run->s->limits.timeout_ms == 0)
		return;
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	signal_discard(SIGALRM);
	sigaction(SIGALRM, &run->old_alarm, NULL);
	if (value == 0)
		return;
	value = value > spent ? value - spent : 1;
	old->it_value.tv_sec = (time_t)(value / 1000000);
	old->it_value.tv_usec = (suseconds_t)(value % 1000000);
	setitimer(ITIMER_REAL, old, NULL);
}

/* ------------------------------------------------------------ in and out */

/* The first reason stays. */
static void
stop(struct run *run, enum spawn_end end)
{
	if (!run->over)
		run->r->end = end;
	run->over = true;
}

/* Something of ours failed in the middle: the run cannot go on honestly. */
static void
fail(struct run *run, const char *step, int number)
{
	fault(run, step, number);
	stop(run, SPAWN_FAILED);
}

/* A callback may block; it does so with the host's signals open. */
static bool
deliver(struct run *run, int stream, const char *data, size_t len)
{
	const struct spawn *s = run->s;
	sigset_t held;

	if (s->output == NULL)
		return buf_add(
			stream == 1 ? &run->r->out : &run->r->err, data, len);
	sigprocmask(SIG_SETMASK, &run->wait_mask, &held);
	s->output(s->output_ctx, stream, data, len);
	sigprocmask(SIG_SETMASK, &held, NULL);
	run->piped = true;
	return true;
}

/*
 * Reads at most max bytes once.  One byte over the ceiling is asked for, to
 * know; it is not kept.
 */
static size_t
take(struct run *run, int stream, size_t max)
{
	static char chunk[65536];
	int *fd = &run->from[stream - 1];
	size_t keep;
	ssize_t n;

	if (max > sizeof(chunk))
		max = sizeof(chunk);
	if (max > run->left && run->left < sizeof(chunk))
		max = (size_t)run->left + 1;
	n = read(*fd, chunk, max);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		fail(run, "read", errno);
	if (n <= 0) {
		fd_close(fd);
		return 0;
	}
	keep = (size_t)n > run->left ? (size_t)run->left : (size_t)n;
	if (keep > 0 && !deliver(run, stream, chunk, keep)) {
		fail(run, "output", ENOMEM);
		return 0;
	}
	run->left -= keep;
	if ((size_t)n > keep)
		stop(run, SPAWN_OUTPUT);
	return keep;
}

static void
feed(struct run *run)
{
	ssize_t n = write(run->feed, run->pending, run->pending_len);

	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return;
		if (errno != EPIPE)
			fail(run, "write", errno);
		run->piped = true;
		feed_close(run);
		return;
	}
	run->pending += n;
	run->pending_len -= (size_t)n;
	if (run->pending_len == 0 && run->relay < 0)
		feed_close(run);
}

static void
relay(struct run *run)
{
	static char chunk[16384];
	ssize_t n = run->relay_is_socket
		? recv(run->relay, chunk, sizeof(chunk), MSG_DONTWAIT)
		: read(run->relay, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0 && errno != EIO) /* a terminal that hung up, or not ours */
		fail(run, "stdin", errno);
	if (n <= 0) {
		feed_close(run);
		return;
	}
	run->pending = chunk;
	run->pending_len = (size_t)n;
	feed(run);
}

/* -------------------------------------------------------------- the wait */

enum { OUT, ERR, CHILD, FEED, RELAY, CLIENT, SLOTS };

static void
wait_for(const struct run *run, struct pollfd p[static SLOTS])
{
	bool idle = run->pending_len == 0;

	p[OUT] = (struct pollfd){ run->from[0], POLLIN, 0 };
	p[ERR] = (struct pollfd){ run->from[1], POLLIN, 0 };
	p[CHILD] = (struct pollfd){ run->pidfd, POLLIN, 0 };
	p[FEED] = (struct pollfd){ run->feed, idle ? 0 : POLLOUT, 0 };
	p[RELAY] = (struct pollfd){ idle ? run->relay : -1, POLLIN, 0 };
	p[CLIENT] = (struct pollfd){ run->s->client_fd, POLLRDHUP, 0 };
}

/* How long ppoll may sleep; NULL: as long as nothing happens. */
static const struct timespec *
wait_time(const struct run *run, struct timespec *t)
{
	uint64_t now, us = UINT64_MAX;

	if (run->deadline_us != 0) {
		now = clock_us();
		us = run->deadline_us > now ? run->deadline_us - now : 0;
	}
	if (run->pidfd < 0 && us > TICK_US)
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
wait_turn(struct run *run)
{
	struct pollfd p[SLOTS];
	struct timespec t;

	wait_for(run, p);
	if (ppoll(p, SLOTS, wait_time(run, &t), &run->wait_mask) < 0) {
		if (errno != EINTR)
			fail(run, "ppoll", errno);
		memset(p, 0, sizeof(p));
	}
	for (int stream = 1; stream <= 2; stream++)
		if (p[stream - 1].revents != 0 && !run->over)
			take(run, stream, SIZE_MAX);
	if (p[FEED].revents & POLLOUT)
		feed(run);
	else if (p[FEED].revents != 0)
		feed_close(run);
	else if (p[RELAY].revents != 0)
		relay(run);
	if (p[CHILD].revents != 0 || (run->pidfd < 0 && child_is_dead(run)))
		stop(run, SPAWN_EXITED);
	if (p[CLIENT].revents & (POLLRDHUP | POLLHUP | POLLERR))
		stop(run, SPAWN_GONE);
	if (run->deadline_us != 0 && clock_us() >= run->deadline_us)
		stop(run, SPAWN_TIMEOUT);
}

static void
run_wait(struct run *run)
{
	alarm_arm(run);
	while (!run->over)
		wait_turn(run);
	alarm_disarm(run);
	run->r->run_us = clock_us() - run->start_us;
}

/* --------------------------------------------------------------- the end */

/*
 * Reaps the child itself.  Its group is killed first: as long as it is not
 * reaped the number is its own.
 */
static int
bury(struct run *run)
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
			return fault(run, "wait4", errno);
		if (clock_left_ms(deadline) == 0)
			return fault(run, "kill", ETIME);
		poll(&p, 1, run->pidfd < 0 ? 1 : 10);
	}
}

/*
 * Everybody is dead: what is in the pipes now is all that will come.  The
 * ceiling still holds for a run that ended well.
 */
static void
drain(struct run *run)
{
	size_t n;
	int there;

	run->over = run->r->end != SPAWN_EXITED;
	for (int stream = 1; stream <= 2; stream++) {
		if (run->from[stream - 1] < 0)
			continue;
		if (ioctl(run->from[stream - 1], FIONREAD, &there) != 0) {
			fail(run, "drain", errno);
			return;
		}
		while (there > 0 && (n = take(run, stream, (size_t)there)) > 0)
			there -= (int)n;
	}
}

/* SIGKILL comes from RLIMIT_CPU when the time it grants was used. */
static const char *
limit_of_signal(const struct run *run, int number)
{
	const struct timeval *u = &run->usage.ru_utime;
	const struct timeval *k = &run->usage.ru_stime;
	uint32_t cpu_s = run->s->limits.cpu_s;

	if (number == SIGXCPU)
		return "cpu";
	if (number == SIGXFSZ)
		return "file";
	if (number == SIGKILL && cpu_s > 0 && u->tv_sec + k->tv_sec >= cpu_s)
		return "cpu";
	return NULL;
}

static void
classify(struct run *run)
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
	case SPAWN_TIMEOUT: r->limit = "wall"; break;
	case SPAWN_OUTPUT: r->limit = "output"; break;
	case SPAWN_SIGNALLED:
	case SPAWN_GONE:
	case SPAWN_FAILED: break;
	}
}

/* Nothing of it stays, however it ended. */
static void
run_end(struct run *run)
{
	int e = bury(run);

	if (e == 0)
		fault(run, "reap", reap_all(&run->reap, DEATH_MS));
	if (run->r->failed_step != NULL) {
		run->r->end = SPAWN_FAILED;
		return;
	}
	drain(run);
	classify(run);
}

/*
 * Returns when the child has become the program, or could not.  CLONE_PIDFD
 * is refused by some sandboxed kernels.
 */
static int
run_start(struct run *run)
{
	int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
	char *top = shared.stack + STACK_BYTES;

	run->start_us = clock_us();
	if (run->s->limits.timeout_ms > 0)
		run->deadline_us = run->start_us +
			(uint64_t)run->s->limits.timeout_ms * 1000;
	run->pid =
		clone(child_main, top, flags | CLONE_PIDFD, run, &run->pidfd);
	if (run->pid < 0 && errno == EINVAL)
		run->pid = clone(child_main, top, flags, run);
	if (run->pid < 0)
		return fault(run, "clone", errno);
	child_ends_close(run);
	return 0;
}

static void
run_through(struct run *run)
{
	signals_hold(run);
	if (run_start(run) == 0) {
		if (run->r->failed_step == NULL)
			run_wait(run);
		run_end(run);
	}
	signals_release(run);
}

static size_t
ceiling(const struct spawn_limits *l)
{
	return l->output_bytes == 0 || l->output_bytes > SIZE_MAX / 2
		? SIZE_MAX / 2
		: (size_t)l->output_bytes;
}

enum ss_err
spawn_run(const struct spawn *s, struct spawn_result *r, struct ss_error *err)
{
	size_t most = ceiling(&s->limits);
	struct run run = {
		.s = s,
		.r = r,
		.reap = { .own_namespace = s->own_pid_namespace },
		.pidfd = -1,
		.child = { -1, -1, -1 },
		.from = { -1, -1 },
		.feed = -1,
		.relay = -1,
		.left = most,
	};

	*r = (struct spawn_result){
		.end = SPAWN_FAILED,
		.out = BUF_INIT(most),
		.err = BUF_INIT(most),
	};
	if (fault(&run, "prepare", spawn_prepare()) == 0 &&
		fault(&run, "children", reap_note(&run.reap)) == 0 &&
		run_open(&run) == 0)
		run_through(&run);
	run_close(&run);
	reap_release(&run.reap);
	if (run.step == NULL)
		return SS_OK;
	return error_internal(err, run.number, "spawn: %s", run.step);
}

void
spawn_result_release(struct spawn_result *r)
{
	buf_release(&r->out);
	buf_release(&r->err);
}

/* --------------------------------------------------------------- finding */

static bool
is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
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
			(name[0] != '/' || is_program(path));
	}
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		n = snprintf(path, cap, "%s/%s", folders[i], name);
		if (n >= 0 && (size_t)n < cap && is_program(path))
			return true;
	}
	return false;
}
