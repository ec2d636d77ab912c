/* SPDX-License-Identifier: MIT */
/*
 * Trials of the sandbox, for the tests that start workers: files of a site and
 * others beside it, one command in a new worker, and what came of it.  As root
 * the tools run as nobody, as a user as that user.
 */
#ifndef TRIAL_H
#define TRIAL_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/policy.h"
#include "sandbox/ruleset.h"
#include "sandbox/sandbox_fork.h"
#include "sandbox/sandbox_run.h"
#include "sandbox/sandbox_scratch.h"
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
	char progress[256]; /* of a trial with it */
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
	bool once; /* SS_FORK_LAUNCHER_LATER; the rest is what it came to */
	bool offered, asked, launched;
	int others;    /* children beside the worker */
	bool plain_sh; /* sh, but with its own exec set only */
	int abi;
	unsigned runs;         /* besides the first */
	bool many;             /* twice, as one batch */
	bool progress;         /* descriptor 3 is a pipe for it */
	const char *workspace; /* its policy's */
};
static struct trial trial;

static inline void
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

static inline void
tear_down(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf %s", base);
	ok(system(command) == 0, "nothing is left of the test's files");
}

static inline bool
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
	p->workspace = trial.workspace;
	seen->code = ruleset_make(arena, p, r, err);
	return seen->code == SS_OK;
}

static inline void
note_progress(void *ctx, const char *data, size_t len)
{
	size_t n = strlen(seen->progress);

	(void)ctx;
	snprintf(seen->progress + n, sizeof(seen->progress) - n, "%.*s",
		(int)len, data);
}

static inline void
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
		.limits = p->limits,
		.has_progress = trial.progress,
		.progress = note_progress };
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
				result.out.data, (int)result.err.len,
				result.err.data);
		spawn_result_release(&result);
	}
	close(s.dir_fd);
	seen->clean = sandbox_clean();
}

/* The words twice, side by side; their output one after the other. */
static inline void
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
			results[i].out.len > 0 ? results[i].out.data : "-");
		spawn_result_release(&results[i]);
	}
	seen->clean = sandbox_clean();
}

static inline int
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
		seen->fresh = ruleset_is_fresh(&ruleset);
		if (trial.many)
			run_batch(&policy, &ruleset, &err);
		for (unsigned i = 0;
			!trial.many && i <= trial.runs && seen->code == SS_OK;
			i++)
			run_once(&policy, &ruleset, &err);
		seen->fresh_after = ruleset_is_fresh(&ruleset);
	}
	ruleset_release(&ruleset);
	arena_release(&arena);
	snprintf(seen->message, sizeof(seen->message), "%s", err.message);
	snprintf(seen->detail, sizeof(seen->detail), "%s", err.detail);
	return 7;
}

/* A worker of one request: does it ask?  The launcher if it may come. */
static inline void
answer_once(struct sandbox_plan *plan, struct ss_child *child)
{
	struct pollfd p = { .fd = child->launch_fd, .events = POLLIN };

	trial.offered = p.fd >= 0;
	trial.asked =
		trial.offered && poll(&p, 1, 20000) == 1 && p.revents == POLLIN;
	if (trial.offered && (trial.launcher || !trial.asked))
		trial.launched = sandbox_launch(plan, child);
	if (child->launch_fd >= 0)
		close(child->launch_fd);
}

static inline bool
fork_worker(struct sandbox_plan *plan, pid_t *pid, struct ss_error *err)
{
	const struct sandbox_process process = { .flags = trial.once
			? SS_FORK_LAUNCHER_LATER
			: trial.launcher ? SS_FORK_LAUNCHER
					 : 0,
		.main = worker };
	struct ss_child child;

	if (sandbox_fork(plan, &process, &child, err) != SS_OK)
		return false;
	*pid = child.pid;
	if (trial.once)
		answer_once(plan, &child);
	return true;
}

/* Starts a worker for the trial; its exit status, or -1. */
static inline int
go(void)
{
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;
	struct ss_error err = { .code = SS_OK };
	int status = -1;
	pid_t pid;

	memset(seen, 0, sizeof(*seen));
	trial.offered = trial.asked = trial.launched = false;
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
	plan.landlock_abi_max = trial.abi;
	if (sandbox_prepare(&plan, &err) == SS_OK &&
		fork_worker(&plan, &pid, &err))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	for (trial.others = 0; waitpid(-1, NULL, 0) > 0;)
		trial.others++;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static inline bool
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
static inline bool
prints_and_cleans(
	enum sandbox_mode mode, const char *const *words, const char *text)
{
	for (int i = 0; i < 5; i++)
		if (prints(mode, words, text) && seen->clean)
			return true;
	return false;
}

/* Held at both levels, and the control shows that it would work. */
static inline void
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

static inline const char *
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

/* Without namespaces the machine cannot show what this file asks. */
static inline bool
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

/* The checks, up to NULL, where this machine can show what they ask. */
static inline int
trial_main(void (*const checks[])(void))
{
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	set_up();
	if (seen == MAP_FAILED || !machine_is_able())
		skip(1, "this machine refuses namespaces");
	else
		for (; *checks != NULL; checks++)
			(*checks)();
	tear_down();
	return done();
}

#endif
