/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "say.h"
#include "sweep.h"

#define PAUSE_US UINT64_C(10000000) /* from one start to the next */

struct sweep_job {
	const sigset_t *open;
	uint32_t budget_ms; /* 0: until nothing is left */
};

/* It ends with the supervisor, or by SIGTERM; the next one goes on. */
static int
sweep_main(void *ctx)
{
	const struct sweep_job *job = ctx;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, job->open, NULL);
	if (job->budget_ms == 0)
		setpriority(PRIO_PROCESS, 0, 19);
	else
		alarm(job->budget_ms / 1000 + 1);
	return ss_sweep(job->budget_ms) ? 0 : 1;
}

static void
start_sweep(struct sweep *s, struct ss_site *site, const sigset_t *open,
	uint32_t budget_ms)
{
	struct sweep_job job = { .open = open, .budget_ms = budget_ms };
	struct ss_error err = { .code = SS_OK };
	struct ss_child child;

	if (ss_site_fork(site, 0, sweep_main, &job, &child, &err) == SS_OK)
		s->pid = child.pid;
	else
		say_error("cannot remove what workers left", &err);
}

void
sweep_tend(struct sweep *s, struct ss_site *site, const sigset_t *open,
	uint64_t now_us)
{
	if (!s->due || s->pid != 0 || now_us < s->not_before_us)
		return;
	s->due = false;
	s->not_before_us = now_us + PAUSE_US;
	if (ss_site_sweeps(site))
		start_sweep(s, site, open, 0);
}

bool
sweep_reaped(struct sweep *s, pid_t pid, int status)
{
	if (pid != s->pid) {
		s->due = true;
		return false;
	}
	s->pid = 0;
	s->due |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
	return true;
}

static void
wait_for_sweep(struct sweep *s)
{
	if (s->pid != 0)
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	s->pid = 0;
}

void
sweep_last(struct sweep *s, struct ss_site *site, const sigset_t *open)
{
	if (s->pid != 0)
		kill(s->pid, SIGTERM);
	wait_for_sweep(s);
	if (ss_site_sweeps(site))
		start_sweep(s, site, open, SWEEP_STOP_MS);
	wait_for_sweep(s);
}
