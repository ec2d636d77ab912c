/* SPDX-License-Identifier: MIT */
/*
 * One child from start to end (core/README.md, The sandbox): what it is given,
 * how it is fed, what ends it, and that nothing of it is left.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "run/spawn.h"
#include "tap.h"

static char base[] = "/tmp/ss-spawn-XXXXXX";
static char path_line[] = "PATH=/usr/bin:/bin";
static char *envp[] = { path_line, NULL };

static struct spawn_result r;
static struct ss_error err;

/* execve(2) takes words that it does not change as char *. */
static char *
word(const char *constant)
{
	return (char *)(uintptr_t)constant;
}

static struct spawn
spawn_of(char *const argv[])
{
	return (struct spawn){
		.program = argv[0],
		.argv = argv,
		.envp = envp,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = { .timeout_ms = 20000, .output_bytes = 1 << 20 },
	};
}

/* `sh -c script`, ready to be changed and run. */
static struct spawn
shell(const char *script)
{
	static char *argv[4];

	argv[0] = word("/bin/sh");
	argv[1] = word("-c");
	argv[2] = word(script);
	return spawn_of(argv);
}

static bool
run(const struct spawn *s)
{
	spawn_result_release(&r);
	if (spawn_run(s, &r, &err) == SS_OK)
		return true;
	printf("# %s: %s\n", err.detail, strerror(err.sys_errno));
	return false;
}

static bool
run_shell(const char *script)
{
	struct spawn s = shell(script);

	return run(&s);
}

static const char *
text(const struct buf *b)
{
	return b->data;
}

static bool
no_children(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 &&
		errno == ECHILD;
}

/* Whether the process whose number a tool printed is still there. */
static bool
is_gone(const char *number)
{
	pid_t pid = (pid_t)strtol(number, NULL, 10);

	return pid > 1 && kill(pid, 0) != 0 && errno == ESRCH;
}

/* ---------------------------------------------------------- what it gets */

static void
test_start(void)
{
	ok(run_shell("echo out; echo err >&2; exit 7"), "a program runs");
	is_int(SPAWN_EXITED, r.end, "it ends by itself");
	is_int(7, r.status, "its exit code is told");
	is_str("out\n", text(&r.out), "stdout is collected");
	is_str("err\n", text(&r.err), "stderr apart from it");
	ok(r.limit == SPAWN_LIMIT_NONE, "no limit ended it");
	ok(r.run_us > 0, "its time is told");
	run_shell("kill -TERM $$");
	ok(r.end == SPAWN_SIGNALLED && r.status == SIGTERM,
		"death by a signal is told");
	run_shell("wc -c");
	is_str("0\n", text(&r.out), "stdin is empty when nothing is given");
}

