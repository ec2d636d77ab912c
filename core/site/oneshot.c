/* SPDX-License-Identifier: MIT */
/*
 * The two ends are one program and one socket: frames are a head and its
 * bytes, the last one is the result as it lies in memory.
 */
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

/* Of one frame; a longer piece of output is sent in several. */
#define FRAME_MAX 65536

enum frame_kind { FRAME_STDOUT = 1, FRAME_STDERR = 2, FRAME_RESULT = 3 };

struct frame {
	uint32_t kind, len;
};

struct outcome {
	enum ss_err code;
	int returncode;
	uint64_t run_us, cpu_us, memory_bytes;
	char limit[16], sandbox[16], memory[16];
	struct ss_error err;
};

/* What the confined process needs to know. */
struct errand {
	oneshot_fn fn;
	void *ctx;
	const struct ss_command *cmd;
	int ends[2]; /* 0 is the parent's, 1 ours */
	bool watched;
};

static int
send_frame(int fd, enum frame_kind kind, const void *data, size_t len)
{
	struct frame head = { .kind = kind, .len = (uint32_t)len };
	int number = fd_write_all(fd, (const char *)&head, sizeof(head));

	return number != 0 ? number : fd_write_all(fd, data, len);
}

static void
send_output(void *ctx, int stream, const char *data, size_t len)
{
	const struct errand *e = ctx;

	while (len > 0) {
		size_t n = len < FRAME_MAX ? len : FRAME_MAX;

		if (send_frame(e->ends[1],
			    stream == 1 ? FRAME_STDOUT : FRAME_STDERR, data,
			    n) != 0)
			return;
		data += n;
		len -= n;
	}
}

static void
copy_word(char *out, size_t cap, const char *word)
{
	size_t n = word != NULL ? strlen(word) : 0;

	if (n >= cap)
		n = cap - 1;
	if (n > 0)
		memcpy(out, word, n);
	out[n] = '\0';
}

