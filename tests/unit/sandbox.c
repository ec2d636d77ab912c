/* SPDX-License-Identifier: MIT */
/*
 * sandbox, policy: each wall, at both levels, beside a control that runs the
 * same attack with the sandbox off and succeeds.  As root the tools run as
 * nobody, as a user as that user.
 */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "tap.h"

/* Not below /tmp, where nothing can be granted. */
static char base[] = "/var/tmp/ss-sandbox-XXXXXX";
static char site[128], outside[128], writable[160];

/* What a worker tells the test, in memory that both see. */
struct seen {
	enum ss_err code;
	char message[512], detail[1024];
	enum sandbox_level level;
	enum spawn_end end;
	int status, failed_errno;
	size_t len;
	char out[8192];
	bool clean, fresh, fresh_after;
};
static struct seen *seen;

/* What to run, where; zero means nothing special. */
struct trial {
	enum sandbox_mode mode;
	const char *const *words;
	const char *program; /* as the author named it; NULL: words[0] */
	const char *page_dir;
	struct wants wants;
	struct grant grant;
	bool launcher;
	bool once; /* sandbox_fork_once; the rest is what it came to */
	bool bell, rung, launched;
	int others;    /* children beside the worker */
	bool plain_sh; /* sh, but with its own exec set only */
	int abi;
	unsigned runs; /* besides the first */
	bool many;     /* twice, as one batch */
};
static struct trial trial;

static void
set_up(void)
{
	char path[256];
	struct {
		const char *name, *text;
	} files[] = {
		{ "site/README.md", "the page\n" },
		{ "site/.env", "DOTSECRET\n" },
		{ "site/.git/config", "url\n" },
		{ "site/docs/page.md", "deeper\n" },
		{ "site/docs/.key", "DEEPSECRET\n" },
		{ "site/data/rows.csv", "1,2\n" },
		{ "outside/secret", "TOPSECRET\n" },
	};
	const char *dirs[] = { "site", "site/docs", "site/data", "site/uploads",
		"site/.git", "outside" };
	uid_t uid = geteuid() == 0 ? 65534 : geteuid();
	gid_t gid = geteuid() == 0 ? 65534 : getegid();
	int fd;

	if (mkdtemp(base) == NULL || chmod(base, 0755) < 0)
		exit(99);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", base, dirs[i]);
		if (mkdir(path, 0755) < 0 || chown(path, uid, gid) < 0)
			exit(99);
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", base, files[i].name);
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0 ||
			write(fd, files[i].text, strlen(files[i].text)) < 0 ||
			fchown(fd, uid, gid) < 0)
			exit(99);
		close(fd);
	}
	snprintf(site, sizeof(site), "%s/site", base);
	snprintf(outside, sizeof(outside), "%s/outside", base);
	snprintf(writable, sizeof(writable), "%s/uploads", site);
}

static void
tear_down(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	ok(system(command) == 0, "nothing is left of the test's files");
}

static bool
prepare(struct arena *arena, struct policy *p, struct ruleset *r,
	struct ss_error *err)
{
	struct policy_ask ask = { .page = &trial.wants,
		.page_dir = trial.page_dir != NULL ? trial.page_dir : "",
		.program = trial.program != NULL ? trial.program
						 : trial.words[0] };

	seen->code = policy_resolve(arena, &ask, &trial.grant, p, err);
	if (seen->code != SS_OK)
		return false;
	if (trial.plain_sh)
		p->exec_any = false;
	seen->code = policy_ruleset(arena, p, r, err);
	return seen->code == SS_OK;
}

static void
run_once(const struct policy *p, const struct ruleset *r, struct ss_error *err)
{
	char path[4096], tmpdir[256];
	char *env[] = { (char *)(uintptr_t) "PATH=/usr/local/bin:/usr/bin:/bin",
		(char *)(uintptr_t) "HOME=/tmp", tmpdir, NULL };
	struct spawn s = { .argv = (char *const *)(uintptr_t)trial.words,
		.envp = env,
		.dir_fd = open(
			sandbox_self()->site, O_PATH | O_DIRECTORY | O_CLOEXEC),
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = p->limits };
	struct spawn_result result = { .end = SPAWN_FAILED };

	snprintf(tmpdir, sizeof(tmpdir), "TMPDIR=%s", sandbox_self()->scratch);
	s.program = trial.words[0];
	if (s.program[0] != '/' && spawn_find(s.program, path, sizeof(path)))
		s.program = path;
	seen->code = sandbox_run(p, r, &s, &result, err);
	if (seen->code == SS_OK) {
		seen->end = result.end;
		seen->status = result.status;
		seen->failed_errno = result.failed_errno;
		seen->len = 0;
		for (size_t i = 0;
			i < result.out.len && seen->len < sizeof(seen->out) - 1;
			i++)
			seen->out[seen->len++] = result.out.data[i];
		seen->out[seen->len] = '\0';
		if (getenv("SHOW") != NULL)
			fprintf(stderr, "%.*s%.*s\n", (int)result.out.len,
				result.out.data != NULL ? result.out.data : "",
				(int)result.err.len,
				result.err.data != NULL ? result.err.data : "");
		spawn_result_release(&result);
	}
	close(s.dir_fd);
	seen->clean = sandbox_clean();
}