static void
test_surroundings(void)
{
	struct spawn s = shell("pwd; umask; cat marker");
	int dir = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char *argv0[] = { word("by-this-name"), word("-c"), word("echo $0"),
		NULL };
	char expected[128];
	int fd;

	fd = openat(dir, "marker", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	fd_write_all(fd, "here", 4);
	close(fd);
	s.dir_fd = dir;
	run(&s);
	snprintf(expected, sizeof(expected), "%s\n0077\nhere", base);
	is_str(expected, text(&r.out), "directory and umask are set");
	s = spawn_of(argv0);
	s.program = "/bin/sh";
	run(&s);
	is_str("by-this-name\n", text(&r.out), "argv[0] is the caller's");
	run_shell("env | sort | grep -v -e ^PWD= -e ^_= -e ^SHLVL= "
		  "-e ^OLDPWD=");
	is_str("PATH=/usr/bin:/bin\n", text(&r.out),
		"the environment is what was given");
	run_shell("ps -o pid=,pgid=,sid= -p $$ | "
		  "awk '{ print ($1 == $2 && $2 == $3) }'");
	is_str("1\n", text(&r.out), "the child leads a session of its own");
	close(dir);
}

static void
test_descriptors(void)
{
	int leak = open("/etc/passwd", O_RDONLY); /* without close-on-exec */
	int before;

	spawn_prepare();
	before = open_count();
	run_shell("ls /proc/self/fd | tr '\\n' ' '");
	/* The fourth is the folder that ls reads. */
	is_str("0 1 2 3 ", text(&r.out), "no descriptor comes through");
	is_int(before, open_count(), "a run leaves no descriptor open");
	close(leak);
}

/* A host whose own 0, 1, 2 are closed. */
static void
test_closed_stdio(void)
{
	int kept[3], fd;
	bool well;

	for (fd = 0; fd < 3; fd++) {
		kept[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
		close(fd);
	}
	struct spawn s = shell("cat; echo err >&2");
	s.stdin_data = "fed";
	s.stdin_len = 3;
	well = run(&s) && strcmp(text(&r.out), "fed") == 0 &&
		strcmp(text(&r.err), "err\n") == 0;
	for (fd = 0; fd < 3; fd++) {
		dup2(kept[fd], fd);
		close(kept[fd]);
	}
	ok(well, "works where 0, 1 and 2 are closed");
}

static void
ignored(int number)
{
	(void)number;
}

static void
test_signals(void)
{
	struct sigaction ign = { .sa_handler = SIG_IGN };
	struct sigaction hand = { .sa_handler = ignored }, pipe_was, now;
	sigset_t block, was, after;

	sigaction(SIGPIPE, &ign, &pipe_was);
	sigaction(SIGUSR2, &hand, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, &was);
	/* Not grep on its own status: it catches SIGSEGV. */
	run_shell("cat /proc/self/status | grep -E '^Sig(Blk|Ign|Cgt)' | "
		  "awk '{ print $2 }' | sort -u");
	is_str("0000000000000000\n", text(&r.out),
		"no signal is blocked, ignored or caught in the child");
	sigprocmask(SIG_SETMASK, NULL, &after);
	ok(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGTERM),
		"our own mask is as before");
	sigaction(SIGPIPE, NULL, &now);
	ok(now.sa_handler == SIG_IGN, "our own dispositions too");
	sigprocmask(SIG_SETMASK, &was, NULL);
	sigaction(SIGPIPE, &pipe_was, NULL);
	signal(SIGUSR2, SIG_DFL);
}

/* In a fork: this process stays a host. */
static void
test_settled(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGUSR2, ignored);
		spawn_settle();
		for (int i = 0; i < 2; i++) {
			run_shell("cat /proc/self/status | grep -E "
				  "'^Sig(Blk|Ign|Cgt)' | awk '{ print $2 }' | "
				  "sort -u");
			if (strcmp(text(&r.out), "0000000000000000\n") != 0)
				_exit(1);
		}
		_exit(0);
	}
	waitpid(pid, &status, 0);
	is_int(0, status, "nor in the children of a settled process");
}

static void
test_sigchld(void)
{
	struct sigaction now;

	signal(SIGCHLD, SIG_IGN);
	run_shell("exit 9");
	is_int(9, r.status, "a host that ignores SIGCHLD gets the exit code");
	sigaction(SIGCHLD, NULL, &now);
	ok(now.sa_handler == SIG_IGN, "and still ignores it");
	signal(SIGCHLD, SIG_DFL);
}

static void
test_limits(void)
{
	struct spawn s = shell("ulimit -c; ulimit -n; ulimit -f; ulimit -t; "
			       "ulimit -d; ulimit -Ht");

	s.limits.open_files = 33;
	s.limits.file_bytes = 1024 * 512;
	s.limits.cpu_s = 5;
	s.limits.memory_bytes = 64 << 20;
	run(&s);
	is_str("0\n33\n1024\n5\n65536\n6\n", text(&r.out),
		"the limits are set, and no core is dumped");
	s = shell("sed -n 's/^Max core file size *//p' /proc/self/limits | "
		  "tr -s ' '");
	run(&s);
	is_str("1 1 bytes \n", text(&r.out),
		"nor handed to a program of the host: 1 is the word for that");
	s = shell("exec dd if=/dev/zero of=big bs=4096 count=100 2>&1");
	s.dir_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	s.limits.file_bytes = 8192;
	run(&s);
	ok(r.end == SPAWN_SIGNALLED && r.status == SIGXFSZ, "SIGXFSZ comes");
	is_str("file", spawn_limit_name(r.limit), "and the limit has a name");
	close(s.dir_fd);
	s = shell("while :; do :; done");
	s.limits.cpu_s = 1;
	run(&s);
	ok(r.end == SPAWN_SIGNALLED && r.status == SIGXCPU, "SIGXCPU comes");
	is_str("cpu", spawn_limit_name(r.limit), "and that limit has a name");
	s = shell("trap '' XCPU; while :; do :; done");
	s.limits.cpu_s = 1;
	run(&s);
	ok(r.end == SPAWN_SIGNALLED && r.status == SIGKILL,
		"who ignores it is killed a second later");
	is_str("cpu", spawn_limit_name(r.limit), "for the same limit");
}