/* 0; errno; ECONNRESET for an end that came too early. */
static int
read_exactly(int fd, void *out, size_t len)
{
	char *p = out;
	ssize_t n;

	while (len > 0) {
		n = read(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ECONNRESET;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Only what is dumpable can be traced; nothing of the tool has begun.  False:
 * the parent gave up.
 */
static bool
wait_for_watch(int fd)
{
	char ready = 'r';
	bool done;

	prctl(PR_SET_DUMPABLE, 1);
	done = fd_write_all(fd, &ready, 1) == 0 &&
		read_exactly(fd, &ready, 1) == 0;
	prctl(PR_SET_DUMPABLE, 0);
	return done;
}

/* Our end hangs up when the parent leaves: that ends the run. */
static int
confined_main(void *ctx)
{
	struct errand *e = ctx;
	struct ss_command cmd = *e->cmd;
	struct ss_result result = SS_INIT(ss_result);
	static struct outcome o;

	fd_close(&e->ends[0]);
	signal(SIGPIPE, SIG_IGN);
	if (e->watched && !wait_for_watch(e->ends[1]))
		return 1;
	cmd.output = send_output;
	cmd.output_ctx = e;
	cmd.client_fd = e->ends[1];
	o.code = e->fn(e->ctx, &cmd, &result, &o.err);
	o.returncode = result.returncode;
	o.run_us = result.run_us;
	o.cpu_us = result.cpu_us;
	o.memory_bytes = result.memory_bytes;
	copy_word(o.limit, sizeof(o.limit), result.limit);
	copy_word(o.sandbox, sizeof(o.sandbox), result.sandbox);
	copy_word(o.memory, sizeof(o.memory), result.memory);
	return send_frame(e->ends[1], FRAME_RESULT, &o, sizeof(o)) != 0;
}

/* Where the frames come from, and who else wants something meanwhile. */
struct source {
	int fd, client_fd;
	struct watch *watch; /* NULL: none */
};

/* Waits for something to read; false: the client hung up first. */
static bool
wait_readable(const struct source *in)
{
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

/* A watched process may stop in the middle of a frame. */
static int
take_exactly(const struct source *in, void *out, size_t len)
{
	char *p = out;
	ssize_t n;

	while (len > 0) {
		if (in->watch != NULL && !wait_readable(in))
			return ECONNRESET;
		n = read(in->fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ECONNRESET;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

static enum ss_err
take_output(const struct ss_command *cmd, struct buf collected[2], int stream,
	const char *data, size_t len, struct ss_error *err)
{
	if (cmd->output != NULL)
		cmd->output(cmd->output_ctx, stream, data, len);
	else if (!buf_add(&collected[stream - 1], data, len))
		return error_memory(err);
	return SS_OK;
}

static enum ss_err
receive(const struct source *in, const struct ss_command *cmd,
	struct buf collected[2], struct outcome *o, struct ss_error *err)
{
	static char data[FRAME_MAX];
	struct frame head;
	enum ss_err code = SS_OK;
	int number;

	while (code == SS_OK) {
		if (!wait_readable(in))
			return error_set(err, SS_GONE, "the client left");
		number = take_exactly(in, &head, sizeof(head));
		if (number == 0 && head.kind == FRAME_RESULT)
			number = take_exactly(in, o, sizeof(*o));
		else if (number == 0)
			number = head.len <= sizeof(data)
				? take_exactly(in, data, head.len)
				: EPROTO;
		if (number != 0)
			return error_internal(
				err, number, "the confined process went away");
		if (head.kind == FRAME_RESULT)
			return SS_OK;
		code = take_output(
			cmd, collected, (int)head.kind, data, head.len, err);
	}
	return code;
}

static const char *
static_limit(const char *word)
{
	static const char *const words[] = { "wall", "output", "cpu", "file",
		"memory", "processes" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0)
			return words[i];
	return NULL;
}

static const char *
static_level(const char *word)
{
	enum sandbox_level l;

	for (l = SANDBOX_NONE; l < SANDBOX_STRICT; l++)
		if (strcmp(word, sandbox_level_name(l)) == 0)
			break;
	return sandbox_level_name(l);
}

static const char *
static_memory(const char *word)
{
	return strcmp(word, "group") == 0      ? "group"
		: strcmp(word, "process") == 0 ? "process"
					       : NULL;
}

static enum ss_err
hand_over(
	const struct outcome *o, struct ss_result *result, struct ss_error *err)
{
	result->returncode = o->returncode;
	result->run_us = o->run_us;
	result->cpu_us = o->cpu_us;
	result->memory_bytes = o->memory_bytes;
	result->limit = static_limit(o->limit);
	result->sandbox = static_level(o->sandbox);
	result->memory = static_memory(o->memory);
	if (o->code != SS_OK && err != NULL)
		*err = o->err;
	return o->code;
}

/* The confined process waits for a byte until it is watched. */
static enum ss_err
begin_watch(int fd, pid_t pid, struct watch **watch, struct ss_error *err)
{
	char ready;
	int number = read_exactly(fd, &ready, 1);

	if (number != 0)
		return error_internal(
			err, number, "the confined process went away");
	*watch = watch_new();
	if (*watch == NULL)
		return error_memory(err);
	number = watch_attach(*watch, pid);
	if (number == 0)
		number = fd_write_all(fd, &ready, 1);
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
await(pid_t pid, struct watch *watch)
{
	if (watch != NULL)
		watch_finish(watch, pid);
	else
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
}

enum ss_err
oneshot_watch(struct sandbox_plan *plan, unsigned keeps, oneshot_fn fn,
	void *ctx, const struct ss_command *cmd, struct buf collected[2],
	struct watch **watch, struct ss_result *result, struct ss_error *err)
{
	struct errand e = {
		.fn = fn, .ctx = ctx, .cmd = cmd, .watched = watch != NULL
	};
	struct source in = { .client_fd = cmd->client_fd };
	struct outcome o;
	const struct sandbox_process process = { .keeps = keeps,
		.watched = e.watched,
		.main = confined_main,
		.ctx = &e };
	struct ss_child child = { .pid = -1 };
	enum ss_err code;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, e.ends) < 0)
		return error_internal(err, errno, "socketpair");
	code = sandbox_fork(plan, &process, &child, err);
	fd_close(&e.ends[1]);
	if (code == SS_OK && watch != NULL)
		code = begin_watch(e.ends[0], child.pid, &in.watch, err);
	in.fd = e.ends[0];
	if (code == SS_OK)
		code = receive(&in, cmd, collected, &o, err);
	fd_close(&e.ends[0]);
	if (child.pid > 0)
		await(child.pid, in.watch);
	if (watch != NULL)
		*watch = in.watch;
	return code == SS_OK ? hand_over(&o, result, err) : code;
}

enum ss_err
oneshot_run(struct sandbox_plan *plan, unsigned keeps, oneshot_fn fn, void *ctx,
	const struct ss_command *cmd, struct buf collected[2],
	struct ss_result *result, struct ss_error *err)
{
	return oneshot_watch(
		plan, keeps, fn, ctx, cmd, collected, NULL, result, err);
}
