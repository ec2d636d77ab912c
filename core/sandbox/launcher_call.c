/* SPDX-License-Identifier: MIT */
#include "sandbox/launcher_call.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/fd.h"
#include "sandbox/launcher_wire.h"
#include "sandbox/workspace_use.h"

#define GRACE_MS 10000 /* over the command's own time */

static int to_launcher = -1;
static bool broken;

void
launcher_attach(int socket)
{
	to_launcher = socket;
	broken = false;
}

bool
launcher_is_attached(void)
{
	return to_launcher >= 0;
}

bool
launcher_is_broken(void)
{
	return broken;
}

static enum ss_err
refuse_lost(struct ss_error *err, const char *what)
{
	broken = true;
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"the process that runs this kind of tool is gone");
	error_hint(err, "try again: the next worker has a new one");
	error_detail(err, "launcher: %s", what);
	return SS_SANDBOX_UNAVAILABLE;
}

/* One run in the launcher, as the worker follows it. */
struct followed_run {
	struct channel channel;
	const struct spawn *s;
	struct spawn_result *result;
	struct ss_error *err;
	uint64_t deadline_ms;
	bool cancelled;
};

/* Until the deadline, or the next call of output without any. */
static int
wait_ms(const struct followed_run *run)
{
	int left = clock_left_ms(run->deadline_ms);
	uint32_t tick = run->s->output != NULL ? run->s->tick_ms : 0;

	return tick != 0 && tick < (uint32_t)left ? (int)tick : left;
}

/*
 * When the client leaves, the run is cancelled and its end is waited for.
 * False: the deadline has passed.
 */
static bool
wait_frame(void *ctx)
{
	struct followed_run *run = ctx;
	struct pollfd p[2] = { { run->channel.fd, POLLIN, 0 },
		{ run->s->client_fd, spawn_client_events(run->s), 0 } };
	int n;

	for (;;) {
		if (run->cancelled)
			p[1].fd = -1;
		n = poll(p, 2, wait_ms(run));
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && clock_left_ms(run->deadline_ms) > 0) {
			if (run->s->output != NULL)
				run->s->output(run->s->output_ctx, 0, "", 0);
			continue;
		}
		if (n <= 0)
			return false;
		if (p[0].revents != 0)
			return true;
		if (!spawn_client_left(run->s, p[1].revents))
			continue;
		run->cancelled = true;
		shutdown(run->channel.fd, SHUT_WR);
	}
}

static bool
take_output(struct followed_run *run, int stream, const char *data, size_t len)
{
	struct spawn_result *r = run->result;

	if (run->s->output == NULL)
		return buf_add(
			stream == LAUNCHER_OUT ? &r->out : &r->err, data, len);
	run->s->output(run->s->output_ctx, stream, data, len);
	return true;
}

/* True: *code is the end of the run. */
static bool
take_frame(struct followed_run *run, enum ss_err *code)
{
	static char data[CHANNEL_PIECE];
	struct channel_head head;
	bool clean = false;

	if (channel_read_head(&run->channel, sizeof(data), &head) != 0 ||
		channel_read(&run->channel, data, head.len) != 0) {
		*code = refuse_lost(run->err, "it does not answer");
		return true;
	}
	if (head.kind == LAUNCHER_OUT || head.kind == LAUNCHER_ERR) {
		if (take_output(run, (int)head.kind, data, head.len))
			return false;
		*code = error_memory(run->err);
		return true;
	}
	if (head.kind == LAUNCHER_PROGRESS) {
		if (run->s->progress != NULL)
			run->s->progress(run->s->output_ctx, data, head.len);
		return false;
	}
	if (head.kind == LAUNCHER_WORKSPACE) {
		if (buf_add(&run->result->workspace, data, head.len))
			return false;
		*code = error_memory(run->err);
		return true;
	}
	if (head.kind == LAUNCHER_REFUSED &&
		launcher_get_refusal(data, head.len, run->err)) {
		*code = run->err->code;
	} else if (head.kind == LAUNCHER_END &&
		launcher_get_end(data, head.len, run->result, &clean)) {
		broken = !clean;
		*code = SS_OK;
	} else {
		*code = refuse_lost(run->err, "its frame is malformed");
	}
	return true;
}

/* The launcher reads the whole command before it sends anything back. */
static bool
send_command(struct followed_run *run, int theirs, const struct policy *p)
{
	struct buf b = BUF_INIT(LAUNCHER_COMMAND_MAX);
	bool sent;

	if (!launcher_put_command(&b, p, run->s)) {
		buf_release(&b);
		error_memory(run->err);
		return false;
	}
	sent = launcher_send_run(to_launcher, theirs, run->s->stdin_fd) &&
		channel_send(&run->channel, LAUNCHER_COMMAND, b.data, b.len) ==
			0;
	buf_release(&b);
	if (!sent)
		refuse_lost(run->err, "it takes no command");
	return sent;
}

enum ss_err
launcher_call(const struct policy *p, const struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	struct ss_error own = { .code = SS_OK };
	struct followed_run run = {
		.s = s, .result = result, .err = err != NULL ? err : &own
	};
	uint64_t timeout = s->limits.timeout_ms;
	size_t ceiling = s->limits.output_bytes == 0
		? SIZE_MAX / 2
		: (size_t)s->limits.output_bytes;
	enum ss_err code = SS_INTERNAL;
	int pair[2];

	*result = (struct spawn_result){ .end = SPAWN_FAILED,
		.out = BUF_INIT(ceiling),
		.err = BUF_INIT(ceiling),
		.report = BUF_INIT(SPAWN_REPORT_BYTES),
		.workspace = BUF_INIT(WORKSPACE_ANSWER_MAX) };
	if (s->workspace != NULL && s->workspace->act != WORKSPACE_RUN)
		result->out.max = WORKSPACE_ANSWER_MAX;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_internal(err, errno, "launcher: socketpair");
	run.channel = (struct channel){ pair[0], wait_frame, &run };
	run.deadline_ms =
		clock_ms() + (timeout > 0 ? timeout + GRACE_MS : INT_MAX);
	if (!send_command(&run, pair[1], p)) {
		code = run.err->code;
		fd_close(&pair[1]);
	} else {
		fd_close(&pair[1]);
		while (!take_frame(&run, &code))
			;
	}
	fd_close(&pair[0]);
	return code;
}