/* The words twice, side by side; their output one after the other. */
static void
run_batch(const struct policy *p, const struct ruleset *r, struct ss_error *err)
{
	char *env[] = { (char *)(uintptr_t) "PATH=/usr/bin:/bin", NULL };
	struct spawn one = { .program = "/bin/sh",
		.argv = (char *const *)(uintptr_t)trial.words,
		.envp = env,
		.dir_fd = -1,
		.stdin_fd = -1,
		.client_fd = -1,
		.limits = p->limits };
	struct spawn runs[2] = { one, one };
	struct spawn_result results[2];
	struct spawn_batch batch = { runs, results, 2, 2, 10000 };

	seen->code = sandbox_run_many(p, r, runs, &batch, err);
	for (size_t i = 0; i < 2 && seen->code == SS_OK; i++) {
		seen->len += (size_t)snprintf(seen->out + seen->len, 64,
			"%.60s",
			results[i].out.data != NULL ? results[i].out.data
						    : "-");
		spawn_result_release(&results[i]);
	}
	seen->clean = sandbox_clean();
}

static int
worker(void *ctx)
{
	struct policy policy;
	struct ruleset ruleset = RULESET_INIT;
	struct ss_error err = { .code = SS_OK };
	struct arena arena;

	(void)ctx;
	arena_init(&arena, 0);
	seen->level = sandbox_self()->level;
	if (prepare(&arena, &policy, &ruleset, &err)) {
		seen->fresh = policy_ruleset_is_fresh(&ruleset);
		if (trial.many)
			run_batch(&policy, &ruleset, &err);
		for (unsigned i = 0;
			!trial.many && i <= trial.runs && seen->code == SS_OK;
			i++)
			run_once(&policy, &ruleset, &err);
		seen->fresh_after = policy_ruleset_is_fresh(&ruleset);
	}
	policy_ruleset_release(&ruleset);
	arena_release(&arena);
	snprintf(seen->message, sizeof(seen->message), "%s", err.message);
	snprintf(seen->detail, sizeof(seen->detail), "%s", err.detail);
	return 7;
}

/* A worker of one request: what its bell says; the launcher if it may come. */
static bool
fork_once(struct sandbox_plan *plan, pid_t *pid, struct ss_error *err)
{
	struct pollfd bell = { .events = POLLIN };

	if (sandbox_fork_once(plan, worker, NULL, pid, &bell.fd, err) != SS_OK)
		return false;
	trial.bell = bell.fd >= 0;
	trial.rung = trial.bell && poll(&bell, 1, 20000) == 1 &&
		bell.revents == POLLIN;
	if (trial.rung && trial.launcher)
		trial.launched = sandbox_launch(plan, &bell.fd);
	if (bell.fd >= 0)
		close(bell.fd);
	return true;
}

static bool
fork_worker(struct sandbox_plan *plan, pid_t *pid, struct ss_error *err)
{
	return trial.once
		? fork_once(plan, pid, err)
		: sandbox_fork(plan, 0, worker, NULL, pid, err) == SS_OK;
}

