/* SPDX-License-Identifier: MIT */
/*
 * The launcher: a confined sibling of a worker that kept what the worker gave
 * away (network, granted sockets, /proc), and runs one command at a time for
 * it.  Each command narrows that again to its own policy: the ruleset is made
 * over there, and a filter takes the socket families that it may not have.
 *
 * A run has a connection of its own, handed over on the worker's socket with
 * the relayed standard input.  On it goes one message there (the command and
 * its policy) and frames back: output while it comes, then the end.  Closing
 * its sending side is how the worker calls it off.
 *
 * The launcher trusts the worker no further than its own walls: it was born
 * with the operator's ceiling and cannot give more.
 */
#include "sandbox/sandbox_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/fd.h"

#define MESSAGE_MAX ((size_t)24 << 20) /* 1 MiB of words, and input */
#define FRAME_MAX ((size_t)65536)
#define ITEMS_MAX 131072
#define GRACE_MS 10000 /* over the command's own time */

enum frame { FRAME_OUT = 1, FRAME_ERR = 2, FRAME_END = 3, FRAME_REFUSED = 4 };

static int to_launcher = -1;
static bool broken;

/* ------------------------------------------------------------- bytes */

static bool
put_number(struct buf *b, uint64_t n)
{
	return buf_add(b, (const char *)&n, sizeof(n));
}

static bool
put_bytes(struct buf *b, const char *data, size_t len)
{
	return put_number(b, len) && buf_add(b, data, len);
}

