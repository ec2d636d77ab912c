/* SPDX-License-Identifier: MIT */
#include "sandbox/bounds.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "run/usage.h"

#define EVERY_MS 50

static struct {
	int proc, listener;
	bool alone, counts;         /* counts: clone(2) is decided here */
	uint64_t memory, processes; /* of the batch; 0: no limit */
	uint64_t shared;            /* bytes granted so far */
	struct spawn_bounds hooks;
} self = { .proc = -1, .listener = -1 };

bool
bounds_processes_bind(void)
{
	struct rlimit before, none;
	bool binds = false;
	pid_t pid;

	if (getrlimit(RLIMIT_NPROC, &before) < 0)
		return false;
	none = (struct rlimit){ 0, before.rlim_max };
	if (setrlimit(RLIMIT_NPROC, &none) < 0)
		return false;
	pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	if (pid == 0)
		_exit(0);
	binds = pid < 0 && errno == EAGAIN;
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return setrlimit(RLIMIT_NPROC, &before) == 0 && binds;
}

void
bounds_enter_open(int proc, bool alone)
{
	struct usage now;

	fd_close(&self.proc);
	fd_close(&self.listener);
	/* There may be no lists of children, or nothing mounted on /proc. */
	if (proc >= 0 && !alone && !usage_read(proc, alone, UINT64_MAX, &now))
		fd_close(&proc);
	self.proc = proc;
	self.alone = alone;
	self.counts = false;
	spawn_pass = 0;
}

int
bounds_enter(int proc, bool alone, bool binds, const struct filter *whole,
	bool *filtered)
{
	uint64_t pass = 0;
	int e;

	bounds_enter_open(proc, alone);
	self.counts = !binds;
	if (self.counts &&
		(self.proc < 0 ||
			getrandom(&pass, sizeof(pass), 0) !=
				(ssize_t)sizeof(pass)))
		return ENOTSUP;
	spawn_pass = pass;
	e = filter_child_listen(
		whole, self.counts ? &pass : NULL, &self.listener);
	*filtered = e == 0;
	if (e != 0 && !self.counts)
		e = filter_child_unshared();
	return e;
}

bool
bounds_watch(void)
{
	return self.proc >= 0;
}

/* ------------------------------------------------- decisions for the tool */

static int
decide_mmap(uint64_t len)
{
	if (self.memory > 0 &&
		(len > self.memory || self.shared > self.memory - len))
		return ENOMEM;
	self.shared += len;
	return 0;
}

/* As RLIMIT_NPROC counts: this process, the present ones, the new one. */
static int
decide_clone(void)
{
	struct usage now;

	if (self.processes == 0)
		return 0;
	if (!usage_read(self.proc, self.alone, UINT64_MAX, &now))
		return EAGAIN;
	return now.tasks + 2 <= self.processes ? 0 : EAGAIN;
}

/*
 * The arguments are values of registers, not memory: no other thread can change
 * them between this decision and the call.
 */
static void
answer_call(void *ctx)
{
	union {
		struct seccomp_notif call;
		char space[512]; /* newer kernels may write more */
	} in = { .space = { 0 } };
	union {
		struct seccomp_notif_resp reply;
		char space[512];
	} out = { .space = { 0 } };
	int e;

	(void)ctx;
	if (ioctl(self.listener, SECCOMP_IOCTL_NOTIF_RECV, &in) < 0)
		return; /* the process has ended */
	e = filter_is_mmap(in.call.data.nr) ? decide_mmap(in.call.data.args[1])
					    : decide_clone();
	out.reply.id = in.call.id;
	out.reply.error = -e;
	if (e == 0)
		out.reply.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(self.listener, SECCOMP_IOCTL_NOTIF_SEND, &out);
}

static enum spawn_limit
passed_limit(void *ctx)
{
	struct usage now;

	(void)ctx;
	if (!usage_read(self.proc, self.alone, self.memory, &now))
		return SPAWN_LIMIT_MEMORY;
	return now.bytes > self.memory ? SPAWN_LIMIT_MEMORY : SPAWN_LIMIT_NONE;
}

const struct spawn_bounds *
bounds_begin(const struct spawn_limits *limits, size_t count)
{
	uint64_t each = limits->memory_bytes;

	self.shared = 0;
	self.memory = each < UINT64_MAX / count ? each * count : 0;
	self.processes = limits->processes;
	self.hooks = (struct spawn_bounds){ .fd = self.listener,
		.ready = answer_call,
		.over = self.proc >= 0 && self.memory > 0 ? passed_limit : NULL,
		.every_ms = EVERY_MS };
	return &self.hooks;
}