/* Births a worker for the trial; its exit status, or -1. */
static int
go(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct ss_error err = { .code = SS_OK };
	int status = -1;
	pid_t pid;

	memset(seen, 0, sizeof(*seen));
	trial.bell = trial.rung = trial.launched = false;
	seen->code = SS_INTERNAL;
	trial.grant.root = site;
	if (trial.grant.limits.timeout_ms == 0)
		trial.grant.limits = (struct spawn_limits){ .timeout_ms = 20000,
			.output_bytes = 1 << 20,
			.processes = 4096,
			.open_files = 256 };
	plan.mode = trial.mode;
	plan.root = site;
	plan.root_fd = open(site, O_PATH | O_DIRECTORY | O_CLOEXEC);
	plan.grant = &trial.grant;
	plan.launcher = trial.launcher || trial.once;
	plan.landlock_abi_max = trial.abi;
	if (sandbox_prepare(&plan, &err) == SS_OK &&
		fork_worker(&plan, &pid, &err))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	for (trial.others = 0; plan.launcher && waitpid(-1, NULL, 0) > 0;)
		trial.others++;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static bool
prints(enum sandbox_mode mode, const char *const *words, const char *text)
{
	trial.mode = mode;
	trial.words = words;
	if (trial.program == NULL && !trial.plain_sh)
		trial.program = "sh"; /* every program: the widest policy */
	go();
	if (seen->code != SS_OK)
		printf("# %s: %s (%s)\n", ss_err_code(seen->code),
			seen->message, seen->detail);
	return seen->code == SS_OK && strstr(seen->out, text) != NULL;
}

/* What takes long to remove may cost a slow machine's worker its life. */
static bool
prints_and_cleans(
	enum sandbox_mode mode, const char *const *words, const char *text)
{
	for (int i = 0; i < 5; i++)
		if (prints(mode, words, text) && seen->clean)
			return true;
	return false;
}

/* Held at both levels, and the control shows that it would work. */
static void
held(const char *const *words, const char *sentence)
{
	trial = (struct trial){ .grant = { .exec_any = true } };
	ok(prints(SANDBOX_MODE_OFF, words, "PWNED"), "control: %s", sentence);
	ok(!prints(SANDBOX_MODE_STRICT, words, "PWNED") &&
			seen->code == SS_OK && seen->level == SANDBOX_STRICT,
		"strict: no, %s", sentence);
	ok(!prints(SANDBOX_MODE_LANDLOCK, words, "PWNED") &&
			seen->code == SS_OK && seen->level == SANDBOX_LANDLOCK,
		"landlock: no, %s", sentence);
}

#define SH(script) WORDS("sh", "-c", script)
#define PERL(script) WORDS("perl", "-e", script)

static const char *
text(const char *format, ...)
{
	static char ring[4][1024];
	static unsigned next;
	char *out = ring[next++ % 4];
	va_list args;

	va_start(args, format);
	vsnprintf(out, sizeof(ring[0]), format, args);
	va_end(args);
	return out;
}

static void
check_files(void)
{
	held(SH(text("cat %s/secret && echo PWNED", outside)),
		"a file outside the site is read");
	held(SH(text("cd %s 2>/dev/null || cd /site; cat .env && echo PWNED",
		     site)),
		"a dot file of the root is read");
	held(SH(text("cd %s 2>/dev/null || cd /site; echo x > evil.md && "
		     "echo PWNED; rm -f evil.md",
		     site)),
		"a page is written");
	held(SH(text("cd %s 2>/dev/null || cd /site; cat .git/config && "
		     "echo PWNED",
		     site)),
		"a file of a dot directory is read");
	held(SH("cat /proc/1/status && echo PWNED"), "/proc is read");
	held(SH("cp /usr/bin/id $TMPDIR/x && chmod +x $TMPDIR/x && $TMPDIR/x "
		"&& echo PWNED"),
		"a program brought along is run");
}

static void
check_calls(void)
{
	held(PERL("use Socket; print qq(PWNED) if socket(my $s,PF_INET,"
		  "SOCK_STREAM,0)"),
		"an internet socket is made");
	held(PERL("use Socket; print qq(PWNED) if socket(my $s,PF_UNIX,"
		  "SOCK_STREAM,0)"),
		"a unix socket is made");
	held(PERL("use Socket; print qq(PWNED) if socketpair(my $a,my $b,"
		  "PF_UNIX,SOCK_DGRAM,0)"),
		"a datagram pair is made");
	held(PERL("my $l=pack('QQ',1000,1000); print qq(PWNED) if "
		  "syscall(302,getppid(),0,$l,0)==0"),
		"the worker's limits are set");
	held(PERL("print qq(PWNED) if syscall(141,0,getppid(),19)==0"),
		"the worker is reniced");
	held(PERL("print qq(PWNED) if kill(0,getppid())"),
		"the worker is signalled");
	held(PERL("my $n=qq(x); print qq(PWNED) if syscall(319,$n,0)>=0"),
		"memory is made a file");
	held(PERL("print qq(PWNED) if syscall(135,0x0400000)>=0"),
		"the personality is changed");
	held(PERL("open(my $g,'>',qq($ENV{TMPDIR}/l)); print qq(PWNED) if "
		  "fcntl($g,1024,1)"),
		"a lease is taken");
	held(SH("unshare -U true && echo PWNED"), "a user namespace is made");
	held(PERL("my $i=syscall(29,0,4096,01600); print qq(PWNED) if $i>=0; "
		  "syscall(31,$i,0,0)"),
		"shared memory is left behind");
}

/* No control: what it must not do would end the test. */
static void
check_foreign_calls(void)
{
	trial = (struct trial){ .grant = { .exec_any = true } };
	ok(!prints(SANDBOX_MODE_STRICT,
		   PERL("$|=1; print qq(begun\n); my $r=syscall(0x40000000|41,"
			"2,1,0); print qq(PWNED) if $r>=0"),
		   "PWNED") &&
			strstr(seen->out, "begun") != NULL,
		"x32 calls are refused");
	ok(prints(SANDBOX_MODE_STRICT,
		   PERL("my $x=qq(x); syscall(16,0,0x5412|(1<<40),$x); print "
			"$!{EPERM} ? qq(HELD) : qq(no: $!)"),
		   "HELD"),
		"TIOCSTI is refused, also with noise in the upper half");
	ok(prints(SANDBOX_MODE_STRICT,
		   PERL("syscall(435,0,0); print $!{ENOSYS} ? qq(HELD):$!"),
		   "HELD"),
		"clone3 says ENOSYS, so that a libc falls back");
	ok(prints(SANDBOX_MODE_STRICT, SH("(true); true | cat; echo fine"),
		   "fine"),
		"ordinary programs notice nothing");
	ok(prints(SANDBOX_MODE_STRICT,
		   PERL("use Socket; print qq(fine) if socketpair(my $a,my $b,"
			"PF_UNIX,SOCK_STREAM,0)"),
		   "fine"),
		"a stream pair is allowed");
}

static void
check_exec_set(void)
{
	static const enum sandbox_mode modes[] = { SANDBOX_MODE_STRICT,
		SANDBOX_MODE_LANDLOCK };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const char *name = i == 0 ? "strict" : "landlock";

		trial = (struct trial){ .program = "find",
			.grant = { .exec_any = true } };
		ok(prints(modes[i],
			   WORDS("find", ".", "-maxdepth", "0", "-name", "*"),
			   "."),
			"%s: the tool itself runs", name);
		ok(!prints(modes[i],
			   WORDS("find", ".", "-maxdepth", "0", "-exec",
				   "/bin/echo", "PWNED", ";"),
			   "PWNED"),
			"%s: no other program does", name);
		ok(!prints(modes[i],
			   WORDS("find", ".", "-maxdepth", "0", "-exec",
				   "/lib64/ld-linux-x86-64.so.2",
				   "/usr/bin/echo", "PWNED", ";"),
			   "PWNED"),
			"%s: nor through the loader", name);
		trial.wants = (struct wants){
			.exec = { .set = true,
				.names = (const char *[]){ "echo" },
				.count = 1 }
		};
		ok(prints(modes[i],
			   WORDS("find", ".", "-maxdepth", "0", "-exec",
				   "/bin/echo", "granted", ";"),
			   "granted"),
			"%s: a declared one does", name);
		trial = (struct trial){ .program = "perl",
			.grant = { .exec_any = true } };
		ok(prints(modes[i], PERL("use POSIX; print qq(perl)"), "perl"),
			"%s: an interpreter finds its library", name);
	}
}