/* A soft limit above the hard one we have ourselves: the hard one stays. */
static void
test_lower_hard_limit(void)
{
	struct spawn s = shell("ulimit -n");
	pid_t child = fork();
	int status;

	if (child == 0) {
		struct rlimit low = { 50, 50 };

		setrlimit(RLIMIT_NOFILE, &low);
		if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
			_exit(9);
		s.limits.open_files = 4096;
		_exit(run(&s) && strcmp(text(&r.out), "50\n") == 0 ? 0 : 1);
	}
	waitpid(child, &status, 0);
	is_int(0, status, "a hard limit that is lower already is kept");
}

/* --------------------------------------------------------------- failing */

static int
refuse_to_enter(void *ctx)
{
	return *(const int *)ctx;
}

static int
mark(void *ctx)
{
	*(volatile pid_t *)ctx = getpid();
	return 0;
}

static void
test_failure(void)
{
	char *nothing[] = { word("/nonexistent/tool"), NULL };
	struct spawn s = spawn_of(nothing);
	int number = EPROTO;
	pid_t entered = 0;

	ok(run(&s), "a program that is not there is no fault of ours");
	is_int(SPAWN_FAILED, r.end, "it never ran");
	is_str("exec", spawn_step_name(r.failed_step), "the step is named");
	is_int(ENOENT, r.failed_errno, "with its errno");
	s = shell("echo ran");
	s.dir_fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	run(&s);
	ok(r.end == SPAWN_FAILED && r.failed_errno == ENOTDIR,
		"a directory that is none: it never ran");
	is_str("chdir", spawn_step_name(r.failed_step),
		"that step has its name");
	close(s.dir_fd);
	s = shell("echo ran");
	s.enter.child_enter = refuse_to_enter;
	s.enter.ctx = &number;
	run(&s);
	ok(r.end == SPAWN_FAILED && r.failed_errno == EPROTO &&
			r.failed_step == SPAWN_STEP_SANDBOX,
		"a sandbox that does not come up: it never ran");
	is_int(0, (long long)r.out.len, "not a byte came out");
	s.enter.child_enter = mark;
	s.enter.ctx = &entered;
	run(&s);
	ok(r.end == SPAWN_EXITED && entered > 0 && entered != getpid(),
		"what has to be done before exec is done in the child");
	ok(no_children(), "no zombie is left of any of them");
}

/* ----------------------------------------------------------------- input */

static char *
pattern(size_t len)
{
	char *data = malloc(len);

	for (size_t i = 0; data != NULL && i < len; i++)
		data[i] = (char)('a' + i * 7 % 26);
	return data;
}

static void
test_input(void)
{
	size_t len = 300 * 1024;
	char *data = pattern(len);
	struct spawn s = shell("cat");

	s.stdin_data = data;
	s.stdin_len = len;
	run(&s);
	ok(r.out.len == len && memcmp(r.out.data, data, len) == 0,
		"300 KB go in and come out without a deadlock");
	s = shell("cat | tee /dev/stderr");
	s.stdin_data = data;
	s.stdin_len = len;
	run(&s);
	ok(r.out.len == len && r.err.len == len, "and out of both pipes");
	s = shell("head -c 5; exec 0</dev/null; sleep 0.05; echo done");
	s.stdin_data = data;
	s.stdin_len = len;
	ok(run(&s) && strcmp(text(&r.out), "abcde") != 0,
		"a tool that stops reading does no harm");
	ok(r.end == SPAWN_EXITED && strstr(text(&r.out), "done") != NULL,
		"and it is no SIGPIPE of ours");
	free(data);
}

