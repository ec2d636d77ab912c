/* SPDX-License-Identifier: MIT */
#include "mcp_jobs.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys.h"
#include "say.h"

#define ANSWER_MAX ((size_t)256 << 20)
#define RESPONSE_MAX 65536 /* of a person's answer */
#define CANCELLED_MS 20    /* between two waitpid(2) for a cancelled job */

void
mcp_jobs_error(const char *id, int code, const char *message)
{
	char line[1024];
	int n;

	if (id[0] == '#') /* too long to be repeated */
		id = "";
	n = snprintf(line, sizeof(line),
		"{\"jsonrpc\":\"2.0\",%s%s%s\"error\":{\"code\":%d,"
		"\"message\":\"%s\"}}",
		id[0] != '\0' ? "\"id\":" : "", id, id[0] != '\0' ? "," : "",
		code, message);
	if (n > 0 && (size_t)n < sizeof(line))
		lines_write(STDOUT_FILENO, line, (size_t)n);
}

/* ----------------------------------------------------------- the process -- */

struct process {
	const struct mcp_jobs *jobs;
	const char *message;
	size_t len;
	size_t number;    /* of its place among the jobs */
	struct kept kept; /* the jobs', as this process sees it */
	int fd;
	int parent_fd; /* the other end, which fork(2) copied */
	struct lines in;
	size_t used; /* of in: the line that was given out */
};

/*
 * An empty line from a process says that it is done and waits for a message; to
 * a process, that the next line is one.  A response to a question that is over
 * may come before it, and is dropped.
 */

/* A hang-up is only seen when no other process holds the parent's end. */
static void
close_inherited(const struct process *p)
{
	close(p->parent_fd);
	for (size_t i = 0; i < MCP_JOBS_ALL; i++) {
		const struct mcp_job *job = &p->jobs->all[i];

		if (job->child.pid > 0 && job->fd >= 0)
			close(job->fd);
		if (job->child.pid > 0 && job->child.launch_fd >= 0)
			close(job->child.launch_fd);
	}
}

static bool
send_to_client(void *ctx, const char *message, size_t len)
{
	const struct process *p = ctx;

	return lines_write(p->fd, message, len);
}

/* The next line from the parent; timeout_ms as for poll(2). */
static enum ss_err
next_line(struct process *p, int timeout_ms)
{
	struct pollfd readable = { .fd = p->fd, .events = POLLIN };
	ssize_t n;

	lines_drop(&p->in, p->used);
	while ((p->used = lines_first(p->in.data, p->in.len)) == 0) {
		if (poll(&readable, 1, timeout_ms) == 0)
			return SS_TIMEOUT;
		n = lines_read(&p->in, p->fd, RESPONSE_MAX + 1);
		if (n <= 0)
			return n < 0 && errno == EMSGSIZE ? SS_TIMEOUT
							  : SS_GONE;
	}
	return SS_OK;
}

/* To our question. */
static enum ss_err
receive_response(
	void *ctx, uint32_t timeout_ms, const char **message, size_t *len)
{
	struct process *p = ctx;
	enum ss_err code = next_line(p, (int)timeout_ms);

	*message = p->in.data;
	*len = p->used;
	return code;
}

static bool
next_message(struct process *p)
{
	bool marked = false;

	if (ss_site_must_exit(p->jobs->site) || !lines_write(p->fd, "", 0))
		return false;
	while (next_line(p, -1) == SS_OK) {
		p->message = p->in.data;
		p->len = p->used - 1;
		if (marked)
			return true;
		marked = p->len == 0;
	}
	return false;
}

/* Confined.  The parent's end hangs up when the client cancels, or leaves. */
static int
run_messages(void *ctx)
{
	struct process *p = ctx;
	struct ss_mcp_client client = { .size = sizeof(client),
		.client_fd = p->fd,
		.send = send_to_client,
		.receive = p->jobs->asks != 0 ? receive_response : NULL,
		.ctx = p,
		.asks = p->jobs->asks };
	struct job_post post = p->jobs->post;
	enum ss_err code;

	close_inherited(p);
	kept_own(&p->kept, p->number);
	kept_attach(&p->kept, p->jobs->site);
	job_post_attach(&post, p->jobs->site);
	if (dup2(p->jobs->null, STDIN_FILENO) < 0 ||
		dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return 1;
	do
		code = ss_site_mcp_client(
			p->jobs->site, p->message, p->len, &client);
	while (code == SS_OK && next_message(p));
	lines_release(&p->in);
	return code == SS_OK || code == SS_GONE ? 0 : 1;
}

/* --------------------------------------------------------- start and end -- */

bool
mcp_jobs_has_place(const struct mcp_jobs *jobs, bool page)
{
	return jobs->running < MCP_JOBS_MAX &&
		(page || jobs->tools < MCP_JOBS_TOOLS);
}

static struct mcp_job *
free_place(struct mcp_jobs *jobs)
{
	for (size_t i = 0; i < MCP_JOBS_ALL; i++)
		if (jobs->all[i].child.pid == 0)
			return &jobs->all[i];
	return NULL;
}

/* The process sees the hang-up, ends its tool and exits without an answer. */
static void
cancel_job(struct mcp_job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
}

/* Without waiting: the socket has room for RESPONSE_MAX. */
static bool
send_parts(const struct mcp_job *job, struct iovec *parts, size_t count)
{
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };
	size_t len = 0;

	for (size_t i = 0; i < count; i++)
		len += parts[i].iov_len;
	return len <= RESPONSE_MAX &&
		sendmsg(job->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) ==
		(ssize_t)len;
}