/* A library that runs: it lies in a library tree and prints its version. */
static const char *
running_library(void)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6",
		"/lib/aarch64-linux-gnu/libc.so.6", "/usr/lib64/libc.so.6",
		"/usr/lib/libc.so.6" };

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		if (access(paths[i], X_OK) == 0)
			return paths[i];
	return NULL;
}

#define LOADER "/lib64/ld-linux-x86-64.so.2"
#define FIND(...)                                                              \
	WORDS("find", ".", "-maxdepth", "0", "-exec", __VA_ARGS__, ";")

/* What lies among the libraries is theirs to read, and to nobody to run. */
static void
check_library_trees(void)
{
	const char *library = running_library();
	const char *banner = "GNU C Library";

	if (library == NULL || access(LOADER, F_OK) != 0) {
		skip(7, "no library here can be run");
		return;
	}
	trial = (struct trial){ .program = "find",
		.grant = { .exec_any = true } };
	ok(prints(SANDBOX_MODE_OFF, FIND(library), banner),
		"control: a file in a library tree is run");
	ok(!prints(SANDBOX_MODE_STRICT, FIND(library), banner),
		"strict: no, it is not in the exec set");
	ok(!prints(SANDBOX_MODE_LANDLOCK, FIND(library), banner),
		"landlock: no, it is not in the exec set");
	ok(prints(SANDBOX_MODE_OFF, FIND(LOADER, library), banner),
		"control: the loader runs it");
	ok(!prints(SANDBOX_MODE_STRICT, FIND(LOADER, library), banner) &&
			seen->code == SS_OK,
		"strict: no, the loader runs nothing by itself");
	ok(prints(SANDBOX_MODE_LANDLOCK, FIND(LOADER, library), banner),
		"landlock: it does, as the README says");
	trial.program = NULL;
	ok(!prints(SANDBOX_MODE_STRICT,
		   SH(text(LOADER " %s || echo held", library)), banner) &&
			strcmp(seen->out, "held\n") == 0,
		"strict: not even for a tool that may run every program");
}