static void
relay_of(int fd, const char *script, uint32_t timeout_ms)
{
	struct spawn s = shell(script);

	s.stdin_fd = fd;
	s.limits.timeout_ms = timeout_ms;
	run(&s);
}

static void
test_relay(void)
{
	int ends[2], pair[2], fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct stat st;

	fstat(fd, &st);
	relay_of(fd, "wc -c", 5000);
	is_int(st.st_size, atoi(text(&r.out)), "a file is relayed");
	close(fd);

	fd_pipe(ends);
	fd_write_all(ends[1], "through a pipe", 14);
	fd_close(&ends[1]);
	relay_of(ends[0], "cat", 5000);
	is_str("through a pipe", text(&r.out), "a pipe is relayed to its end");
	fd_close(&ends[0]);

	fd_pipe(ends);
	relay_of(ends[0], "echo early", 5000);
	ok(r.end == SPAWN_EXITED && r.run_us < 2000000,
		"a silent stdin does not hold a run that has ended");
	relay_of(ends[0], "cat", 100);
	is_int(SPAWN_TIMEOUT, r.end, "nor its time limit");
	is_int(0, fcntl(ends[0], F_GETFL) & O_NONBLOCK,
		"our stdin stays blocking for those who share it");
	fd_close(&ends[0]), fd_close(&ends[1]);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return;
	fd_write_all(pair[1], "through a socket", 16);
	shutdown(pair[1], SHUT_WR);
	relay_of(pair[0], "cat", 5000);
	is_str("through a socket", text(&r.out), "a socket is relayed");
	close(pair[0]), close(pair[1]);
}

static void
test_terminal(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave = -1;

	if (master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0)
		slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (slave < 0) {
		skip(2, "no terminal to be had");
		return;
	}
	relay_of(slave, "echo early", 5000);
	is_str("early\n", text(&r.out), "a terminal does not hold the loop");
	fd_write_all(master, "typed\n", 6);
	relay_of(slave, "head -n 1; test -t 0 || echo no terminal", 5000);
	is_str("typed\nno terminal\n", text(&r.out),
		"what is typed goes through a pipe");
	close(slave), close(master);
}

/* ---------------------------------------------------------------- output */

static void
test_ceiling(void)
{
	struct spawn s = shell("head -c 1048576 /dev/zero");

	run(&s);
	ok(r.end == SPAWN_EXITED && r.out.len == 1 << 20,
		"1 MiB passes under a ceiling of 1 MiB");
	s = shell("head -c 1048577 /dev/zero");
	run(&s);
	ok(r.end == SPAWN_OUTPUT && r.out.len == 1 << 20,
		"one byte more is cut");
	is_str("output", spawn_limit_name(r.limit), "and the limit has a name");
	s = shell("yes >&2");
	run(&s);
	ok(r.end == SPAWN_OUTPUT && r.err.len == 1 << 20,
		"stderr has the same ceiling");
	s = shell("(yes >&2) & yes");
	run(&s);
	is_int(SPAWN_OUTPUT, r.end, "both streams count together");
	is_int(1 << 20, (long long)(r.out.len + r.err.len),
		"up to the last byte");
	ok(r.run_us < 5000000, "a flood ends at once");
	s = shell("yes | head -c 3000000");
	s.limits.output_bytes = 0;
	run(&s);
	is_int(3000000, (long long)r.out.len, "no ceiling is none");
	s = shell("echo x");
	s.limits.output_bytes = 1;
	run(&s);
	ok(r.end == SPAWN_OUTPUT && r.out.len == 1,
		"the ceiling holds for what is found after the end");
}

struct seen {
	size_t stream[3];
	bool ordered;
};

