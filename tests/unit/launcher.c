/* SPDX-License-Identifier: MIT */
/*
 * launcher: a tool that needs what its worker gave up runs beside it, as
 * confined; the launcher starts with the worker, or when a worker of one request
 * asks for it.
 */
#include <signal.h>

#include "base/clock.h"
#include "tap.h"
#include "trial.h"

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
	trial.grant.limits.timeout_ms = 0;
	trial.progress = true;
	trial.runs = 0;
	ok(prints(SANDBOX_MODE_STRICT,
		   SH("echo 1/2 >&3; sleep 0.1; echo 2/2 >&3; echo out"),
		   "out") &&
			strcmp(seen->progress, "1/2\n2/2\n") == 0 &&
			strcmp(seen->out, "out\n") == 0,
		"progress comes back while a command runs over there");
	trial.progress = false;
	ok(prints(SANDBOX_MODE_STRICT, SH("echo x >&3 || echo none"), "none"),
		"and only from a tool that has it");
	trial.launcher = false;
	prints(SANDBOX_MODE_STRICT, SH("true"), "");
	is_int(SS_SANDBOX_UNAVAILABLE, seen->code,
		"without a launcher such a tool is refused");
	trial.launcher = true;
	prints(SANDBOX_MODE_LANDLOCK, SH("true"), "");
	is_int(SS_SANDBOX_UNAVAILABLE, seen->code,
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
			trial.offered && !trial.asked && !trial.launched &&
			trial.others == 0,
		"a tool that needs no launcher does not ask for one");
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
		"a request that was closed is not waited for");
	ok(trial.asked && seen->code == SS_SANDBOX_UNAVAILABLE &&
			trial.others == 0,
		"it is refused when no launcher comes");
	trial.grant.network = NETWORK_OFF;
	trial.wants.network = NETWORK_OFF;
	ok(prints(SANDBOX_MODE_STRICT, SH("echo plain"), "plain") &&
			!trial.offered,
		"where nothing is granted that needs one none is offered");
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

int
main(void)
{
	static void (*const checks[])(void) = { check_launcher,
		check_launcher_once, check_batch, NULL };

	return trial_main(checks);
}