static void
check_scratch(void)
{
	static const enum sandbox_mode modes[] = { SANDBOX_MODE_STRICT,
		SANDBOX_MODE_LANDLOCK };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const char *name = i == 0 ? "strict" : "landlock";

		trial = (struct trial){ .runs = 1,
			.grant = { .exec_any = true } };
		ok(prints(modes[i],
			   SH("ls -A $TMPDIR | grep . || echo empty; cd "
			      "$TMPDIR; mkdir -p a/b/c; echo x > a/b/f; ln -s "
			      "/ r; mkfifo p; chmod 0 a/b; chmod 0 ."),
			   "empty") &&
				seen->clean,
			"%s: the next command finds an empty scratch", name);
		ok(prints_and_cleans(modes[i],
			   PERL("chdir $ENV{TMPDIR}; for (1..4000) { mkdir "
				"qq(d) && chdir qq(d) || last } print qq(deep)"),
			   "deep"),
			"%s: a tree 4,000 deep is removed", name);
		ok(prints(modes[i],
			   SH("(setsid sleep 77 &) ; (sleep 77 &) ; echo left"),
			   "left"),
			"%s: daemons do not keep a command", name);
	}
	/* Between them it stays untouched for long, and is known to be so. */
	trial = (struct trial){ .runs = 4, .grant = { .exec_any = true } };
	ok(prints(SANDBOX_MODE_OFF,
		   SH(text("cd %s; n=$(cat n 2>/dev/null || echo 0); echo "
			   "$((n + 1)) >n; sleep 0.05; case $n in "
			   "2) chmod 711 $TMPDIR;; "
			   "3) stat -c %%a $TMPDIR >m; echo x >$TMPDIR/x;; "
			   "4) echo $(cat m) $(ls -A $TMPDIR | wc -l);; esac",
			   outside)),
		   "700 0\n") &&
			seen->clean,
		"a scratch that was quiet is looked at again when touched");
	trial = (struct trial){ .grant = { .exec_any = true } };
	ok(prints(SANDBOX_MODE_STRICT,
		   SH("head -c 80m /dev/zero > $TMPDIR/f; stat -c %s "
		      "$TMPDIR/f"),
		   "67108864"),
		"the scratch holds 64 MiB and no more");
	ok(prints_and_cleans(SANDBOX_MODE_STRICT,
		   PERL("my $n=0; for (1..20000) { open(my $f,'>',qq($ENV{"
			"TMPDIR}/$_)) or last; $n++ } print qq(n=$n.)"),
		   "n=10000."),
		"and 10,000 files");
}

static void
check_grants(void)
{
	static const enum sandbox_mode modes[] = { SANDBOX_MODE_STRICT,
		SANDBOX_MODE_LANDLOCK };
	const char *read_list[] = { outside }, *write_list[] = { "uploads" };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const char *name = i == 0 ? "strict" : "landlock";

		trial = (struct trial){ .grant = { .exec_any = true,
						.read = { read_list, 1 },
						.write = { write_list, 1 } } };
		ok(!prints(modes[i], SH(text("cat %s/secret", outside)),
			   "TOPSECRET"),
			"%s: a grant that the page does not ask for is not "
			"given",
			name);
		ok(!prints(modes[i], SH("cd uploads; echo x > f && echo PWNED"),
			   "PWNED"),
			"%s: nor the right to write", name);
		trial.wants =
			(struct wants){ .read = { true, read_list, 1, 3, 1 },
				.write = { true, write_list, 1, 4, 1 } };
		ok(prints(modes[i],
			   SH(text("cat %s/secret; cd uploads; echo x > f && "
				   "echo done; rm f",
				   outside)),
			   "TOPSECRET\ndone"),
			"%s: asked for, both are", name);
		ok(!prints(modes[i], SH("echo x > evil.md && echo PWNED"),
			   "PWNED"),
			"%s: beside it the site stays as it is", name);
		trial.page_dir = "docs";
		ok(!prints(modes[i], SH("cat docs/.key"), "DEEPSECRET") &&
				prints(modes[i], SH("cat docs/page.md"),
					"deeper"),
			"%s: a dot file beside the page is out of reach", name);
	}
	trial.wants.write.names = (const char *[]){ "data" };
	prints(SANDBOX_MODE_STRICT, SH("true"), "");
	ok(seen->code == SS_CAPABILITY_REFUSED &&
			strstr(seen->message,
				"line 4, column 1: write: data") != NULL,
		"more than the ceiling is refused, with key and line");
	ok(policy_is_writable(&trial.grant, "uploads/page.md") &&
			!policy_is_writable(&trial.grant, "docs/page.md"),
		"a page that tools may write is known as such");
}