static void
look(void *ctx, int stream, const char *data, size_t len)
{
	struct seen *seen = ctx;

	(void)data;
	seen->stream[stream] += len;
}

static void
test_callback(void)
{
	struct spawn s = shell("echo one; echo three >&2");
	struct seen seen = { 0 };

	s.output = look;
	s.output_ctx = &seen;
	run(&s);
	ok(seen.stream[1] == 4 && seen.stream[2] == 6,
		"output goes to the callback as it comes");
	ok(r.out.len == 0 && r.err.len == 0, "and is not collected then");
}

/* -------------------------------------------------------------- the ends */

static void
test_holders(void)
{
	uint64_t start = clock_ms();

	run_shell("sleep 30 & echo $!; echo done");
	ok(r.end == SPAWN_EXITED && clock_ms() - start < 5000,
		"a background process that holds the pipes holds nothing up");
	ok(strstr(text(&r.out), "done") != NULL, "what was written is there");
	ok(is_gone(text(&r.out)), "and it is dead afterwards");
	run_shell("setsid sh -c 'sleep 30 & echo $!; exec >&- 2>&-; wait' & "
		  "sleep 0.1");
	ok(is_gone(text(&r.out)), "a daemon in a session of its own is dead");
	run_shell("for i in 1 2 3 4 5 6 7 8; do setsid sh -c "
		  "'trap \"\" TERM HUP INT; (setsid sleep 30 &) ; sleep 30' "
		  ">/dev/null 2>&1 & done; echo ok");
	is_str("ok\n", text(&r.out), "many daemons of daemons: it ends");
	ok(no_children(), "and nobody is left");
	run_shell("sh -c 'echo $$; kill -STOP $$' & sleep 0.1; echo x");
	ok(is_gone(text(&r.out)), "a stopped process is dead");
}

static void
test_timeout(void)
{
	struct spawn s = shell("trap '' TERM INT HUP ALRM; exec >&- 2>&- <&-; "
			       "while :; do sleep 1; done");
	uint64_t start = clock_ms();

	s.limits.timeout_ms = 200;
	run(&s);
	is_int(SPAWN_TIMEOUT, r.end, "the clock ends what closed its pipes");
	is_str("wall", spawn_limit_name(r.limit), "and the limit has a name");
	ok(clock_ms() - start >= 200 && clock_ms() - start < 2000, "in time");
	s = shell("echo before; setsid sleep 30 & sleep 30");
	s.limits.timeout_ms = 300;
	run(&s);
	ok(r.end == SPAWN_TIMEOUT && strcmp(text(&r.out), "before\n") == 0,
		"what came before the end is kept");
	ok(no_children(), "nobody is left after it");
	s = shell("kill -STOP $$");
	s.limits.timeout_ms = 200;
	run(&s);
	is_int(SPAWN_TIMEOUT, r.end, "a stopped tool meets its time limit");
}

static int alarms;

static void
count_alarm(int number)
{
	(void)number;
	alarms++;
}

