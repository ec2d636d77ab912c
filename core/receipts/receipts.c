/* SPDX-License-Identifier: MIT */
#include "receipts/receipts.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"

#define START_MS 10000
#define BEGIN_MS 3000    /* for the answer to an announcement */
#define WRITTEN_MS 10000 /* to an end: a disk may be slow */
#define AGAIN_MS 1000    /* between two starts */
#define END_MS 3000      /* for the writer's end */

/* ------------------------------------------------------------- the writer */

static void
child_exec(const struct receipts *r, char *const *argv)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(r->writer_fd, STDIN_FILENO) == STDIN_FILENO)
		execv(argv[0], argv);
	_exit(127);
}

/* True: it has sent the byte that says that it is ready. */
static bool
is_ready(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t until = clock_ms() + START_MS;
	char byte;

	while (clock_ms() < until)
		if (poll(&p, 1, 100) > 0)
			return recv(fd, &byte, 1, MSG_DONTWAIT) == 1;
	return false;
}

static enum ss_err
fork_writer(struct receipts *r, const struct receipts_plan *plan,
	struct ss_error *err)
{
	char helper[4096], file[4096], key[4096], uid[24], gid[24];
	static char write_word[] = "write";
	char *argv[] = { helper, write_word, file, key, uid, gid, NULL };

	if (geteuid() != 0)
		argv[4] = NULL;
	snprintf(helper, sizeof(helper), "%s", plan->helper);
	snprintf(file, sizeof(file), "%s", r->file);
	snprintf(key, sizeof(key), "%s", r->key);
	snprintf(uid, sizeof(uid), "%lu", (unsigned long)plan->uid);
	snprintf(gid, sizeof(gid), "%lu", (unsigned long)plan->gid);
	r->started_ms = clock_ms();
	r->pid = fork();
	if (r->pid == 0)
		child_exec(r, argv);
	return r->pid > 0 ? SS_OK : error_internal(err, errno, "fork");
}

enum ss_err
receipts_start(struct receipts *r, const struct receipts_plan *plan,
	struct ss_error *err)
{
	bool again = r->writer_fd >= 0;
	int ends[2];
	enum ss_err code;

	r->looked = true;
	if (!again) {
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			    ends) < 0)
			return error_internal(err, errno, "socketpair");
		r->send_fd = ends[0];
		r->writer_fd = ends[1];
	}
	code = fork_writer(r, plan, err);
	/* Where workers send already, nobody waits for its first byte. */
	if (code != SS_OK || again || is_ready(r->send_fd))
		return code;
	receipts_close(r);
	error_set(err, SS_CONFIG, "the receipts of [log] cannot be written");
	error_hint(err,
		"the line before this one says why; `statespace receipts key "
		"FILE` makes a key");
	return SS_CONFIG;
}

bool
receipts_ended(const struct receipts *r)
{
	return r->pid > 0 && clock_ms() - r->started_ms > AGAIN_MS &&
		(waitpid(r->pid, NULL, WNOHANG) == r->pid ||
			(kill(r->pid, 0) < 0 && errno == ESRCH));
}

void
receipts_enter_worker(struct receipts *r)
{
	fd_close(&r->writer_fd);
	r->pid = -1;
}

void
receipts_close(struct receipts *r)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	uint64_t until = clock_ms() + END_MS;

	fd_close(&r->send_fd);
	fd_close(&r->writer_fd);
	r->started_ms = 0;
	while (r->pid > 0 && !receipts_ended(r) && clock_ms() < until)
		nanosleep(&nap, NULL);
	r->pid = -1;
}

/* --------------------------------------------------------------- messages */

enum told { TOLD_NOTHING, TOLD_NO, TOLD_YES };

/* TOLD_NOTHING: the writer went away. */
static enum told
wait_for_answer(int fd, uint64_t patience_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t now = clock_ms(), until = now + patience_ms;
	char byte = '0';
	int n;

	for (; now < until; now = clock_ms()) {
		n = poll(&p, 1, (int)(until - now));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || recv(fd, &byte, 1, MSG_DONTWAIT) != 1)
			return TOLD_NOTHING;
		return byte == '1' ? TOLD_YES : TOLD_NO;
	}
	return TOLD_NOTHING;
}

/* Sends one with the run's socket; run->fd is our end. */
static bool
announce(const struct receipts *r, struct receipt_run *run, char kind,
	struct ss_text members)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { .bytes = { 0 } };
	struct iovec parts[2] = { { &kind, 1 }, { NULL, members.len } };
	struct msghdr m = { .msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int ends[2];
	bool sent;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	memcpy(&parts[1].iov_base, &members.data, sizeof(void *));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &ends[1], sizeof(int));
	sent = sendmsg(r->send_fd, &m, MSG_NOSIGNAL) > 0;
	fd_close(&ends[1]);
	run->fd = ends[0];
	sent = sent &&
		wait_for_answer(run->fd, kind == 'B' ? BEGIN_MS : WRITTEN_MS) ==
			TOLD_YES;
	if (!sent)
		fd_close(&run->fd);
	return sent;
}

enum ss_err
receipts_begin(
	const struct receipts *r, struct receipt_run *run, struct ss_error *err)
{
	if (r->send_fd >= 0 && buf_ok(&run->members) &&
		announce(r, run, 'B', buf_view(&run->members)))
		return SS_OK;
	error_set(err, SS_STATE,
		"no receipt can be written; the tool did not run");
	error_hint(err, "the same request can be sent again later");
	error_detail(err, "[log] receipts: the writer does not answer");
	return SS_STATE;
}

bool
receipts_end(const struct receipts *r, struct receipt_run *run,
	const struct buf *members)
{
	struct buf whole = BUF_INIT(16384);
	enum told told = TOLD_NOTHING;
	bool recorded;

	buf_char(&whole, 'E');
	buf_add(&whole, members->data, members->len);
	if (run->fd >= 0 && buf_ok(&whole)) {
		if (send(run->fd, whole.data, whole.len, MSG_NOSIGNAL) ==
			(ssize_t)whole.len)
			told = wait_for_answer(run->fd, WRITTEN_MS);
	}
	fd_close(&run->fd);
	recorded = told == TOLD_YES;
	/* With "0" the writer keeps it, and writes it when it can. */
	if (told == TOLD_NOTHING) {
		/* It went away in between: another one takes it whole. */
		buf_clear(&whole);
		buf_add(&whole, run->members.data, run->members.len);
		buf_char(&whole, '|');
		buf_add(&whole, members->data, members->len);
		recorded = buf_ok(&whole) &&
			announce(r, run, 'W', buf_view(&whole));
		fd_close(&run->fd);
	}
	buf_release(&whole);
	return recorded;
}

void
receipts_release(struct receipt_run *run)
{
	fd_close(&run->fd);
	buf_release(&run->members);
}
