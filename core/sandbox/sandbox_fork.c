/* SPDX-License-Identifier: MIT */
/*
 * A worker and its launcher.  A launcher that starts with the worker is older,
 * so that the worker knows whether it has one; one that starts later is asked
 * for on a socket that is already there:
 *
 *	SS_FORK_LAUNCHER		SS_FORK_LAUNCHER_LATER
 *
 *	parent				parent
 *	  |-- launcher			  |-- worker
 *	  |      | socket		  |      | writes its first command
 *	  |-- worker			  | launch_fd is readable
 *					  |-- launcher, reads the command
 *
 * In both cases the worker holds one end of a socket pair from its start and
 * the launcher the other; meanwhile the parent holds that as launch_fd.
 */
#include "sandbox/sandbox_fork.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/confine.h"
#include "sandbox/launcher.h"
#include "sandbox/landlock.h"
#include "sandbox/launcher_call.h"
#include "sandbox/remedy.h"

#define WORKER_BYTES (16 << 20) /* a worker's and its launcher's own */

/* ---------------------------------------------------------------- levels */

/* The levels that a mode allows, best first; NONE ends them. */
static const enum sandbox_level *
levels_of(const struct sandbox_plan *plan)
{
	static const enum sandbox_level by_mode[][3] = {
		[SANDBOX_MODE_AUTO] = { SANDBOX_STRICT, SANDBOX_LANDLOCK },
		[SANDBOX_MODE_STRICT] = { SANDBOX_STRICT },
		[SANDBOX_MODE_LANDLOCK] = { SANDBOX_LANDLOCK },
		[SANDBOX_MODE_OFF] = { SANDBOX_OFF },
	};

	return by_mode[plan->mode];
}

static void
note_why(struct sandbox_plan *plan, enum sandbox_level level,
	const struct step *failed)
{
	size_t len = strlen(plan->why);

	snprintf(plan->why + len, sizeof(plan->why) - len, "%s%s: %s: %s",
		len > 0 ? "; " : "", sandbox_level_name(level), failed->name,
		strerror(failed->number));
}

static void
note_remedy(struct sandbox_plan *plan, const struct step *failed)
{
	struct place place;

	place_read(&place);
	remedy_add(plan->remedy, sizeof(plan->remedy),
		remedy_of(failed, &plan->account, &place));
}

static void
note_nothing(struct sandbox_plan *plan)
{
	plan->why[0] = plan->remedy[0] = '\0';
}

/*
 * A strict process without Landlock refuses most tools (sandbox_run.c); it has
 * to know why before it starts.
 */
static void
note_landlock(struct sandbox_plan *plan)
{
	struct step failed = { .name = "Landlock", .part = PART_LANDLOCK };

	failed.number = landlock_check(plan->landlock_abi_max);
	if (failed.number == 0)
		return;
	snprintf(plan->why, sizeof(plan->why),
		"only tools that may execute every program, without Landlock");
	note_remedy(plan, &failed);
}

/* The first process of a plan decides the level of all. */
static bool
start_first(struct sandbox_plan *plan, struct confine_request *request,
	pid_t *pid, struct step *failed)
{
	const enum sandbox_level *level = levels_of(plan);

	note_nothing(plan);
	plan->decided = true;
	if (*level == SANDBOX_STRICT)
		note_landlock(plan);
	for (; *level != SANDBOX_NONE; level++) {
		plan->level = request->level = *level;
		if (confine_start(plan, request, pid, failed))
			return true;
		if (*level == SANDBOX_STRICT)
			note_nothing(plan);
		note_why(plan, *level, failed);
		note_remedy(plan, failed);
	}
	plan->level = request->level = SANDBOX_NONE;
	return confine_start(plan, request, pid, failed);
}

/*
 * A later process that cannot reach the level runs without tools; the one
 * after it tries again.
 */
static bool
start_again(struct sandbox_plan *plan, struct confine_request *request,
	pid_t *pid, struct step *failed)
{
	request->level = plan->level;
	if (plan->level >= SANDBOX_LANDLOCK)
		sandbox_plan_keep_dotfiles(plan);
	if (confine_start(plan, request, pid, failed))
		return true;
	if (plan->level == SANDBOX_NONE)
		return false;
	note_nothing(plan);
	note_why(plan, plan->level, failed);
	note_remedy(plan, failed);
	request->level = SANDBOX_NONE;
	return confine_start(plan, request, pid, failed);
}

static int
main_of_none(void *ctx)
{
	(void)ctx;
	return 0;
}

