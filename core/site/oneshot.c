/* SPDX-License-Identifier: MIT */
#include "site/oneshot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/fd.h"
#include "run/channel.h"
#include "run/reap.h"
#include "sandbox/sandbox_fork.h"
#include "sandbox/sandbox_scratch.h"

/* The first two are the stream's number; FRAME_END ends the run. */
enum {
	FRAME_STDOUT = 1,
	FRAME_STDERR = 2,
	FRAME_READY = 3,
	FRAME_END = 4,
	FRAME_PROGRESS = 5,
	FRAME_WORKSPACE = ONESHOT_WORKSPACE
};

/* The bytes of FRAME_END. */
struct end {
	enum ss_err code;
	struct oneshot_result result;
	struct ss_error err;
};

/* Both ends of the run, from before the fork. */
struct ends {
	const struct oneshot *asked;
	int fd[2]; /* 0 is the parent's, 1 the child's */
};

/* ----------------------------------------------------------- in the child */

static void
send_output(void *ctx, int stream, const char *data, size_t len)
{
	channel_send_pieces(ctx, (unsigned)stream, data, len);
}

static void
send_progress(void *ctx, const char *data, size_t len)
{
	channel_send_pieces(ctx, FRAME_PROGRESS, data, len);
}

/*
 * Only a dumpable process can be traced, ptrace(2); the tool has not begun.
 * False: the parent gave up.
 */
static bool
wait_for_watch(const struct channel *c)
{
	struct channel_head head;
	bool done;

	prctl(PR_SET_DUMPABLE, 1);
	done = channel_send(c, FRAME_READY, NULL, 0) == 0 &&
		channel_read_head(c, 0, &head) == 0;
	prctl(PR_SET_DUMPABLE, 0);
	return done;
}

/* When the parent dies its end closes: that ends the run, as a client's. */
static int
child_main(void *ctx)
{
	struct ends *ends = ctx;
	const struct oneshot *o = ends->asked;
	struct channel channel = { .fd = ends->fd[1] };
	struct ss_command cmd = *o->cmd;
	static struct end end;

	fd_close(&ends->fd[0]);
	signal(SIGPIPE, SIG_IGN);
	if (o->watched && !wait_for_watch(&channel))
		return 1;
	cmd.output = send_output;
	cmd.output_ctx = &channel;
	if (cmd.progress != NULL)
		cmd.progress = send_progress;
	cmd.client_fd = channel.fd;
	end.code = o->fn(o->ctx, &cmd, &end.result, &end.err);
	end.result.level = sandbox_self()->level;
	end.result.memory = sandbox_self()->memory;
	if (o->last) {
		/* Whoever reads them sees the end at the end of the parent. */
		sandbox_scratch_leave();
		for (int fd = 0; fd < 3; fd++)
			close(fd);
	}
	return channel_send(&channel, FRAME_END, &end, sizeof(end)) != 0;
}

/* ---------------------------------------------------------- in the parent */

struct source {
	int fd, client_fd;
	struct watch *watch; /* NULL: none */
};

/*
 * Waits for something to read; false: the client hung up first.  A watched
 * child may stop in the middle of a frame, until watch_drain lets it go on.
 */
static bool
wait_readable(void *ctx)
{
	const struct source *in = ctx;
	struct pollfd p[3] = { { .fd = in->fd, .events = POLLIN },
		{ .fd = in->client_fd, .events = POLLRDHUP },
		{ .fd = in->watch != NULL ? watch_fd(in->watch) : -1,
			.events = POLLIN } };
	bool busy;

	for (;;) {
		busy = in->watch != NULL && watch_drain(in->watch);
		if (poll(p, 3, busy ? 0 : -1) < 0)
			continue;
		if (p[0].revents != 0)
			return true;
		if (p[1].revents != 0)
			return false;
	}
}

static enum ss_err
take_output(const struct oneshot *o, int stream, const char *data, size_t len,
	struct ss_error *err)
{
	if (o->cmd->output != NULL)
		o->cmd->output(o->cmd->output_ctx, stream, data, len);
	else if (!buf_add(&o->collected[stream - 1], data, len))
		return error_memory(err);
	return SS_OK;
}