static void
check_limits(void)
{
	struct wants page = { .timeout = 60, .timeout_at = { 9, 3 } };
	struct node_place place;
	struct policy_ask ask = {
		.page = &page, .page_dir = "", .program = "true"
	};
	struct grant grant = { .root = site,
		.exec_any = true,
		.limits = { .timeout_ms = 30000 } };
	struct ss_error err;

	is_int(policy_check(&ask, &grant, &place, &err), SS_CAPABILITY_REFUSED,
		"more time than limits.timeout is refused");
	ok(place.line == 9 && place.column == 3 &&
			strcmp(err.hint, "the most is 30") == 0,
		"where it stands, in its own unit");
	grant.timeout_ms = 90000;
	is_int(policy_check(&ask, &grant, NULL, &err), SS_OK,
		"and allowed by grant.timeout");
	page = (struct wants){ .network = NETWORK_ALL };
	is_int(policy_check(&ask, &grant, NULL, &err), SS_CAPABILITY_REFUSED,
		"network is off unless granted");
	grant.exec_any = false;
	page = (struct wants){ .exec_any = true };
	is_int(policy_check(&ask, &grant, NULL, &err), SS_CAPABILITY_REFUSED,
		"exec: any is refused where programs are listed");
	page = (struct wants){ .read = { .set = true,
				       .names = (const char *[]){ "../x" },
				       .count = 1 } };
	is_int(policy_check(&ask, &grant, NULL, &err), SS_CAPABILITY_REFUSED,
		"a path that climbs is refused");
}

static void
check_launcher(void)
{
	static const char *sockets = "use Socket; print socket(my $s,PF_INET,"
				     "SOCK_STREAM,0) ? qq(inet) : qq(none); "
				     "print socket(my $t,PF_UNIX,SOCK_STREAM,0)"
				     " ? qq( unix) : qq( none)";

	trial = (struct trial){ .launcher = true,
		.grant = { .exec_any = true,
			.network = NETWORK_ALL,
			.proc = true },
		.wants = { .network = NETWORK_ALL } };
	ok(prints(SANDBOX_MODE_STRICT, PERL(sockets), "inet none"),
		"granted network, a tool gets that and nothing else");
	ok(prints(SANDBOX_MODE_STRICT,
		   SH("ls /proc/self >/dev/null 2>&1 || echo held"), "held"),
		"no /proc with it");
	ok(prints(SANDBOX_MODE_LANDLOCK, PERL(sockets), "inet none"),
		"the same without namespaces");
	ok(prints(SANDBOX_MODE_LANDLOCK,
		   SH("cat README.md; echo x >evil.md || cat .env || echo held"),
		   "the page\nheld"),
		"where its site is the worker's");
	trial.runs = 3;
	ok(prints(SANDBOX_MODE_STRICT,
		   SH("ls -A $TMPDIR; echo x > $TMPDIR/f; (setsid sleep 77 &); "
		      "echo one"),
		   "one") &&
			strcmp(seen->out, "one\n") == 0 && seen->clean,
		"the launcher is as new for each command");
	trial.wants = (struct wants){ .proc = true, .proc_set = true };
	ok(prints(SANDBOX_MODE_STRICT,
		   SH("grep -c . /proc/self/status >/dev/null && echo own; ls "
		      "-d /proc/1 2>/dev/null"),
		   "own\n") &&
			strcmp(seen->out, "own\n") == 0,
		"granted /proc, a tool sees its own processes only");
	ok(prints(SANDBOX_MODE_STRICT, PERL(sockets), "none none"),
		"and no network");
	ok(prints(SANDBOX_MODE_STRICT, SH("kill -9 $$"), "") &&
			seen->end == SPAWN_SIGNALLED && seen->status == SIGKILL,
		"how a command ended comes back");
	trial.grant.limits = (struct spawn_limits){ .timeout_ms = 300 };
	ok(prints(SANDBOX_MODE_STRICT, SH("sleep 30"), "") &&
			seen->end == SPAWN_TIMEOUT,
		"a command that takes too long is stopped over there");
	trial.launcher = false;
	prints(SANDBOX_MODE_STRICT, SH("true"), "");
	is_int(seen->code, SS_SANDBOX_UNAVAILABLE,
		"without a launcher such a tool is refused");
	trial.launcher = true;
	prints(SANDBOX_MODE_LANDLOCK, SH("true"), "");
	is_int(seen->code, SS_SANDBOX_UNAVAILABLE,
		"everybody's /proc is never given");
}

