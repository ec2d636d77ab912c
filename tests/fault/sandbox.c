/* SPDX-License-Identifier: MIT */
/*
 * Every call that the start of a confined process makes fails once, and every
 * one between that and the end of a command.  Either every layer holds, as the
 * command itself finds by attacking each, or no command runs at all; the
 * process that would serve pages is there in both cases.
 *
 * wrap: syscall prctl open openat write read fcntl dup3 access sethostname
 * wrap: setresgid setresuid chdir fchdir fstat fstatat mkdirat mknodat
 * wrap: symlinkat opendir fdopendir flistxattr flock fchmod mkdtemp lseek
 * wrap: readlink readlinkat unlinkat sendfile pread pwrite
 */
#include "sandbox/ruleset.h"
#include "sandbox/sandbox_fork.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault.h"
#include "tap.h"

#define NUMBER EINVAL
/* Few hundred; more where dead processes left scratch behind in /tmp. */
#define STARTS_MAX 8000

FAULT(read, ssize_t, -1, NUMBER, (int fd, void *p, size_t n), (fd, p, n))
FAULT(write, ssize_t, -1, NUMBER, (int fd, const void *p, size_t n), (fd, p, n))
FAULT(dup3, int, -1, NUMBER, (int from, int to, int flags), (from, to, flags))
FAULT(access, int, -1, NUMBER, (const char *path, int mode), (path, mode))
FAULT(sethostname, int, -1, NUMBER, (const char *name, size_t n), (name, n))
FAULT(setresgid, int, -1, NUMBER, (gid_t a, gid_t b, gid_t c), (a, b, c))
FAULT(setresuid, int, -1, NUMBER, (uid_t a, uid_t b, uid_t c), (a, b, c))
FAULT(chdir, int, -1, NUMBER, (const char *path), (path))
FAULT(fchdir, int, -1, NUMBER, (int fd), (fd))
FAULT(fstat, int, -1, NUMBER, (int fd, struct stat *st), (fd, st))
FAULT(fstatat, int, -1, NUMBER,
	(int at, const char *path, struct stat *st, int flags),
	(at, path, st, flags))
FAULT(mkdirat, int, -1, NUMBER, (int at, const char *path, mode_t mode),
	(at, path, mode))
FAULT(mknodat, int, -1, NUMBER,
	(int at, const char *path, mode_t mode, dev_t dev),
	(at, path, mode, dev))
FAULT(symlinkat, int, -1, NUMBER, (const char *to, int at, const char *path),
	(to, at, path))
FAULT(opendir, DIR *, NULL, NUMBER, (const char *path), (path))
FAULT(fdopendir, DIR *, NULL, NUMBER, (int fd), (fd))
FAULT(flistxattr, ssize_t, -1, NUMBER, (int fd, char *to, size_t n),
	(fd, to, n))
FAULT(flock, int, -1, NUMBER, (int fd, int what), (fd, what))
FAULT(fchmod, int, -1, NUMBER, (int fd, mode_t mode), (fd, mode))
FAULT(mkdtemp, char *, NULL, NUMBER, (char *path), (path))
FAULT(lseek, off_t, -1, NUMBER, (int fd, off_t at, int from), (fd, at, from))
FAULT(readlink, ssize_t, -1, NUMBER, (const char *path, char *to, size_t n),
	(path, to, n))
FAULT(readlinkat, ssize_t, -1, NUMBER,
	(int at, const char *path, char *to, size_t n), (at, path, to, n))
FAULT(unlinkat, int, -1, NUMBER, (int at, const char *path, int flags),
	(at, path, flags))

FAULT(sendfile, ssize_t, -1, NUMBER, (int to, int from, off_t *at, size_t n),
	(to, from, at, n))
FAULT(pread, ssize_t, -1, NUMBER, (int fd, void *p, size_t n, off_t at),
	(fd, p, n, at))
FAULT(pwrite, ssize_t, -1, NUMBER, (int fd, const void *p, size_t n, off_t at),
	(fd, p, n, at))