static void
test_timer_given_back(void)
{
	struct sigaction mine = { .sa_handler = count_alarm }, now;
	struct itimerval timer = { .it_value = { .tv_sec = 100 } }, rest;
	struct spawn s = shell("sleep 1");

	sigaction(SIGALRM, &mine, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	s.limits.timeout_ms = 100;
	run(&s);
	sigaction(SIGALRM, NULL, &now);
	getitimer(ITIMER_REAL, &rest);
	ok(now.sa_handler == count_alarm, "SIGALRM is handled as before");
	is_int(0, alarms, "our alarm is not the host's");
	ok(rest.it_value.tv_sec >= 95 && rest.it_value.tv_sec < 100,
		"a timer of the host's goes on");
	timer.it_value.tv_sec = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	signal(SIGALRM, SIG_DFL);
}

/* A handler of the host's runs while we wait, and the run goes on. */
static void
test_interrupted(void)
{
	struct sigaction mine = { .sa_handler = count_alarm };
	char script[64];

	alarms = 0;
	sigaction(SIGUSR1, &mine, NULL);
	snprintf(script, sizeof(script), "kill -USR1 %d; sleep 0.1; echo on",
		(int)getpid());
	run_shell(script);
	ok(alarms == 1 && strcmp(text(&r.out), "on\n") == 0,
		"a signal to the host is handled and disturbs nothing");
	signal(SIGUSR1, SIG_DFL);
}

static void
test_client(void)
{
	struct spawn s = shell("sleep 30");
	int pair[2], ends[2];
	uint64_t start = clock_ms();

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return;
	close(pair[1]);
	s.client_fd = pair[0];
	run(&s);
	is_int(SPAWN_GONE, r.end, "a client that hangs up ends the run");
	ok(clock_ms() - start < 5000 && no_children(), "with all of it");
	close(pair[0]);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return;
	fd_write_all(pair[1], "more", 4);
	s = shell("sleep 0.1; echo stayed");
	s.client_fd = pair[0];
	run(&s);
	is_str("stayed\n", text(&r.out), "one that says more does not");
	close(pair[0]), close(pair[1]);
	fd_pipe(ends);
	fd_close(&ends[1]);
	s = shell("sleep 30");
	s.client_fd = ends[0];
	run(&s);
	is_int(SPAWN_GONE, r.end, "a pipe that closes serves as a stop");
	fd_close(&ends[0]);
}

/* A host's own child, and one that it had not reaped yet. */
static void
test_spared(void)
{
	pid_t own = fork(), zombie;
	siginfo_t info;
	int status;

	if (own == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		pause();
		_exit(0);
	}
	zombie = fork();
	if (zombie == 0)
		_exit(42);
	waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT);
	run_shell("setsid sh -c 'echo $$; exec sleep 30' & sleep 0.1");
	ok(is_gone(text(&r.out)), "the tool's daemon is dead");
	is_int(0, waitpid(own, NULL, WNOHANG), "a child of the host's lives");
	is_int(zombie, waitpid(zombie, &status, WNOHANG),
		"one that it has to reap is left to it");
	is_int(42, WEXITSTATUS(status), "with its exit code");
	kill(own, SIGKILL);
	waitpid(own, NULL, 0);
}

/*
 * Processes that keep fleeing: each forks the next into a new session and
 * ends.  At most a few live at once; if nobody caught them they would go on
 * for 15 s, so that a broken reap does not spoil the machine.
 */
static void
test_storm(void)
{
	static const char script[] =
		"use POSIX; $SIG{TERM} = 'IGNORE'; "
		"my $end = time + 15; for (1 .. 3) { next if fork; "
		"while (time < $end) { exit if fork; POSIX::setsid() } "
		"exit } "
		"select undef, undef, undef, 0.2";
	char *argv[] = { word("/usr/bin/perl"), word("-e"), word(script),
		NULL };
	struct spawn s = spawn_of(argv);
	uint64_t start = clock_ms();

	if (access(argv[0], X_OK) != 0) {
		skip(2, "no perl");
		return;
	}
	ok(run(&s), "a storm of forks is caught");
	printf("# in %u ms\n", (unsigned)(clock_ms() - start));
	ok(no_children(), "to the last of them");
}

/*
 * A bomb: everybody forks and flees as fast as it can, up to a limit that is
 * always reached.  Only an account of its own can have that limit here.
 */
static int
in_bomb(void)
{
	static const char script[] =
		"use POSIX; $SIG{$_} = 'IGNORE' "
		"for qw(TERM HUP INT); my $end = time + 15; "
		"while (time < $end) { fork; POSIX::setsid() }";
	char *argv[] = { word("/usr/bin/perl"), word("-e"), word(script),
		NULL };
	struct spawn s = spawn_of(argv);

	if (setresgid(64998, 64998, 64998) != 0 ||
		setresuid(64998, 64998, 64998) != 0)
		return 3;
	s.limits.timeout_ms = 200;
	s.limits.processes = 100;
	return run(&s) && r.end == SPAWN_TIMEOUT && no_children() ? 0 : 1;
}