static enum ss_err
refuse_lost(struct ss_error *err, int number)
{
	if (number == ECANCELED)
		return error_set(err, SS_GONE, "the client left");
	return error_internal(err, number, "the confined process went away");
}

static enum ss_err
receive_frames(const struct oneshot *o, struct source *in, struct end *end,
	struct ss_error *err)
{
	static char data[CHANNEL_PIECE];
	const struct channel c = { in->fd, wait_readable, in };
	struct channel_head head;
	enum ss_err code = SS_OK;
	int number;

	_Static_assert(sizeof(*end) <= sizeof(data), "an end is one frame");
	while (code == SS_OK) {
		number = channel_read_head(&c, sizeof(data), &head);
		if (number == 0)
			number = channel_read(&c, data, head.len);
		if (number == 0 && head.kind == FRAME_END &&
			head.len == sizeof(*end)) {
			memcpy(end, data, sizeof(*end));
			return SS_OK;
		}
		if (number == 0 && head.kind == FRAME_PROGRESS &&
			o->cmd->progress != NULL) {
			o->cmd->progress(o->cmd->output_ctx, data, head.len);
			continue;
		}
		if (number == 0 && head.kind == FRAME_WORKSPACE &&
			o->workspace != NULL) {
			if (!buf_add(o->workspace, data, head.len))
				return error_memory(err);
			continue;
		}
		if (number == 0 && head.kind != FRAME_STDOUT &&
			head.kind != FRAME_STDERR)
			number = EPROTO;
		if (number != 0)
			return refuse_lost(err, number);
		code = take_output(o, (int)head.kind, data, head.len, err);
	}
	return code;
}

/* The child waits for a frame until it is traced. */
static enum ss_err
begin_watch(int fd, pid_t pid, struct watch **watch, struct ss_error *err)
{
	const struct channel c = { .fd = fd };
	struct channel_head head;
	int number = channel_read_head(&c, 0, &head);

	if (number != 0)
		return refuse_lost(err, number);
	*watch = watch_new();
	if (*watch == NULL)
		return error_memory(err);
	number = watch_attach(*watch, pid);
	if (number == 0)
		number = channel_send(&c, FRAME_READY, NULL, 0);
	if (number == 0)
		return SS_OK;
	watch_free(*watch);
	*watch = NULL;
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"the tool did not run: it cannot be watched here");
	error_hint(err,
		"tracing needs ptrace: a container with SYS_PTRACE, or the "
		"tools' own account instead of root");
	error_detail(err, "ptrace: %s", strerror(number));
	return SS_SANDBOX_UNAVAILABLE;
}

static void
wait_child(pid_t pid, struct watch *watch)
{
	if (watch != NULL)
		watch_finish(watch, pid);
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

enum ss_err
oneshot_run(
	struct oneshot *o, struct oneshot_result *result, struct ss_error *err)
{
	struct ends ends = { .asked = o };
	const struct sandbox_process process = { .keeps = o->keeps,
		.watched = o->watched,
		.flags = SS_FORK_BRIEF,
		.main = child_main,
		.ctx = &ends };
	struct source in = { .client_fd = o->cmd->client_fd };
	struct ss_child child;
	struct end end = { .code = SS_INTERNAL };
	enum ss_err code;

	o->watch = NULL;
	o->ended = false;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.fd) < 0)
		return error_internal(err, errno, "socketpair");
	code = sandbox_fork(o->plan, &process, &child, err);
	fd_close(&ends.fd[1]);
	in.fd = ends.fd[0];
	if (code == SS_OK && o->watched)
		code = begin_watch(in.fd, child.pid, &in.watch, err);
	if (code == SS_OK)
		code = receive_frames(o, &in, &end, err);
	fd_close(&ends.fd[0]);
	/* One that has sent its end only gives back what it has. */
	if (child.pid > 0 &&
		(code != SS_OK || !o->last || o->watched ||
			!reap_is_for_init()))
		wait_child(child.pid, in.watch);
	o->watch = in.watch;
	if (code != SS_OK)
		return code;
	o->ended = true;
	*result = end.result;
	if (end.code != SS_OK && err != NULL)
		*err = end.err;
	return end.code;
}
