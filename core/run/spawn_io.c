/* SPDX-License-Identifier: MIT */
/*
 * The descriptors of one child: its pipes, what goes in, what comes out.
 */
#include "run/spawn_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

/*
 * Moves *fd above 2, where the child's dup2 would land.  On failure it stays
 * what it was, for its owner to close.  0 or errno.
 */
int
spawn_io_keep_clear(int *fd)
{
	int high = fd_raise(*fd, 3);

	if (high < 0)
		return errno;
	*fd = high;
	return 0;
}

/* A pipe whose end of ours does not block.  0 or errno. */
static int
pipe_open(int *ours, int *childs, bool we_read)
{
	int ends[2], e = fd_pipe(ends);

	if (e != 0)
		return e;
	*ours = ends[we_read ? 0 : 1];
	*childs = ends[we_read ? 1 : 0];
	e = spawn_io_keep_clear(ours);
	if (e == 0)
		e = spawn_io_keep_clear(childs);
	if (e == 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) < 0)
		e = errno;
	return e;
}

/*
 * Opens a terminal or pipe a second time: O_NONBLOCK belongs to the open file,
 * and other processes may share the first one.
 */
static int
relay_open(struct run *run)
{
	int fd = run->s->stdin_fd;
	char path[32];
	struct stat st;

	if (fstat(fd, &st) != 0)
		return errno;
	run->relay_is_socket = S_ISSOCK(st.st_mode);
	if (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		run->relay = open(
			path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	}
	if (run->relay < 0)
		run->relay = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return run->relay < 0 ? errno : 0;
}

static int
stdin_open(struct run *run)
{
	const struct spawn *s = run->s;
	int e;

	if (s->stdin_len == 0 && s->stdin_fd < 0) {
		run->child[0] = run->batch->null;
		return 0;
	}
	run->pending = s->stdin_data;
	run->pending_len = s->stdin_len;
	e = pipe_open(&run->feed, &run->child[0], false);
	return e != 0 || s->stdin_fd < 0 ? e : relay_open(run);
}

int
spawn_io_open(struct run *run)
{
	int e = stdin_open(run);

	if (e == 0)
		e = pipe_open(&run->from[0], &run->child[1], true);
	if (e == 0)
		e = pipe_open(&run->from[1], &run->child[2], true);
	if (e == 0 && (run->s->reports || run->s->has_progress))
		e = pipe_open(&run->report[0], &run->report[1], true);
	return spawn_note_fault(run->batch, "descriptors", e);
}

void
spawn_io_close_child_ends(struct run *run)
{
	if (run->child[0] == run->batch->null)
		run->child[0] = -1;
	for (int i = 0; i < 3; i++)
		fd_close(&run->child[i]);
	fd_close(&run->report[1]);
}

void
spawn_io_close_feed(struct run *run)
{
	fd_close(&run->feed);
	fd_close(&run->relay);
	run->pending_len = 0;
}

void
spawn_io_close(struct run *run)
{
	spawn_io_close_child_ends(run);
	spawn_io_close_feed(run);
	fd_close(&run->from[0]);
	fd_close(&run->from[1]);
	fd_close(&run->report[0]);
	fd_close(&run->pidfd);
}

/* A callback may block: it runs with the host's signals unblocked. */
bool
spawn_io_deliver(struct run *run, int stream, const char *data, size_t len)
{
	const struct spawn *s = run->s;
	sigset_t held;

	if (s->output == NULL)
		return buf_add(
			stream == 1 ? &run->r->out : &run->r->err, data, len);
	sigprocmask(SIG_SETMASK, &run->batch->wait_mask, &held);
	s->output(s->output_ctx, stream, data, len);
	sigprocmask(SIG_SETMASK, &held, NULL);
	run->batch->piped = true;
	return true;
}

/*
 * Reads at most max bytes once.  One byte more than the ceiling is read, to see
 * that it was passed; it is not kept.
 */
size_t
spawn_io_take(struct run *run, int stream, size_t max)
{
	static char chunk[65536];
	int *fd = &run->from[stream - 1];
	size_t keep;
	ssize_t n;

	if (max > sizeof(chunk))
		max = sizeof(chunk);
	if (max > run->left && run->left < sizeof(chunk))
		max = (size_t)run->left + 1;
	n = read(*fd, chunk, max);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		spawn_fail(run, "read", errno);
	if (n <= 0) {
		fd_close(fd);
		return 0;
	}
	keep = (size_t)n > run->left ? (size_t)run->left : (size_t)n;
	if (keep > 0 && !spawn_io_deliver(run, stream, chunk, keep)) {
		spawn_fail(run, "output", ENOMEM);
		return 0;
	}
	run->left -= keep;
	if ((size_t)n > keep)
		spawn_stop(run, SPAWN_OUTPUT);
	return keep;
}

void
spawn_io_feed(struct run *run)
{
	ssize_t n = write(run->feed, run->pending, run->pending_len);

	if (n < 0) {
		if (errno == EAGAIN || errno == EINTR)
			return;
		if (errno != EPIPE)
			spawn_fail(run, "write", errno);
		run->batch->piped = true;
		spawn_io_close_feed(run);
		return;
	}
	run->pending += n;
	run->pending_len -= (size_t)n;
	if (run->pending_len == 0 && run->relay < 0)
		spawn_io_close_feed(run);
}

void
spawn_io_relay(struct run *run)
{
	static char chunk[16384];
	ssize_t n = run->relay_is_socket
		? recv(run->relay, chunk, sizeof(chunk), MSG_DONTWAIT)
		: read(run->relay, chunk, sizeof(chunk));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* EIO: a terminal that hung up, or that we are in the background of */
	if (n < 0 && errno != EIO)
		spawn_fail(run, "stdin", errno);
	if (n <= 0) {
		spawn_io_close_feed(run);
		return;
	}
	run->pending = chunk;
	run->pending_len = (size_t)n;
	spawn_io_feed(run);
}

/*
 * The child is dead: reads what is in the pipes now and does not wait for their
 * end, since processes that it left may hold them.  A run that had ended
 * otherwise keeps that end, even when this passes the ceiling.
 */
void
spawn_io_drain(struct run *run)
{
	size_t n;
	int there;

	run->over = run->r->end != SPAWN_EXITED;
	for (int stream = 1; stream <= 2; stream++) {
		if (run->from[stream - 1] < 0)
			continue;
		if (ioctl(run->from[stream - 1], FIONREAD, &there) != 0) {
			spawn_fail(run, "drain", errno);
			return;
		}
		while (there > 0 &&
			(n = spawn_io_take(run, stream, (size_t)there)) > 0)
			there -= (int)n;
	}
}

/* A report fits into a pipe: all of it is there, or none. */
void
spawn_io_take_report(struct run *run)
{
	struct buf *report = &run->r->report;
	char *space;
	ssize_t n;

	if (run->report[0] < 0 || !run->s->reports)
		return;
	space = buf_reserve(report, SPAWN_REPORT_BYTES);
	if (space == NULL) {
		spawn_fail(run, "report", ENOMEM);
		return;
	}
	n = read(run->report[0], space, SPAWN_REPORT_BYTES);
	if (n < 0 && errno != EAGAIN)
		spawn_fail(run, "report", errno);
	report->len = n > 0 ? (size_t)n : 0;
	space[report->len] = '\0';
}

int
spawn_io_progress_fd(const struct run *run)
{
	return run->s->reports ? -1 : run->report[0];
}

/* A callback may block, as one for output. */
static void
deliver_progress(struct run *run, const char *data, size_t len)
{
	const struct spawn *s = run->s;
	sigset_t held;

	if (s->progress == NULL)
		return;
	sigprocmask(SIG_SETMASK, &run->batch->wait_mask, &held);
	s->progress(s->output_ctx, data, len);
	sigprocmask(SIG_SETMASK, &held, NULL);
	run->batch->piped = true;
}

void
spawn_io_take_progress(struct run *run)
{
	static char chunk[65536];
	ssize_t n = read(run->report[0], chunk, sizeof(chunk));

	if (n > 0)
		deliver_progress(run, chunk, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		fd_close(&run->report[0]);
}

/* The first read takes all that a pipe of the usual size holds. */
void
spawn_io_drain_progress(struct run *run)
{
	if (spawn_io_progress_fd(run) >= 0)
		spawn_io_take_progress(run);
}