/* Those with a variable end pass all words on. */
#define FAULT_MORE(type, name, params, args, before)                           \
	type __real_##name params;                                             \
	type __wrap_##name params;                                             \
	FAULT_UNCHECKED type __wrap_##name params                              \
	{                                                                      \
		long w[6];                                                     \
                                                                               \
		FAULT_WORDS(w, before);                                        \
		if (!fault_now(#name))                                         \
			return __real_##name args;                             \
		errno = NUMBER;                                                \
		return -1;                                                     \
	}
FAULT_MORE(long, syscall, (long call, ...),
	(call, w[0], w[1], w[2], w[3], w[4], w[5]), call)
FAULT_MORE(int, prctl, (int what, ...), (what, w[0], w[1], w[2], w[3]), what)
FAULT_MORE(int, open, (const char *path, int flags, ...), (path, flags, w[0]),
	flags)
FAULT_MORE(int, openat, (int at, const char *path, int flags, ...),
	(at, path, flags, w[0]), flags)
FAULT_MORE(int, fcntl, (int fd, int what, ...), (fd, what, w[0]), what)

enum phase { START, COMMAND };

/* What the worker tells, in memory that both see. */
struct seen {
	struct fault fault;
	bool started, reached;
	enum sandbox_level level;
	enum ss_err code;
	enum spawn_end end;
	bool ran, won;
	bool regains; /* a capability is left that a file could give back */
};
static struct seen *seen;

static char base[] = "/var/tmp/ss-fault-XXXXXX";
static char site[128], secret[128], script[1024];
static enum phase phase;
static int nth;

static void
put(const char *path, const char *text)
{
	uid_t uid = geteuid() == 0 ? 65534 : geteuid();
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0 ||
		fchown(fd, uid, (gid_t)-1) < 0)
		exit(99);
	close(fd);
}

static void
set_up(void)
{
	char page[160];

	if (mkdtemp(base) == NULL || chmod(base, 0755) < 0)
		exit(99);
	snprintf(site, sizeof(site), "%s/site", base);
	snprintf(secret, sizeof(secret), "%s/secret", base);
	snprintf(page, sizeof(page), "%s/README.md", site);
	if (mkdir(site, 0777) < 0 || chmod(site, 0777) < 0)
		exit(99);
	put(secret, "TOPSECRET\n");
	put(page, "the page\n");
	snprintf(script, sizeof(script),
		"cat %s && echo PWNED; cat /proc/1/status && echo PWNED; "
		"echo x >%s/evil && echo PWNED; "
		"echo x >/site/evil && echo PWNED; "
		"unshare -U true && echo PWNED; "
		"[ -d /site ] && for l in /lib64/ld-*.so.* /lib/ld-*.so.*; do "
		"$l /bin/true && echo PWNED; done; "
		"kill -0 $PPID && echo PWNED; echo ran",
		secret, site);
}

static void
tear_down(void)
{
	char command[160];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	is_int(0, system(command), "nothing is left of the test's files");
}

/* One command, with the widest exec set, against every layer. */
static void
attack(struct arena *arena)
{
	static const char *const words[] = { "sh", "-c", script, NULL };
	char tmpdir[256];
	char *env[] = { (char *)(uintptr_t) "PATH=/usr/bin:/bin", tmpdir,
		NULL };
	struct grant grant = { .root = site, .exec_any = true };
	struct policy_ask ask = { .page_dir = "", .program = "sh" };
	struct spawn s = { .argv = (char *const *)(uintptr_t)words,
		.program = "/bin/sh",
		.envp = env,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1 };
	struct spawn_result result = { .end = SPAWN_FAILED };
	struct ruleset ruleset = RULESET_INIT;
	struct wants none = { 0 };
	struct policy policy;

	grant.limits = (struct spawn_limits){ .timeout_ms = 5000,
		.output_bytes = 1 << 16,
		.processes = 4096, /* the account's others count too */
		.open_files = 64 };
	ask.page = &none;
	snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=%s", sandbox_self()->scratch);
	seen->code = policy_resolve(arena, &ask, &grant, &policy, NULL);
	if (seen->code == SS_OK)
		seen->code = ruleset_make(arena, &policy, &ruleset, NULL);
	s.limits = policy.limits;
	if (seen->code == SS_OK)
		seen->code = sandbox_run(&policy, &ruleset, &s, &result, NULL);
	seen->reached = seen->reached || (phase == COMMAND && fault_at <= 0);
	fault_at = 0;
	ruleset_release(&ruleset);
	if (seen->code != SS_OK)
		return;
	seen->end = result.end;
	seen->ran = result.out.data && strstr(result.out.data, "ran");
	seen->won = result.out.data && strstr(result.out.data, "PWNED");
	spawn_result_release(&result);
}

static bool
can_regain(void)
{
	int held = 0;

	for (unsigned long cap = 0; cap < 64 && held != 1; cap++)
		held = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);
	return held == 1;
}