/* A worker of one request has its launcher when it wants it, and not before. */
static void
check_launcher_once(void)
{
	uint64_t begun;

	trial = (struct trial){ .once = true,
		.launcher = true,
		.grant = { .exec_any = true, .network = NETWORK_ALL } };
	ok(prints(SANDBOX_MODE_STRICT, SH("echo plain"), "plain") &&
			trial.bell && !trial.rung && trial.others == 0,
		"a tool that needs no launcher rings no bell");
	trial.wants.network = NETWORK_ALL;
	ok(prints(SANDBOX_MODE_STRICT, SH("echo net"), "net") &&
			trial.launched && trial.others == 1,
		"one that needs it has it started, and it leaves too");
	ok(prints(SANDBOX_MODE_LANDLOCK, SH("echo net"), "net") &&
			trial.launched && trial.others == 1,
		"the same without namespaces");
	trial.launcher = false;
	begun = clock_ms();
	prints(SANDBOX_MODE_STRICT, SH("echo net"), "net");
	ok(clock_ms() - begun < 10000,
		"nobody waits for a bell that was closed");
	ok(trial.rung && seen->code == SS_SANDBOX_UNAVAILABLE &&
			trial.others == 0,
		"it is refused when nobody answers the bell");
	trial.grant.network = NETWORK_OFF;
	trial.wants.network = NETWORK_OFF;
	ok(prints(SANDBOX_MODE_STRICT, SH("echo plain"), "plain") &&
			!trial.bell,
		"where nothing is granted that needs one there is no bell");
}

/* ------------------------------------------------- what fails, fails closed */

struct fault {
	int call;
	const char *name;
};

/* One system call does not work in this process and what it starts. */
static void
break_call(int call)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { (unsigned short)ARRAY_LEN(code), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, 2, &program) < 0)
		_exit(98);
}

/* -1: no process. */
static int
level_without(int call, enum sandbox_mode mode)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		break_call(call);
		trial = (struct trial){ .mode = mode,
			.words = WORDS("sh", "-c", "echo ran"),
			.grant = { .exec_any = true } };
		_exit(go() == 7 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	return status == 0 ? (int)seen->level : -1;
}

static void
check_faults(void)
{
	static const struct fault faults[] = {
		{ SYS_fsopen, "fsopen" },
		{ SYS_fsmount, "fsmount" },
		{ SYS_move_mount, "move_mount" },
		{ SYS_open_tree, "open_tree" },
		{ SYS_mount_setattr, "mount_setattr" },
		{ SYS_mount, "mount" },
		{ SYS_pivot_root, "pivot_root" },
		{ SYS_umount2, "umount2" },
		{ SYS_sethostname, "sethostname" },
	};

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const struct fault *f = &faults[i];

		is_int(level_without(f->call, SANDBOX_MODE_STRICT),
			SANDBOX_NONE, "without %s there is no strict level",
			f->name);
		ok(seen->code == SS_SANDBOX_UNAVAILABLE && seen->len == 0,
			"and no tool runs");
		is_int(level_without(f->call, SANDBOX_MODE_AUTO),
			SANDBOX_LANDLOCK, "and auto gives the next level");
	}
	is_int(level_without(SYS_capset, SANDBOX_MODE_AUTO), -1,
		"a process that keeps capabilities is not born");
	is_int(level_without(
		       SYS_landlock_create_ruleset, SANDBOX_MODE_LANDLOCK),
		SANDBOX_NONE, "without Landlock there is no landlock level");
	is_int(level_without(SYS_landlock_restrict_self, SANDBOX_MODE_STRICT),
		SANDBOX_STRICT, "a ruleset that cannot be entered");
	ok(seen->code == SS_OK && seen->end == SPAWN_FAILED && seen->len == 0,
		"keeps the command from running");
}