static bool
put_text(struct buf *b, const char *text)
{
	return put_bytes(
		b, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

static bool
put_list(struct buf *b, const struct path_list *list)
{
	put_number(b, list->count);
	for (size_t i = 0; i < list->count; i++)
		put_text(b, list->items[i]);
	return buf_ok(b);
}

static bool
put_words(struct buf *b, char *const *words)
{
	size_t count = 0;

	while (words[count] != NULL)
		count++;
	put_number(b, count);
	for (size_t i = 0; i < count; i++)
		put_text(b, words[i]);
	return buf_ok(b);
}

struct reader {
	struct arena *arena;
	const char *at;
	size_t left;
	bool bad; /* sticks */
};

static uint64_t
get_number(struct reader *r)
{
	uint64_t n = 0;

	if (r->left < sizeof(n)) {
		r->bad = true;
		return 0;
	}
	memcpy(&n, r->at, sizeof(n));
	r->at += sizeof(n);
	r->left -= sizeof(n);
	return n;
}

static char *
get_bytes(struct reader *r, size_t *len)
{
	uint64_t n = get_number(r);
	char *copy = NULL;

	if (!r->bad && n <= r->left)
		copy = arena_copy(r->arena, r->at, (size_t)n);
	if (copy == NULL) {
		r->bad = true;
		*len = 0;
		return NULL;
	}
	r->at += n;
	r->left -= (size_t)n;
	*len = (size_t)n;
	return copy;
}

static char *
get_text(struct reader *r)
{
	size_t len;

	return get_bytes(r, &len);
}

/* NULL-terminated. */
static char **
get_words(struct reader *r, size_t *count)
{
	uint64_t n = get_number(r);
	char **words = NULL;

	*count = 0;
	if (!r->bad && n <= ITEMS_MAX)
		words = arena_array(r->arena, (size_t)n + 1, sizeof(*words));
	if (words == NULL) {
		r->bad = true;
		return NULL;
	}
	for (; *count < n && !r->bad; ++*count)
		words[*count] = get_text(r);
	return words;
}

static struct path_list
get_list(struct reader *r)
{
	struct path_list list;

	list.items = (const char *const *)get_words(r, &list.count);
	return list;
}

/* The order of these four is the protocol; both ends are one program. */

static bool
put_limits(struct buf *b, const struct spawn_limits *l)
{
	return put_number(b, l->timeout_ms) && put_number(b, l->output_bytes) &&
		put_number(b, l->cpu_s) && put_number(b, l->memory_bytes) &&
		put_number(b, l->processes) && put_number(b, l->open_files) &&
		put_number(b, l->file_bytes);
}

static struct spawn_limits
get_limits(struct reader *r)
{
	struct spawn_limits l;

	l.timeout_ms = (uint32_t)get_number(r);
	l.output_bytes = get_number(r);
	l.cpu_s = (uint32_t)get_number(r);
	l.memory_bytes = get_number(r);
	l.processes = get_number(r);
	l.open_files = get_number(r);
	l.file_bytes = get_number(r);
	return l;
}

static bool
put_command(struct buf *b, const struct policy *p, const struct spawn *s)
{
	put_text(b, s->program);
	put_words(b, s->argv);
	put_words(b, s->envp);
	put_bytes(b, s->stdin_data != NULL ? s->stdin_data : "",
		s->stdin_data != NULL ? s->stdin_len : 0);
	put_limits(b, &s->limits);
	put_number(b, s->reports);
	put_number(b, p->exec_any);
	put_list(b, &p->exec);
	put_list(b, &p->read);
	put_list(b, &p->read_under);
	put_list(b, &p->write);
	put_list(b, &p->write_under);
	put_list(b, &p->unix_sockets);
	put_number(b, p->keeps);
	put_number(b, p->http);
	put_text(b, p->page_dir);
	return buf_ok(b);
}

static bool
get_command(struct reader *r, struct policy *p, struct spawn *s)
{
	size_t count;

	s->program = get_text(r);
	s->argv = get_words(r, &count);
	s->envp = get_words(r, &count);
	s->stdin_data = get_bytes(r, &s->stdin_len);
	s->limits = get_limits(r);
	s->reports = get_number(r) != 0;
	p->exec_any = get_number(r) != 0;
	p->exec = get_list(r);
	p->read = get_list(r);
	p->read_under = get_list(r);
	p->write = get_list(r);
	p->write_under = get_list(r);
	p->unix_sockets = get_list(r);
	p->keeps = (unsigned)get_number(r);
	p->http = get_number(r) != 0;
	p->page_dir = get_text(r);
	p->program = s->program;
	return !r->bad && r->left == 0 && s->argv[0] != NULL;
}

/* ---------------------------------------------------------- the wire */

/* Whole or not at all; never SIGPIPE. */
static bool
send_all(int fd, const void *data, size_t len)
{
	const char *at = data;
	ssize_t n;

	while (len > 0) {
		n = send(fd, at, len, MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool
receive_all(int fd, void *data, size_t len)
{
	char *at = data;
	ssize_t n;

	while (len > 0) {
		n = recv(fd, at, len, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

struct frame_head {
	uint32_t kind;
	uint32_t len;
};

static bool
send_frame(int fd, enum frame kind, const void *data, size_t len)
{
	struct frame_head head = { (uint32_t)kind, (uint32_t)len };

	return send_all(fd, &head, sizeof(head)) && send_all(fd, data, len);
}

/* Descriptors beside one byte; the second may be -1. */
static bool
send_descriptors(int socket, int connection, int input)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = { .space = { 0 } };
	int fds[2] = { connection, input };
	size_t size = (input >= 0 ? 2 : 1) * sizeof(int);
	char byte = 'r';
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = CMSG_SPACE(size) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);

	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(head), fds, size);
	return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static bool
receive_descriptors(int socket, int fds[2])
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control;
	char byte;
	struct iovec io = { &byte, 1 };
	struct msghdr message = { .msg_iov = &io,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space) };
	struct cmsghdr *head;
	ssize_t n;

	fds[0] = fds[1] = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	head = n == 1 ? CMSG_FIRSTHDR(&message) : NULL;
	if (head == NULL || head->cmsg_type != SCM_RIGHTS)
		return false;
	memcpy(fds, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
	return true;
}

/* ------------------------------------------------------ in the launcher */

struct answer {
	int connection;
	bool lost; /* the worker does not read any more */
};

static void
relay(void *ctx, int stream, const char *data, size_t len)
{
	struct answer *a = ctx;
	size_t n;

	for (; len > 0 && !a->lost; data += n, len -= n) {
		n = len < FRAME_MAX ? len : FRAME_MAX;
		a->lost = !send_frame(a->connection,
			stream == 1 ? FRAME_OUT : FRAME_ERR, data, n);
	}
}

static void
send_end(const struct answer *a, const struct spawn_result *r)
{
	struct buf b = BUF_INIT(4096);

	put_number(&b, (uint64_t)r->end);
	put_number(&b, (uint64_t)r->status);
	put_number(&b, (uint64_t)r->failed_errno);
	put_number(&b, r->run_us);
	put_number(&b, r->cpu_us);
	put_number(&b, r->memory_bytes);
	put_number(&b, sandbox_clean());
	put_text(&b, r->failed_step);
	put_text(&b, r->limit);
	put_bytes(&b, r->report.data, r->report.len);
	if (buf_ok(&b))
		send_frame(a->connection, FRAME_END, b.data, b.len);
	buf_release(&b);
}

static void
send_refusal(const struct answer *a, const struct ss_error *err)
{
	struct buf b = BUF_INIT(8192);

	put_number(&b, (uint64_t)err->code);
	put_text(&b, err->message);
	put_text(&b, err->hint);
	put_text(&b, err->detail);
	if (buf_ok(&b))
		send_frame(a->connection, FRAME_REFUSED, b.data, b.len);
	buf_release(&b);
}

/* Where no private /tmp hides the difference, TMPDIR is ours, not theirs. */
static bool
fix_tmpdir(struct arena *arena, char **envp)
{
	for (; *envp != NULL; envp++)
		if (strncmp(*envp, "TMPDIR=", 7) == 0 &&
			(*envp = arena_printf(arena, "TMPDIR=%s",
				 sandbox_self()->scratch)) == NULL)
			return false;
	return true;
}

static int
open_page_dir(const char *page_dir)
{
	char text[PATH_MAX];
	const char *path = text;
	int at;

	snprintf(text, sizeof(text), "%s/%s", sandbox_self()->site, page_dir);
	at = sandbox_at(&path);
	return openat(at, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static enum ss_err
run_message(struct arena *arena, struct reader *in, int input, struct answer *a,
	struct spawn_result *result, struct ss_error *err)
{
	struct policy p = { .program = NULL };
	struct ruleset rules = RULESET_INIT;
	struct spawn s = { .dir_fd = -1,
		.stdin_fd = input,
		.client_fd = a->connection,
		.output = relay,
		.output_ctx = a };
	enum ss_err code;

	if (!get_command(in, &p, &s) ||
		!fix_tmpdir(arena, (char **)(uintptr_t)s.envp))
		return error_internal(err, 0, "launcher: not a command");
	s.dir_fd = open_page_dir(p.page_dir);
	if (s.dir_fd < 0)
		return error_internal(err, errno,
			"launcher: the page's "
			"directory");
	code = ruleset_make(arena, &p, &rules, err);
	if (code == SS_OK)
		code = sandbox_run(&p, &rules, &s, result, err);
	ruleset_release(&rules);
	fd_close(&s.dir_fd);
	return code;
}

static void
serve_one(int connection, int input)
{
	struct answer a = { .connection = connection };
	struct spawn_result result = { .end = SPAWN_FAILED };
	struct ss_error err = { .code = SS_OK };
	struct arena arena;
	uint64_t size = 0;
	char *message = NULL;
	enum ss_err code = SS_INTERNAL;

	arena_init(&arena, 3 * MESSAGE_MAX);
	if (receive_all(connection, &size, sizeof(size)) &&
		size <= MESSAGE_MAX &&
		(message = arena_alloc(&arena, (size_t)size)) != NULL &&
		receive_all(connection, message, (size_t)size))
		code = run_message(&arena,
			&(struct reader){
				&arena, message, (size_t)size, false },
			input, &a, &result, &err);
	else
		error_internal(&err, errno, "launcher: no message");
	if (code == SS_OK)
		send_end(&a, &result);
	else
		send_refusal(&a, &err);
	spawn_result_release(&result);
	arena_release(&arena);
}

/* Ends when the worker does; a scratch that stays dirty ends it too. */
static int
launcher_main(void *ctx)
{
	int fds[2];

	(void)ctx;
	while (receive_descriptors(CONFINE_FIRST_FD, fds)) {
		serve_one(fds[0], fds[1]);
		fd_close(&fds[0]);
		fd_close(&fds[1]);
		if (!sandbox_clean())
			break;
	}
	return 0;
}

unsigned
launcher_keeps(const struct sandbox_plan *plan)
{
	const struct grant *g = plan->grant;
	unsigned keeps = 0;

	if (g == NULL)
		return 0;
	if (g->http || g->network == NETWORK_ALL)
		keeps |= KEEP_NETWORK;
	if (g->unix_sockets.count > 0)
		keeps |= KEEP_UNIX;
	if (g->proc)
		keeps |= KEEP_PROC;
	return keeps;
}

bool
launcher_fork(struct sandbox_plan *plan, int socket, struct step *failed)
{
	struct confine_request wish = { .level = plan->level,
		.process = { .keeps = launcher_keeps(plan),
			.main = launcher_main },
		.only = socket,
		.launcher = -1,
		.launch_fd = -1 };
	pid_t pid;

	return confine_start(plan, &wish, &pid, failed);
}

/* -------------------------------------------------------- in the worker */

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
lost(struct ss_error *err, const char *what)
{
	broken = true;
	error_set(err, SS_SANDBOX_UNAVAILABLE,
		"the process that runs this kind of tool is gone");
	error_hint(err, "try again: the next worker has a new one");
	error_detail(err, "launcher: %s", what);
	return SS_SANDBOX_UNAVAILABLE;
}

/* Texts of spawn's own, which outlive the frame that they came in. */
static const char *
same_text(const char *text)
{
	static const char *const known[] = { "wall", "output", "cpu", "file",
		"memory", "exec", "chdir", "limits", "sandbox" };

	if (text == NULL || text[0] == '\0')
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(text, known[i]) == 0)
			return known[i];
	return "set-up";
}

static bool
take_end(struct reader *r, struct spawn_result *result)
{
	const char *report;
	size_t len;

	result->end = (enum spawn_end)get_number(r);
	result->status = (int)get_number(r);
	result->failed_errno = (int)get_number(r);
	result->run_us = get_number(r);
	result->cpu_us = get_number(r);
	result->memory_bytes = get_number(r);
	broken = get_number(r) == 0;
	result->failed_step = same_text(get_text(r));
	result->limit = same_text(get_text(r));
	report = get_bytes(r, &len);
	if (report == NULL || !buf_add(&result->report, report, len))
		return false;
	return !r->bad && result->end <= SPAWN_FAILED;
}

static enum ss_err
take_refusal(struct reader *r, struct ss_error *err)
{
	enum ss_err code = (enum ss_err)get_number(r);
	const char *message = get_text(r), *hint = get_text(r),
		   *detail = get_text(r);

	if (r->bad || code == SS_OK || code > SS_GONE)
		return lost(err, "it spoke nonsense");
	error_set(err, code, "%s", message);
	error_hint(err, "%s", hint);
	error_detail(err, "%s", detail);
	return code;
}

struct session {
	const struct spawn *s;
	struct spawn_result *result;
	struct ss_error *err;
	int connection;
	uint64_t deadline_ms;
	bool called_off;
};

/* Until the deadline, or the next call of output without any. */
static int
wait_ms(const struct session *w)
{
	int left = clock_left_ms(w->deadline_ms);
	uint32_t tick = w->s->output != NULL ? w->s->tick_ms : 0;

	return tick != 0 && tick < (uint32_t)left ? (int)tick : left;
}

/* Until there is something to read; false when the time is over. */
static bool
wait_frame(struct session *w)
{
	struct pollfd p[2] = { { w->connection, POLLIN, 0 },
		{ w->s->client_fd, spawn_client_events(w->s), 0 } };
	int n;

	for (;;) {
		if (w->called_off)
			p[1].fd = -1;
		n = poll(p, 2, wait_ms(w));
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && clock_left_ms(w->deadline_ms) > 0) {
			w->s->output(w->s->output_ctx, 0, "", 0);
			continue;
		}
		if (n <= 0)
			return false;
		if (p[0].revents != 0)
			return true;
		if (!spawn_client_left(w->s, p[1].revents))
			continue;
		w->called_off = true;
		shutdown(w->connection, SHUT_WR);
	}
}

static bool
take_output(struct session *w, enum frame kind, const char *data, size_t len)
{
	struct spawn_result *r = w->result;

	if (w->s->output == NULL)
		return buf_add(
			kind == FRAME_OUT ? &r->out : &r->err, data, len);
	w->s->output(w->s->output_ctx, (int)kind, data, len);
	return true;
}

/* True: *code is the end of the run. */
static bool
take_frame(struct session *w, enum ss_err *code)
{
	static char data[FRAME_MAX];
	struct frame_head head;
	struct arena arena;
	struct reader r = { &arena, data, 0, false };

	if (!wait_frame(w) ||
		!receive_all(w->connection, &head, sizeof(head)) ||
		head.len > sizeof(data) ||
		!receive_all(w->connection, data, head.len)) {
		*code = lost(w->err, "it does not answer");
		return true;
	}
	if (head.kind == FRAME_OUT || head.kind == FRAME_ERR) {
		if (take_output(w, (enum frame)head.kind, data, head.len))
			return false;
		*code = error_memory(w->err);
		return true;
	}
	r.left = head.len;
	arena_init(&arena, 0);
	if (head.kind == FRAME_REFUSED)
		*code = take_refusal(&r, w->err);
	else if (head.kind == FRAME_END && take_end(&r, w->result))
		*code = SS_OK;
	else
		*code = lost(w->err, "it spoke nonsense");
	arena_release(&arena);
	return true;
}

/* The message is sent whole before anything comes back. */
static bool
send_command(struct session *w, int theirs, const struct policy *p)
{
	struct buf b = BUF_INIT(MESSAGE_MAX);
	uint64_t size;
	bool sent;

	if (!put_command(&b, p, w->s)) {
		buf_release(&b);
		error_memory(w->err);
		return false;
	}
	size = b.len;
	sent = send_descriptors(to_launcher, theirs, w->s->stdin_fd) &&
		send_all(w->connection, &size, sizeof(size)) &&
		send_all(w->connection, b.data, b.len);
	buf_release(&b);
	if (!sent)
		lost(w->err, "it does not listen");
	return sent;
}

enum ss_err
launcher_run(const struct policy *p, const struct spawn *s,
	struct spawn_result *result, struct ss_error *err)
{
	struct session w = { .s = s, .result = result, .err = err };
	struct ss_error own = { .code = SS_OK };
	uint64_t timeout = s->limits.timeout_ms;
	size_t ceiling = s->limits.output_bytes == 0
		? SIZE_MAX / 2
		: (size_t)s->limits.output_bytes;
	enum ss_err code = SS_INTERNAL;
	int pair[2];

	if (w.err == NULL)
		w.err = &own;
	*result = (struct spawn_result){ .end = SPAWN_FAILED,
		.out = BUF_INIT(ceiling),
		.err = BUF_INIT(ceiling),
		.report = BUF_INIT(SPAWN_REPORT_BYTES) };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return error_internal(err, errno, "launcher: socketpair");
	w.connection = pair[0];
	w.deadline_ms =
		clock_ms() + (timeout > 0 ? timeout + GRACE_MS : INT_MAX);
	if (!send_command(&w, pair[1], p)) {
		code = w.err->code;
		fd_close(&pair[1]);
	} else {
		fd_close(&pair[1]);
		while (!take_frame(&w, &code))
			;
	}
	fd_close(&pair[0]);
	return code;
}