enum sandbox_level
sandbox_decide(struct sandbox_plan *plan)
{
	struct confine_request request = CONFINE_REQUEST_INIT;
	struct step failed;
	pid_t pid;

	request.main = main_of_none;
	if (plan->account.name[0] == '\0')
		return SANDBOX_NONE;
	if (plan->mode != SANDBOX_MODE_OFF)
		sandbox_plan_keep_dotfiles(plan);
	if (!start_first(plan, &request, &pid, &failed))
		return SANDBOX_NONE;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return plan->level;
}

/* ------------------------------------------------------------ the launcher */

/* Without one the worker refuses the first tool that needs it. */
static bool
fork_launcher(struct sandbox_plan *plan, int socket, struct cgroup *group)
{
	struct step failed;

	sandbox_plan_keep_dotfiles(plan);
	if (launcher_fork(plan, socket, group, &failed))
		return true;
	note_nothing(plan);
	note_why(plan, plan->level, &failed);
	note_remedy(plan, &failed);
	return false;
}

/* The worker's end, or -1: no launcher, with the reason in plan->why. */
static int
start_launcher(struct sandbox_plan *plan, struct cgroup *group)
{
	int pair[2];

	if (!plan->decided)
		sandbox_decide(plan);
	if (plan->level < SANDBOX_LANDLOCK ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	if (!fork_launcher(plan, pair[1], group))
		fd_close(&pair[0]);
	fd_close(&pair[1]);
	return pair[0];
}

/* The worker's end of a socket whose other end waits for a launcher. */
static int
offer_launcher(int *launch_fd)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	*launch_fd = pair[1];
	return pair[0];
}

/*
 * The worker's message lies unread in the socket: it is the launcher's to read.
 * A socket that hangs up belonged to a worker that has ended.
 */
bool
sandbox_launch(struct sandbox_plan *plan, struct ss_child *child)
{
	struct pollfd asked = { .fd = child->launch_fd, .events = POLLIN };
	bool started = poll(&asked, 1, 0) == 1 && asked.revents == POLLIN &&
		fork_launcher(plan, child->launch_fd, NULL);

	fd_close(&child->launch_fd);
	return started;
}

/* ------------------------------------------------------------- the worker */

struct worker {
	const struct sandbox_process *process;
	int launcher;  /* the socket to its launcher, or -1 */
	int launch_fd; /* the other end, which is the parent's, or -1 */
};

/* In the worker, confined. */
static int
worker_main(void *ctx)
{
	struct worker *w = ctx;

	fd_close(&w->launch_fd);
	launcher_attach(w->launcher);
	return w->process->main(w->process->ctx);
}

static enum ss_err
start_worker(struct sandbox_plan *plan, struct worker *w, struct cgroup *group,
	pid_t *pid, struct ss_error *err)
{
	struct confine_request request = CONFINE_REQUEST_INIT;
	struct step failed;
	bool started;

	request.keeps = w->process->keeps;
	request.watched = w->process->watched;
	request.brief = (w->process->flags & SS_FORK_BRIEF) != 0;
	request.group = group;
	request.main = worker_main;
	request.ctx = w;
	started = plan->decided ? start_again(plan, &request, pid, &failed)
				: start_first(plan, &request, pid, &failed);
	fd_close(&w->launcher);
	if (started)
		return SS_OK;
	return error_internal(err, failed.number, "worker: %s", failed.name);
}

enum ss_err
sandbox_fork(struct sandbox_plan *plan, const struct sandbox_process *process,
	struct ss_child *child, struct ss_error *err)
{
	struct worker w = { process, -1, -1 };
	struct cgroup own = CGROUP_INIT, *group = NULL;
	enum ss_err code;

	*child = (struct ss_child){ .pid = -1, .launch_fd = -1 };
	if (plan->account.name[0] == '\0')
		return error_internal(err, 0, "sandbox_prepare was not called");
	if ((process->flags & SS_FORK_MEMORY) &&
		cgroup_open(&own, plan->scratch_bytes + WORKER_BYTES))
		group = &own;
	if (launcher_keeps(plan) == 0)
		;
	else if (process->flags & SS_FORK_LAUNCHER)
		w.launcher = start_launcher(plan, group);
	else if (process->flags & SS_FORK_LAUNCHER_LATER)
		w.launcher = offer_launcher(&w.launch_fd);
	code = start_worker(plan, &w, group, &child->pid, err);
	if (code != SS_OK || plan->level < SANDBOX_LANDLOCK)
		fd_close(&w.launch_fd);
	child->launch_fd = w.launch_fd;
	cgroup_close(&own);
	return code;
}
