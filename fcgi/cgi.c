/* SPDX-License-Identifier: MIT */
/*
 * One request under plain CGI (RFC 3875): variables from the environment, the
 * body from standard input, the answer to standard output.
 *
 * A worker is started for it, as in the pool, since the worker is the sandbox.
 * This process waits for it and answers 500 when it ended before it answered:
 * a server that gets nothing may report success.
 *
 * How a front tells that its client left (seen with each of them): lighttpd's
 * mod_cgi closes the pipe and sends TERM, Apache's mod_cgid and mod_cgi send
 * TERM when they find out, which is when they have something to pass on.
 */
#include <errno.h>
#include <fcntl.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "job_start.h"
#include "options.h"
#include "reply.h"
#include "say.h"
#include "served.h"
#include "sys.h"

#define BODY_WAIT_US (30 * UINT64_C(1000000))
/* Of a body that is refused; its bytes are thrown away. */
#define DRAIN_MAX (UINT64_C(1) << 30)
#define DRAIN_SILENCE_MS 2000 /* where no length was announced */

extern char **environ;

struct cgi {
	struct served *served;
	atomic_bool *begun; /* shared: the worker has begun to answer */
	int worker_end;     /* hangs up when the client leaves */
	struct ss_child child;
	struct job_post jobs;
	struct job_starter starter;
};

/* Our end; the handler of TERM closes it. */
static volatile sig_atomic_t parent_end = -1;

static bool
send_bytes(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	return sys_write_all(STDOUT_FILENO, data, len);
}

/* Without a site, or when the worker ended before it answered. */
static void
answer_plainly(void)
{
	static const char plain[] =
		"{\"stdout\": \"\", \"stderr\": \"an internal error; the "
		"operator's log has it\", \"returncode\": 1, \"error\": "
		"{\"code\": \"internal\", \"message\": \"an internal error; "
		"the operator's log has it\", \"hint\": \"\"}}\n";
	static const char rpc[] =
		"{\"jsonrpc\": \"2.0\", \"id\": null, \"error\": {\"code\": "
		"-32603, \"message\": \"an internal error; the operator's "
		"log has it\"}}\n";
	const char *path = getenv("PATH_INFO");
	const char *body =
		path != NULL && strcmp(path, "/mcp") == 0 ? rpc : plain;
	static const struct ss_header headers[] = {
		{ "Content-Type", "application/json" },
		{ "Cache-Control", "no-store" },
	};
	const struct reply_sink sink = { .send = send_bytes };
	struct ss_response res = SS_INIT(ss_response);

	res.status = 500;
	res.headers = headers;
	res.header_count = ARRAY_LEN(headers);
	res.body = body;
	res.body_len = res.length = strlen(body);
	res.fd = -1;
	reply_send(&res, &sink);
}

/*
 * Exactly as many bytes as announced: standard input may never end.  Returns
 * how many came.
 */
static size_t
read_body(char *body, size_t len)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t end = sys_clock_us() + BODY_WAIT_US, now;
	size_t have = 0;

	while (have < len) {
		ssize_t n;

		now = sys_clock_us();
		if (now >= end ||
			poll(&input, 1, (int)((end - now) / 1000) + 1) == 0)
			break;
		n = read(STDIN_FILENO, body + have, len - have);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	return have;
}

/*
 * Reads a refused body and throws it away, to its end, DRAIN_MAX, BODY_WAIT_US
 * or a silence: a server that cannot pass the body on may lose the answer.
 */
static void
drain_body(uint64_t most, unsigned silence_ms)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t left = most < DRAIN_MAX ? most : DRAIN_MAX;
	uint64_t end = sys_clock_us() + BODY_WAIT_US;
	char chunk[65536];

	while (left > 0 && sys_clock_us() < end) {
		size_t n = left < sizeof(chunk) ? (size_t)left : sizeof(chunk);
		ssize_t got;

		if (poll(&input, 1, (int)silence_ms) <= 0)
			return;
		got = read(STDIN_FILENO, chunk, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		left -= (uint64_t)got;
	}
}

static void
take_body(struct request *r)
{
	if (r->refused.code == SS_LENGTH_REQUIRED)
		drain_body(DRAIN_MAX, DRAIN_SILENCE_MS);
	else if (r->ss.body_too_large || r->refused.code != SS_OK)
		drain_body(r->announced, BODY_WAIT_US / 1000);
	if (r->content_length == 0 || r->ss.body_too_large ||
		r->refused.code != SS_OK || request_body(r) == NULL)
		return;
	r->ss.body = r->body;
	r->ss.body_len = read_body(r->body, r->content_length);
	if (r->ss.body_len < r->content_length)
		request_refuse(r, SS_BAD_REQUEST,
			"the body is shorter than its Content-Length");
}

/* Sends a piece of an answer whose end is not known yet. */
static bool
stream(void *ctx, const struct ss_response *res, const char *data, size_t len)
{
	struct cgi *c = ctx;
	struct reply_sink sink = { .send = send_bytes };

	if (!atomic_exchange(c->begun, true) && !reply_begin(res, &sink))
		return false;
	return send_bytes(NULL, data, len);
}