static void
test_bomb(void)
{
	uint64_t start = clock_ms();
	int status;
	pid_t child;

	if (geteuid() != 0 || access("/usr/bin/perl", X_OK) != 0) {
		skip(1, "needs root, to become a user without processes");
		return;
	}
	child = fork();
	if (child == 0)
		_exit(in_bomb());
	waitpid(child, &status, 0);
	is_int(0, status, "a fork bomb is ended to the last process");
	printf("# in %u ms\n", (unsigned)(clock_ms() - start));
}

/* In a child process, since entering a namespace cannot be undone. */
static int
in_namespace(void)
{
	struct spawn s = shell("setsid sh -c 'sleep 30' >/dev/null 2>&1 & "
			       "sleep 0.1; echo well");
	int status;
	pid_t first;

	if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
		return 77;
	first = fork();
	if (first == 0) {
		s.own_pid_namespace = true;
		_exit(run(&s) && strcmp(text(&r.out), "well\n") == 0 &&
					no_children() && kill(-1, 0) != 0
				? 0
				: 1);
	}
	waitpid(first, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static void
test_namespace(void)
{
	pid_t outer = fork();
	int status;

	if (outer == 0)
		_exit(in_namespace());
	waitpid(outer, &status, 0);
	if (WEXITSTATUS(status) == 77)
		skip(1, "no user namespaces");
	else
		is_int(0, status, "in a pid namespace of ours, all are ended");
}

static void
test_many(void)
{
	char *argv[] = { word("/bin/true"), NULL };
	struct spawn s = spawn_of(argv);
	int before = open_count();
	unsigned failed = 0;

	for (unsigned i = 0; i < 1000; i++)
		failed += !run(&s) || r.end != SPAWN_EXITED || r.status != 0;
	is_int(0, failed, "a thousand runs all run");
	is_int(before, open_count(), "and leave the descriptors as they were");
	ok(no_children(), "and no zombie");
}

static void
test_find(void)
{
	char path[64];

	ok(spawn_find("sh", path, sizeof(path)) && path[0] == '/' &&
			access(path, X_OK) == 0,
		"a program without a slash is looked up");
	ok(!spawn_find("no-such-program-here", path, sizeof(path)),
		"one that is not there is not found");
	ok(!spawn_find("", path, sizeof(path)), "no name is no program");
	ok(spawn_find("/bin/sh", path, sizeof(path)) &&
			strcmp(path, "/bin/sh") == 0,
		"an absolute one is taken as it is");
	ok(!spawn_find("/etc/passwd", path, sizeof(path)),
		"unless it cannot be executed");
	ok(!spawn_find("/bin", path, sizeof(path)), "or is a directory");
	ok(spawn_find("./tool", path, sizeof(path)) &&
			strcmp(path, "./tool") == 0,
		"a relative one is the page directory's");
	ok(!spawn_find("sh", path, 5), "a path that does not fit is none");
	ok(spawn_is_program(AT_FDCWD, "/bin/sh") &&
			!spawn_is_program(AT_FDCWD, "/bin") &&
			!spawn_is_program(AT_FDCWD, "/etc/passwd"),
		"a program is a file, and executable");
}

int
main(void)
{
	int before;

	alarm(0);
	if (mkdtemp(base) == NULL)
		return 1;
	chmod(base, 0777);
	spawn_prepare();
	before = open_count();
	test_start();
	test_surroundings();
	test_descriptors();
	test_closed_stdio();
	test_signals();
	test_settled();
	test_sigchld();
	test_limits();
	test_lower_hard_limit();
	test_failure();
	test_input();
	test_relay();
	test_terminal();
	test_ceiling();
	test_callback();
	test_holders();
	test_timeout();
	test_timer_given_back();
	test_interrupted();
	test_client();
	test_spared();
	test_storm();
	test_bomb();
	test_namespace();
	test_many();
	test_find();
	spawn_result_release(&r);
	is_int(before, open_count(), "no descriptor is left after all of it");
	if (chdir(base) == 0)
		unlink("marker"), unlink("big");
	is_int(0, rmdir(base), "no file is left");
	return done();
}