static void
note_start(struct mcp_jobs *jobs, struct mcp_job *job,
	const struct ss_mcp_glance *glance)
{
	job->idle = job->answered = false;
	job->tool = !glance->page;
	snprintf(job->id, sizeof(job->id), "%s", glance->id);
	jobs->running++;
	jobs->tools += job->tool;
}

/* Hands a message to a process that waits for one; false: none has it. */
static bool
start_again(struct mcp_jobs *jobs, const char *message, size_t len,
	const struct ss_mcp_glance *glance)
{
	char end[] = "\n";
	struct iovec parts[] = { { end, 1 },
		{ (char *)(uintptr_t)message, len }, { end, 1 } };

	if (len >= RESPONSE_MAX / 2 || memchr(message, '\n', len) != NULL)
		return false;
	for (size_t i = 0; i < MCP_JOBS_ALL; i++) {
		struct mcp_job *job = &jobs->all[i];

		if (!job->idle || job->fd < 0)
			continue;
		if (job->asks == jobs->asks && send_parts(job, parts, 3)) {
			jobs->idle--;
			note_start(jobs, job, glance);
			return true;
		}
		cancel_job(job);
	}
	return false;
}

void
mcp_jobs_start(struct mcp_jobs *jobs, const char *message, size_t len,
	const struct ss_mcp_glance *glance)
{
	struct mcp_job *job;
	struct process p = {
		.jobs = jobs, .message = message, .len = len, .kept = jobs->kept
	};
	struct ss_error err = { .code = SS_OK };
	int ends[2];

	if (start_again(jobs, message, len, glance))
		return;
	job = free_place(jobs);
	if (job == NULL ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		mcp_jobs_error(
			glance->id, -32603, "no worker could be started");
		return;
	}
	p.number = (size_t)(job - jobs->all);
	p.fd = ends[1];
	p.parent_fd = ends[0];
	*job = (struct mcp_job){ .fd = ends[0], .asks = jobs->asks };
	if (ss_site_fork(jobs->site, SS_FORK_LAUNCHER_LATER, run_messages, &p,
		    &job->child, &err) == SS_OK) {
		note_start(jobs, job, glance);
	} else {
		say_error(NULL, &err);
		mcp_jobs_error(
			glance->id, -32603, "no worker could be started");
		close(ends[0]);
		job->child.pid = 0;
	}
	close(ends[1]);
}

void
mcp_jobs_cancel(struct mcp_jobs *jobs, const char *id)
{
	for (size_t i = 0; i < MCP_JOBS_ALL; i++)
		if (jobs->all[i].child.pid > 0 &&
			strcmp(jobs->all[i].id, id) == 0)
			cancel_job(&jobs->all[i]);
}

static void
check_answered(const struct mcp_job *job)
{
	if (job->fd >= 0 && !job->answered)
		mcp_jobs_error(job->id, -32603,
			"the worker ended without an answer; the tool may "
			"have run");
}

static void
note_end(struct mcp_jobs *jobs, struct mcp_job *job)
{
	if (job->idle) {
		jobs->idle--;
	} else {
		jobs->running--;
		jobs->tools -= job->tool;
	}
	job->idle = job->tool = false;
}

/* options are of waitpid(2). */
static void
reap_job(struct mcp_jobs *jobs, struct mcp_job *job, int options)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(job->child.pid, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	check_answered(job);
	cancel_job(job);
	if (job->child.launch_fd >= 0)
		close(job->child.launch_fd);
	lines_release(&job->in);
	job->child.pid = 0;
	note_end(jobs, job);
}

/* It has read its message's end: another one may come, or a hang-up. */
static void
note_done(struct mcp_jobs *jobs, struct mcp_job *job)
{
	check_answered(job);
	job->id[0] = job->question[0] = '\0';
	job->answered = true;
	if (jobs->idle == MCP_JOBS_IDLE) {
		cancel_job(job);
		return;
	}
	note_end(jobs, job);
	job->idle = true;
	jobs->idle++;
}