static int
worker_main(void *ctx)
{
	struct cgi *c = ctx;
	struct request *r = &c->served->request;
	struct reply_sink sink = { .send = send_bytes };
	struct ss_response res;

	signal(SIGTERM, SIG_DFL);
	close(parent_end);
	job_post_attach(&c->jobs, c->served->site);
	request_read_environ(r, environ);
	take_body(r);
	r->ss.client_fd = c->worker_end;
	r->ss.stream = stream;
	r->ss.stream_ctx = c;
	if (ss_site_handle(c->served->site, &r->ss, &res) != SS_GONE &&
		!atomic_exchange(c->begun, true))
		reply_send(&res, &sink);
	ss_response_release(&res);
	/* The answer is out: nobody waits for the end of the namespaces. */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	close(c->worker_end);
	return 0;
}

/* mod_cgi leaves SIGPIPE and SIGXFSZ ignored, others may leave more. */
static void
reset_signals(void)
{
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool
open_site(struct cgi *c)
{
	struct options options = { .usage = "", .cgi = true };
	struct ss_error err = { .code = SS_OK };

	c->served = served_new(&options, NULL, &err);
	if (c->served == NULL)
		say_error("cgi", &err);
	return c->served != NULL;
}

static void
tell_client_left(int number)
{
	int fd = parent_end;

	(void)number;
	parent_end = -1;
	if (fd >= 0)
		close(fd);
}

/*
 * The worker has closed its end, or has died.  The server reads the answer to
 * its end, which comes when no process has the streams.
 */
static void
end_answer(const struct cgi *c)
{
	int null = -1;

	/* Else there will be one: answer_plainly. */
	if (atomic_load(c->begun))
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return;
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

/*
 * Waits until the worker has ended, and tells it when the reader of the answer
 * leaves.  Without POLLRDHUP: Apache closes its writing half of the socket
 * behind the body.
 */
static void
wait_for_worker(struct cgi *c)
{
	struct pollfd p[5] = { { .fd = (int)syscall(
					 SYS_pidfd_open, c->child.pid, 0),
				       .events = POLLIN },
		{ .fd = STDOUT_FILENO },
		{ .fd = c->child.launch_fd, .events = POLLIN },
		{ .fd = parent_end },
		{ .fd = job_post_fd(&c->jobs), .events = POLLIN } };

	while (p[0].fd >= 0 && p[0].revents == 0) {
		if (poll(p, 5, -1) < 0)
			continue;
		if (p[4].revents != 0)
			job_post_serve(&c->jobs, &c->starter);
		if (p[2].revents != 0) {
			ss_site_launch(c->served->site, &c->child);
			p[2].fd = -1;
		}
		if ((p[1].revents & (POLLERR | POLLHUP)) != 0)
			tell_client_left(0);
		if (p[1].revents != 0)
			p[1].fd = -1;
		if (p[3].revents != 0) {
			end_answer(c);
			p[1].fd = p[3].fd = -1;
		}
	}
	if (p[0].fd >= 0)
		close(p[0].fd);
}

/* Where the request may be about a job. */
static void
open_jobs(struct cgi *c)
{
	const struct ss_request *r = &c->served->request.ss;
	static struct options options = { .usage = "", .cgi = true };
	struct ss_error err = { .code = SS_OK };

	c->jobs = JOB_POST_INIT;
	if (strcmp(r->method, "POST") != 0 &&
		strstr(r->path, "/__jobs/") == NULL)
		return;
	if (ss_site_open_state(c->served->site, &err) != SS_OK)
		say_error("cgi", &err);
	c->starter = (struct job_starter){ &options, c->served->site };
	job_post_open(&c->jobs);
}

static bool
run_worker(struct cgi *c)
{
	struct ss_error err = { .code = SS_OK };
	int status = 0, ends[2];

	request_read_environ(&c->served->request, environ);
	ss_site_narrow(c->served->site, &c->served->request.ss);
	open_jobs(c);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return false;
	parent_end = ends[0];
	c->worker_end = ends[1];
	c->begun = mmap(NULL, sizeof(*c->begun), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->begun == MAP_FAILED)
		return false;
	if (ss_site_fork(c->served->site,
		    SS_FORK_LAUNCHER_LATER | SS_FORK_BRIEF, worker_main, c,
		    &c->child, &err) != SS_OK) {
		say_error("cgi", &err);
		return atomic_load(c->begun);
	}
	close(ends[1]);
	signal(SIGTERM, tell_client_left);
	wait_for_worker(c);
	job_post_serve(&c->jobs, &c->starter);
	while (waitpid(c->child.pid, &status, 0) < 0 && errno == EINTR)
		;
	if (c->child.launch_fd >= 0)
		close(c->child.launch_fd);
	return atomic_load(c->begun);
}

int
cgi_answer(void)
{
	static struct cgi cgi;

	reset_signals();
	if (!open_site(&cgi) || !run_worker(&cgi))
		answer_plainly();
	served_free(cgi.served);
	return 0;
}