static int
worker(void *ctx)
{
	struct arena arena;

	(void)ctx;
	seen->started = true;
	seen->reached = phase == START && fault_at <= 0;
	seen->level = sandbox_self()->level;
	arena_init(&arena, 0);
	fault_at = phase == COMMAND ? nth : 0;
	attack(&arena);
	fault_at = 0;
	seen->regains = can_regain();
	arena_release(&arena);
	return 7;
}

/* Starts a worker with the n-th call failing; false when there are not so many. */
static bool
start_worker(struct sandbox_plan *plan, struct ss_error *err)
{
	const struct sandbox_process process = { .main = worker };
	struct ss_child child;
	int status = -1;

	memset(seen, 0, sizeof(*seen));
	plan->decided = false;
	seen->code = SS_SANDBOX_UNAVAILABLE;
	error_clear(err);
	fault_at = phase == START ? nth : 0;
	sandbox_fork(plan, &process, &child, err);
	if (child.pid > 0)
		waitpid(child.pid, &status, 0);
	if (phase == START && !seen->started)
		seen->reached = fault_at <= 0;
	fault_at = 0;
	return seen->reached;
}

/* Refused, or held: nothing between. */
static bool
safe(const struct sandbox_plan *plan)
{
	if (seen->won || (seen->ran && seen->level <= SANDBOX_OFF))
		return false;
	if (seen->ran && seen->regains && seen->level == SANDBOX_STRICT)
		return false;
	if (plan->mode == SANDBOX_MODE_STRICT &&
		seen->level != SANDBOX_STRICT && seen->level != SANDBOX_NONE)
		return false;
	return seen->code != SS_OK || seen->ran || seen->end == SPAWN_FAILED;
}

static void
try_all(struct sandbox_plan *plan, const char *name)
{
	unsigned unsafe = 0, missing = 0, refused = 0;
	struct ss_error err;

	for (nth = 1; nth < STARTS_MAX && start_worker(plan, &err); nth++) {
		if (!safe(plan) && ++unsafe)
			printf("# %s, call %d: level %d, ran %d, won %d\n",
				fault_name ? fault_name : "?", nth, seen->level,
				seen->ran, seen->won);
		if (!seen->started && err.detail[0] == '\0' && ++missing)
			printf("# call %d: no process, and no reason given\n",
				nth);
		refused += seen->code != SS_OK;
	}
	ok(nth > 10 && nth < STARTS_MAX,
		"%s: %d calls fail, one after the other", name, nth - 1);
	ok(refused > 0, "%s: %u of them cost the command", name, refused);
	is_int(0, unsafe, "%s: and none runs it half confined", name);
	is_int(0, missing, "%s: no process is missing without a reason", name);
}

int
main(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct grant grant = { .exec_any = true };
	struct ss_error err = { .code = SS_OK };

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fault = &seen->fault;
	set_up();
	grant.root = site;
	plan.root = site;
	plan.grant = &grant;
	if (sandbox_prepare(&plan, &err) != SS_OK)
		return 1;
	for (int i = 0; i < 2; i++) {
		plan.mode =
			i == 0 ? SANDBOX_MODE_STRICT : SANDBOX_MODE_LANDLOCK;
		nth = 0;
		phase = START;
		start_worker(&plan, &err);
		if (seen->level == SANDBOX_NONE) {
			printf("# %s\n", plan.why);
			continue;
		}
		ok(seen->ran && !seen->won, "%s: the command runs, held",
			i == 0 ? "strict" : "landlock");
		try_all(&plan, i == 0 ? "strict start" : "landlock start");
		phase = COMMAND;
		try_all(&plan, i == 0 ? "strict command" : "landlock command");
	}
	tear_down();
	return done();
}
