/* SPDX-License-Identifier: MIT */
/*
 * sandbox, policy: each layer, at both levels, beside a control that runs the
 * same attack with the sandbox off and succeeds.
 */
#include "sandbox/sandbox_probe.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tap.h"
#include "trial.h"

#ifdef __aarch64__
#define LOADER "/lib/ld-linux-aarch64.so.1"
#else
#define LOADER "/lib64/ld-linux-x86-64.so.2"
#endif

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
	held(PERL(text("my $l=pack('QQ',1000,1000); print qq(PWNED) if "
		       "syscall(%d,getppid(),0,$l,0)==0",
		     SYS_prlimit64)),
		"the worker's limits are set");
	held(PERL(text("print qq(PWNED) if syscall(%d,0,getppid(),19)==0",
		     SYS_setpriority)),
		"the worker is reniced");
	held(PERL("print qq(PWNED) if kill(0,getppid())"),
		"the worker is signalled");
	held(PERL(text("my $n=qq(x); print qq(PWNED) if syscall(%d,$n,0)>=0",
		     SYS_memfd_create)),
		"memory is made a file");
	held(PERL(text("print qq(PWNED) if syscall(%d,0x0400000)>=0",
		     SYS_personality)),
		"the personality is changed");
	held(PERL("open(my $g,'>',qq($ENV{TMPDIR}/l)); print qq(PWNED) if "
		  "fcntl($g,1024,1)"),
		"a lease is taken");
	held(SH("unshare -U true && echo PWNED"), "a user namespace is made");
	held(PERL(text("my $i=syscall(%d,0,4096,01600); "
		       "print qq(PWNED) if $i>=0; syscall(%d,$i,0,0)",
		     SYS_shmget, SYS_shmctl)),
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
		   PERL(text("my $x=qq(x); syscall(%d,0,0x5412|(1<<40),$x); "
			     "print $!{EPERM} ? qq(HELD) : qq(no: $!)",
			   SYS_ioctl)),
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
			   WORDS("find", ".", "-maxdepth", "0", "-exec", LOADER,
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

	is_int(SS_CAPABILITY_REFUSED, policy_check(&ask, &grant, &place, &err),
		"more time than limits.timeout is refused");
	ok(place.line == 9 && place.column == 3 &&
			strcmp(err.hint,
				"the most is 30: ask for less, or have the "
				"operator set [grant] timeout = 60") == 0,
		"with its place, in its own unit");
	grant.timeout_ms = 90000;
	is_int(SS_OK, policy_check(&ask, &grant, NULL, &err),
		"and allowed by grant.timeout");
	page = (struct wants){ .network = NETWORK_ALL };
	is_int(SS_CAPABILITY_REFUSED, policy_check(&ask, &grant, NULL, &err),
		"network is off unless granted");
	grant.exec_any = false;
	page = (struct wants){ .exec_any = true };
	is_int(SS_CAPABILITY_REFUSED, policy_check(&ask, &grant, NULL, &err),
		"exec: any is refused where programs are listed");
	page = (struct wants){ .read = { .set = true,
				       .names = (const char *[]){ "../x" },
				       .count = 1 } };
	is_int(SS_CAPABILITY_REFUSED, policy_check(&ask, &grant, NULL, &err),
		"a path that climbs is refused");
}

/* A pipe's stages, and what env(1) starts: decided like the first program. */
static void
check_more_programs(void)
{
	struct wants page = { 0 };
	struct policy_program more[] = {
		{ .name = "grep", .word = "grep", .at = { 3, 4 } },
		{ .name = "glob", .word = "glob", .helper = "statespace-tool" },
		{ .name = "head", .word = "$HEAD", .at = { 3, 9 } },
	};
	struct policy_ask ask = { .page = &page,
		.page_dir = "",
		.program = "statespace-pipe",
		.helper = "statespace-pipe",
		.more = more,
		.more_count = ARRAY_LEN(more) };
	const char *listed[] = { "/usr/bin/grep", "head" };
	struct grant grant = { .root = site, .exec = { listed, 1 } };
	struct node_place place;
	struct ss_error err;

	is_int(SS_CAPABILITY_REFUSED, policy_check(&ask, &grant, &place, &err),
		"a further program that is not granted is refused");
	ok(place.line == 3 && place.column == 9 &&
			strstr(err.message, "$HEAD") != NULL,
		"... at its place, by the author's word");
	grant.exec.count = 2;
	is_int(SS_OK, policy_check(&ask, &grant, NULL, &err),
		"... and taken when it is granted");
	ok(!powers_of(&ask).any_program, "no other program may run");
	more[1] = (struct policy_program){ .name = "/bin/sh" };
	ok(powers_of(&ask).any_program, "with a shell among them any may");
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

#define OPEN_TREE_ATTR 467 /* Linux 6.15 */

/* -1: no process. */
static int
level_without(int call, enum sandbox_mode mode)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		break_call(call);
		/* Either of the two is enough. */
		if (call == SYS_open_tree)
			break_call(OPEN_TREE_ATTR);
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
	};

	is_int(SANDBOX_STRICT,
		level_without(OPEN_TREE_ATTR, SANDBOX_MODE_STRICT),
		"open_tree and mount_setattr do without open_tree_attr");
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const struct fault *f = &faults[i];

		is_int(SANDBOX_NONE,
			level_without(f->call, SANDBOX_MODE_STRICT),
			"without %s there is no strict level", f->name);
		ok(seen->code == SS_SANDBOX_UNAVAILABLE && seen->len == 0,
			"and no tool runs");
		is_int(SANDBOX_LANDLOCK,
			level_without(f->call, SANDBOX_MODE_AUTO),
			"and auto gives the next level");
	}
	is_int(SANDBOX_STRICT,
		level_without(SYS_sethostname, SANDBOX_MODE_STRICT),
		"without sethostname only the host's name can be seen");
	is_int(-1, level_without(SYS_capset, SANDBOX_MODE_AUTO),
		"a process that keeps capabilities does not start");
	is_int(SANDBOX_NONE,
		level_without(
			SYS_landlock_create_ruleset, SANDBOX_MODE_LANDLOCK),
		"without Landlock there is no landlock level");
	is_int(SANDBOX_STRICT,
		level_without(SYS_landlock_restrict_self, SANDBOX_MODE_STRICT),
		"a ruleset that cannot be entered");
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
	is_int(SS_SANDBOX_UNAVAILABLE, seen->code, "Landlock 2 is too old");
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
	is_int(SS_SANDBOX_UNAVAILABLE, seen->code,
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

/* The pipe for progress: descriptor 3, and that one only, at every level. */
static void
check_progress(void)
{
	static const enum sandbox_mode modes[] = { SANDBOX_MODE_STRICT,
		SANDBOX_MODE_LANDLOCK, SANDBOX_MODE_OFF };

	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		trial = (struct trial){ .progress = true,
			.grant = { .exec_any = true } };
		ok(prints(modes[i],
			   SH("echo 1/2 a >&3; (echo x >&4) 2>/dev/null || "
			      "echo one; cat <&3 2>/dev/null || echo closed"),
			   "one\nclosed\n"),
			"progress at level %s can be written, not read",
			sandbox_level_name(seen->level));
		is_str("1/2 a\n", seen->progress, "... and arrives");
	}
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
	is_int(SANDBOX_STRICT, sandbox_decide(&plan), "this machine is strict");
	ok(plan.account.uid != 0 && plan.account.gid != 0,
		"tools never run as root");
}

int
main(void)
{
	static void (*const checks[])(void) = { check_files, check_calls,
		check_foreign_calls, check_exec_set, check_library_trees,
		check_scratch, check_grants, check_limits, check_more_programs,
		check_faults, check_old_landlock, check_freshness,
		check_progress, check_probes, NULL };

	return trial_main(checks);
}