/* An older kernel's Landlock: each missing right is covered or refused. */
static void
check_old_landlock(void)
{
	trial = (struct trial){ .abi = 4, .grant = { .exec_any = true } };
	ok(!prints(SANDBOX_MODE_LANDLOCK,
		   PERL("print qq(PWNED) if kill(0,getppid())"), "PWNED") &&
			seen->code == SS_OK,
		"Landlock 4: signals are refused by a filter of the child");
	ok(prints(SANDBOX_MODE_LANDLOCK, PERL("kill(0,$$) && print qq(own)"),
		   "own"),
		"and allowed to itself");
	trial.abi = 2;
	prints(SANDBOX_MODE_LANDLOCK, SH("true"), "");
	is_int(seen->code, SS_SANDBOX_UNAVAILABLE,
		"Landlock 2 is below the floor");
	prints(SANDBOX_MODE_STRICT, SH("echo fine"), "");
	ok(seen->code == SS_OK && strstr(seen->out, "fine") != NULL,
		"strict without it serves exec: any");
	ok(!prints(SANDBOX_MODE_STRICT, SH("cat .env; cat .git/config"),
		   "DOTSECRET") &&
			strstr(seen->out, "url") == NULL,
		"where the view alone covers the dot entries of the root");
	trial.program = "true";
	trial.words = WORDS("true");
	trial.mode = SANDBOX_MODE_STRICT;
	go();
	is_int(seen->code, SS_SANDBOX_UNAVAILABLE,
		"and refuses a closed exec set");
}

static void
check_freshness(void)
{
	const char *docs[] = { "docs" };

	trial = (struct trial){ .page_dir = "docs",
		.wants = { .write = { .set = true,
				   .names = docs,
				   .count = 1 } },
		.grant = { .exec_any = true, .write = { docs, 1 } } };
	ok(prints(SANDBOX_MODE_STRICT, SH("true"), "") && seen->fresh &&
			seen->fresh_after,
		"a ruleset stays fresh while nothing changes");
	ok(prints(SANDBOX_MODE_STRICT, SH("echo x > docs/.new"), "") &&
			seen->fresh && !seen->fresh_after,
		"and is not when a dot file appears beside the page");
}

/* A page's components: confined like any tool, here or in the launcher. */
static void
check_batch(void)
{
	static const char *const script[] = { "sh", "-c",
		"cat .env /site/.env /proc/self/status; unshare -U true; "
		"echo ran",
		NULL };

	trial = (struct trial){ .many = true, .grant = { .exec_any = true } };
	ok(prints(SANDBOX_MODE_STRICT, script, "ran\nran\n") &&
			seen->out[0] == 'r' && seen->clean,
		"a batch runs confined");
	trial.launcher = true;
	trial.grant.network = trial.wants.network = NETWORK_ALL;
	ok(prints(SANDBOX_MODE_STRICT, script, "ran\nran\n") &&
			seen->out[0] == 'r' && seen->clean,
		"and in the launcher one by one");
}

static void
check_probes(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct sandbox_probe probes[32];
	struct ss_error err;
	size_t count = 0, works = 0;

	plan.root = site;
	if (sandbox_prepare(&plan, &err) == SS_OK)
		count = sandbox_probe(&plan, probes, ARRAY_LEN(probes));
	for (size_t i = 0; i < count; i++)
		works += probes[i].works == (probes[i].remedy == NULL);
	ok(count >= 10 && works == count,
		"every layer that does not work has a remedy");
	is_int(sandbox_decide(&plan), SANDBOX_STRICT, "this machine is strict");
	ok(plan.uid != 0 && plan.gid != 0, "tools never run as root");
}

/* Without namespaces the machine cannot show what this file asks. */
static bool
machine_is_able(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct ss_error err;
	bool able;

	plan.root = site;
	able = sandbox_prepare(&plan, &err) == SS_OK &&
		sandbox_decide(&plan) == SANDBOX_STRICT;
	if (!able)
		printf("# %s\n", plan.why);
	return able;
}

int
main(void)
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	set_up();
	if (seen == MAP_FAILED || !machine_is_able()) {
		skip(1, "this machine refuses namespaces");
	} else {
		check_files();
		check_calls();
		check_foreign_calls();
		check_exec_set();
		check_library_trees();
		check_scratch();
		check_grants();
		check_limits();
		check_launcher();
		check_launcher_once();
		check_faults();
		check_old_landlock();
		check_freshness();
		check_batch();
		check_probes();
	}
	tear_down();
	return done();
}