void
mcp_jobs_kill(struct mcp_jobs *jobs)
{
	for (size_t i = 0; i < MCP_JOBS_ALL; i++) {
		struct mcp_job *job = &jobs->all[i];

		if (job->child.pid <= 0)
			continue;
		if (!job->idle)
			kill(job->child.pid, SIGKILL);
		cancel_job(job);
		reap_job(jobs, job, 0);
	}
}

/* ----------------------------------------------------------------- lines -- */

static bool
starts_with(const char *line, size_t len, const char *start)
{
	return len >= strlen(start) && memcmp(line, start, strlen(start)) == 0;
}

/* A response has "id" right behind the version, a notification has not. */
static bool
is_response(const char *line, size_t len)
{
	return !starts_with(line, len, "{\"jsonrpc\":\"2.0\",\"method\":");
}

/* Keeps the id of a question: its response will have it. */
static void
note_question(struct mcp_job *job, const char *line, size_t len)
{
	static const char *const methods[] = {
		"{\"jsonrpc\":\"2.0\",\"method\":\"elicitation/create\",",
		"{\"jsonrpc\":\"2.0\",\"method\":\"sampling/createMessage\",",
		"{\"jsonrpc\":\"2.0\",\"method\":\"roots/list\","
	};
	struct ss_mcp_glance glance;
	bool asks = false;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		asks |= starts_with(line, len, methods[i]);
	if (!asks)
		return;
	ss_mcp_look(line, len, &glance);
	snprintf(job->question, sizeof(job->question), "%.63s", glance.id);
}

/* Copies whole lines of a job to standard output, never parts of one. */
static void
pass_lines(struct mcp_jobs *jobs, struct mcp_job *job)
{
	struct lines *in = &job->in;
	ssize_t n = lines_read(in, job->fd, ANSWER_MAX);
	size_t len;

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		reap_job(jobs, job, 0);
		return;
	}
	while ((len = lines_first(in->data, in->len)) > 0) {
		if (len == 1) {
			lines_drop(in, len);
			note_done(jobs, job);
			continue;
		}
		job->answered = is_response(in->data, len);
		note_question(job, in->data, len);
		sys_write_all(STDOUT_FILENO, in->data, len);
		lines_drop(in, len);
	}
}

static bool
send_response(const struct mcp_job *job, char *line, size_t len)
{
	char end[] = "\n";
	struct iovec parts[] = { { line, len }, { end, 1 } };

	return send_parts(job, parts, 2);
}

void
mcp_jobs_respond(
	struct mcp_jobs *jobs, const char *id, const char *line, size_t len)
{
	struct mcp_job *job = NULL;
	char refusal[256];

	for (size_t i = 0; i < MCP_JOBS_ALL && id[0] != '\0'; i++)
		if (jobs->all[i].child.pid > 0 && jobs->all[i].fd >= 0 &&
			strcmp(jobs->all[i].question, id) == 0)
			job = &jobs->all[i];
	if (job == NULL)
		return;
	if (len >= RESPONSE_MAX) {
		len = (size_t)snprintf(refusal, sizeof(refusal),
			"{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":"
			"{\"code\":-32600,\"message\":\"too long\"}}",
			id);
		line = refusal;
	}
	job->question[0] = '\0';
	if (!send_response(job, (char *)(uintptr_t)line, len))
		cancel_job(job);
}

/* ------------------------------------------------------------------ poll -- */

/* In fds the jobs' lines come first, then the launch_fd of each. */
int
mcp_jobs_watch(const struct mcp_jobs *jobs, struct pollfd *fds, int timeout_ms)
{
	for (size_t i = 0; i < MCP_JOBS_ALL; i++) {
		const struct mcp_job *job = &jobs->all[i];
		bool runs = job->child.pid > 0;

		fds[i] = (struct pollfd){ .fd = runs ? job->fd : -1,
			.events = POLLIN };
		fds[MCP_JOBS_ALL + i] =
			(struct pollfd){ .fd = runs ? job->child.launch_fd : -1,
				.events = POLLIN };
		if (runs && job->fd < 0)
			timeout_ms = CANCELLED_MS;
	}
	fds[MCP_JOBS_FDS - 1] = (struct pollfd){ .fd = job_post_fd(&jobs->post),
		.events = POLLIN };
	return timeout_ms;
}

void
mcp_jobs_serve(struct mcp_jobs *jobs, const struct pollfd *fds)
{
	if (fds[MCP_JOBS_FDS - 1].revents != 0)
		job_post_serve(&jobs->post, &jobs->starter);
	for (size_t i = 0; i < MCP_JOBS_ALL; i++) {
		struct mcp_job *job = &jobs->all[i];

		if (job->child.pid > 0 && fds[MCP_JOBS_ALL + i].revents != 0)
			ss_site_launch(jobs->site, &job->child);
		if (job->child.pid > 0 && job->fd < 0)
			reap_job(jobs, job, WNOHANG);
		else if (fds[i].revents != 0)
			pass_lines(jobs, job);
	}
}
