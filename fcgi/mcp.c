/* SPDX-License-Identifier: MIT */
/*
 * statespace mcp: the Model Context Protocol over standard input and output,
 * one message a line.
 *
 * This process reads and writes lines; whatever may run a program runs in a
 * confined process of its own, so that further lines, cancellations above
 * all, are read meanwhile.  Nobody but this process ever has the client's
 * standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "options.h"
#include "reply.h"
#include "say.h"
#include "sys.h"

#define TOOLS_MAX 8
#define JOBS_MAX (TOOLS_MAX + 2) /* two places are for pages alone */
#define ANSWER_MAX ((size_t)256 << 20)
#define RESPONSE_MAX 65536 /* of a person's answer */
#define LAST_S 5           /* for what runs when the input ends */
#define DYING_MS 20        /* between looks at what was cancelled */

static const char usage[] =
	"usage: statespace mcp [-c FILE] [-e K=V]... [--env-file F]\n"
	"                      [--timeout SECS] [DIR]\n";

struct bytes {
	char *data;
	size_t len, cap;
};

struct job {
	struct ss_child child; /* pid 0: this place is free */
	int fd;                /* its lines come here; -1: cancelled */
	char id[256];          /* as JSON, or "#" and a digest */
	char asks[64]; /* the id of its question, as JSON; "": none is open */
	bool tool;     /* it runs one, and no page's components */
	bool answered; /* the last line was a response */
	struct bytes in;
};

struct server {
	struct ss_site *site;
	int null;
	size_t line_max;
	struct bytes in;
	size_t held;    /* bytes of it: whole lines that wait for a place */
	bool page_held; /* one of them wants no tool */
	bool skipping;  /* the rest of a line that was too long */
	bool can_ask;   /* the client shows forms to a person */
	struct job jobs[JOBS_MAX];
	size_t running, tools; /* jobs, and those of them that run a tool */
};

/* ------------------------------------------------------------- bytes out -- */

static bool
send_line(void *ctx, const char *message, size_t len)
{
	int fd = *(const int *)ctx;

	return sys_write_all(fd, message, len) && sys_write_all(fd, "\n", 1);
}

static void
say_error_line(const char *id, int code, const char *message)
{
	char line[1024];
	int out = STDOUT_FILENO, n;

	if (id[0] == '#') /* too long to be repeated */
		id = "";
	n = snprintf(line, sizeof(line),
		"{\"jsonrpc\":\"2.0\",%s%s%s\"error\":{\"code\":%d,"
		"\"message\":\"%s\"}}",
		id[0] != '\0' ? "\"id\":" : "", id, id[0] != '\0' ? "," : "",
		code, message);
	if (n > 0 && (size_t)n < sizeof(line))
		send_line(&out, line, (size_t)n);
}

static bool
grow(struct bytes *b, size_t max)
{
	size_t cap = b->cap > 0 ? b->cap * 2 : 65536;
	char *more;

	if (b->len < b->cap)
		return true;
	if (b->cap >= max)
		return false;
	if (cap > max)
		cap = max;
	more = realloc(b->data, cap);
	if (more == NULL)
		return false;
	b->data = more;
	b->cap = cap;
	return true;
}

/* With its break; 0: there is none yet. */
static size_t
line_length(const char *data, size_t len)
{
	const char *end = len > 0 ? memchr(data, '\n', len) : NULL;

	return end != NULL ? (size_t)(end - data) + 1 : 0;
}

/* ------------------------------------------------------------------ jobs -- */

struct errand {
	const struct server *server;
	const char *message;
	size_t len;
	int fd;
	int other; /* our own copy of the parent's end */
	struct bytes in;
	size_t taken; /* of in: the line that was given out */
};

/* Nobody else may hold the ends by which others learn of a hang-up. */
static void
close_others(const struct errand *e)
{
	close(e->other);
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct job *job = &e->server->jobs[i];

		if (job->child.pid > 0 && job->fd >= 0)
			close(job->fd);
		if (job->child.pid > 0 && job->child.launch_fd >= 0)
			close(job->child.launch_fd);
	}
}

static bool
send_to_client(void *ctx, const char *message, size_t len)
{
	struct errand *e = ctx;

	return send_line(&e->fd, message, len);
}

/* The next line from the parent: the response to our question. */
static enum ss_err
receive(void *ctx, uint32_t timeout_ms, const char **message, size_t *len)
{
	struct errand *e = ctx;
	struct pollfd p = { .fd = e->fd, .events = POLLIN };
	struct bytes *b = &e->in;
	ssize_t n;

	if (e->taken > 0)
		memmove(b->data, b->data + e->taken, b->len - e->taken);
	b->len -= e->taken;
	e->taken = 0;
	while ((*len = line_length(b->data, b->len)) == 0) {
		if (!grow(b, RESPONSE_MAX + 1) ||
			poll(&p, 1, (int)timeout_ms) == 0)
			return SS_TIMEOUT;
		n = read(e->fd, b->data + b->len, b->cap - b->len);
		if (n <= 0)
			return SS_GONE;
		b->len += (size_t)n;
	}
	e->taken = *len;
	*message = b->data;
	return SS_OK;
}

/* Confined.  The other end hangs up when the client cancels, or leaves. */
static int
work(void *ctx)
{
	struct errand *e = ctx;
	struct ss_mcp_client client = { .size = sizeof(client),
		.client_fd = e->fd,
		.send = send_to_client,
		.receive = e->server->can_ask ? receive : NULL,
		.ctx = e };
	enum ss_err code;

	close_others(e);
	if (dup2(e->server->null, STDIN_FILENO) < 0 ||
		dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		return 1;
	code = ss_site_mcp_client(e->server->site, e->message, e->len, &client);
	free(e->in.data);
	return code == SS_OK || code == SS_GONE ? 0 : 1;
}

static struct job *
free_job(struct server *s)
{
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (s->jobs[i].child.pid == 0)
			return &s->jobs[i];
	return NULL;
}

static void
begin_job(struct server *s, const char *message, size_t len,
	const struct ss_mcp_glance *glance)
{
	const char *id = glance->id;
	struct job *job = free_job(s);
	struct errand e = { .server = s, .message = message, .len = len };
	struct ss_error err = { .code = SS_OK };
	int ends[2];

	if (job == NULL ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
		say_error_line(id, -32603, "no worker could be started");
		return;
	}
	e.fd = ends[1];
	e.other = ends[0];
	*job = (struct job){ .fd = ends[0] };
	snprintf(job->id, sizeof(job->id), "%s", id);
	if (ss_site_fork(s->site, SS_FORK_LAUNCHER_LATER, work, &e, &job->child,
		    &err) != SS_OK) {
		say_error(NULL, &err);
		say_error_line(id, -32603, "no worker could be started");
		close(ends[0]);
		job->child.pid = 0;
	} else {
		s->running++;
		job->tool = !glance->page;
		s->tools += job->tool;
	}
	close(ends[1]);
}

/* The process sees the hang-up, ends its tool and goes; nobody answers. */
static void
cancel(struct job *job)
{
	if (job->fd >= 0)
		close(job->fd);
	job->fd = -1;
}

/* Nor does anybody answer what never began. */
static void
forget_id(struct server *s, const char *id)
{
	char *held = s->in.data;
	struct ss_mcp_glance glance;

	for (size_t at = 0, len; at < s->held;) {
		len = line_length(held + at, s->held - at);
		ss_mcp_look(held + at, len, &glance);
		if (strcmp(glance.id, id) != 0) {
			at += len;
			continue;
		}
		memmove(held + at, held + at + len, s->held - at - len);
		s->held -= len;
	}
}

static void
cancel_id(struct server *s, const char *id)
{
	if (id[0] == '\0')
		return;
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (s->jobs[i].child.pid > 0 && strcmp(s->jobs[i].id, id) == 0)
			cancel(&s->jobs[i]);
	forget_id(s, id);
}

static void
end_job(struct server *s, struct job *job, int options)
{
	int status = 0;
	pid_t pid;

	do
		pid = waitpid(job->child.pid, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return;
	if (job->fd >= 0 && !job->answered)
		say_error_line(job->id, -32603,
			"the worker ended without an answer; the tool may "
			"have run");
	cancel(job);
	if (job->child.launch_fd >= 0)
		close(job->child.launch_fd);
	free(job->in.data);
	job->child.pid = 0;
	s->running--;
	s->tools -= job->tool;
}

/* A response has "id" right behind the version, a notification has not. */
static bool
is_response(const char *line, size_t len)
{
	static const char notification[] = "{\"jsonrpc\":\"2.0\",\"method\":";

	return len < sizeof(notification) - 1 ||
		memcmp(line, notification, sizeof(notification) - 1) != 0;
}

/* The id of a question, which its response will have. */
static void
note_question(struct job *job, const char *line, size_t len)
{
	static const char question[] = "{\"jsonrpc\":\"2.0\",\"method\":"
				       "\"elicitation/create\",";
	struct ss_mcp_glance glance;

	if (len < sizeof(question) - 1 ||
		memcmp(line, question, sizeof(question) - 1) != 0)
		return;
	ss_mcp_look(line, len, &glance);
	snprintf(job->asks, sizeof(job->asks), "%.63s", glance.id);
}

/*
 * A response goes to the job that asked, once.  Never waits: the job reads it
 * when it can, and the socket has room for RESPONSE_MAX.
 */
static void
answer_question(struct server *s, const char *id, const char *line, size_t len)
{
	static const char too_long[] = "{\"jsonrpc\":\"2.0\",\"id\":%s,"
				       "\"error\":{\"code\":-32600,"
				       "\"message\":\"too long\"}}\n";
	struct job *job = NULL;
	char text[256];

	for (size_t i = 0; i < JOBS_MAX && id[0] != '\0'; i++)
		if (s->jobs[i].child.pid > 0 && s->jobs[i].fd >= 0 &&
			strcmp(s->jobs[i].asks, id) == 0)
			job = &s->jobs[i];
	if (job == NULL)
		return;
	if (len >= RESPONSE_MAX) {
		len = (size_t)snprintf(text, sizeof(text), too_long, id);
		line = text;
	}
	job->asks[0] = '\0';
	if (send(job->fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL) !=
			(ssize_t)len ||
		(line != text &&
			send(job->fd, "\n", 1, MSG_DONTWAIT | MSG_NOSIGNAL) !=
				1))
		cancel(job);
}

/* Whole lines of a job go out; no other line can come between. */
static void
relay(struct server *s, struct job *job)
{
	struct bytes *b = &job->in;
	ssize_t n = -1;
	size_t len;

	if (grow(b, ANSWER_MAX))
		n = read(job->fd, b->data + b->len, b->cap - b->len);
	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0) {
		end_job(s, job, 0);
		return;
	}
	b->len += (size_t)n;
	while ((len = line_length(b->data, b->len)) > 0) {
		job->answered = is_response(b->data, len);
		note_question(job, b->data, len);
		sys_write_all(STDOUT_FILENO, b->data, len);
		memmove(b->data, b->data + len, b->len - len);
		b->len -= len;
	}
}

/* ----------------------------------------------------------------- lines -- */

static bool
has_place(const struct server *s, bool page)
{
	return s->running < JOBS_MAX && (page || s->tools < TOOLS_MAX);
}

/* False: it would run a program, and there is no place. */
static bool
take_line(struct server *s, const char *line, size_t len)
{
	struct ss_mcp_glance glance;
	int out = STDOUT_FILENO;

	while (len > 0 && memchr("\r\n ", line[len - 1], 3) != NULL)
		len--;
	if (len == 0)
		return true;
	ss_mcp_look(line, len, &glance);
	switch (glance.kind) {
	case SS_MCP_SIMPLE:
		s->can_ask |= glance.can_ask;
		ss_site_mcp(s->site, line, len, -1, send_line, &out);
		break;
	case SS_MCP_RUNS:
		if (!has_place(s, glance.page)) {
			s->page_held |= glance.page;
			return false;
		}
		begin_job(s, line, len, &glance);
		break;
	case SS_MCP_CANCELS: cancel_id(s, glance.id); break;
	case SS_MCP_ANSWERS: answer_question(s, glance.id, line, len); break;
	}
	return true;
}

/*
 * As many lines as there are.  Those that have to wait gather in front, in
 * their order; behind them a cancellation and what runs nothing is still heard.
 */
static void
take_lines(struct server *s)
{
	struct bytes *b = &s->in;
	size_t known = s->held, at = 0, len;
	/*
	 * Lines that wait are not looked at again before one of them may run.
	 */
	bool wait_on = !has_place(s, s->page_held), waits;

	if (b->len == 0)
		return;
	s->held = 0;
	s->page_held &= wait_on;
	while ((len = line_length(b->data + at, b->len - at)) > 0) {
		waits = at < known && wait_on;
		if (!waits && !s->skipping)
			waits = !take_line(s, b->data + at, len);
		s->skipping = false;
		if (waits) {
			memmove(b->data + s->held, b->data + at, len);
			s->held += len;
		}
		at += len;
	}
	memmove(b->data + s->held, b->data + at, b->len - at);
	b->len -= at - s->held;
}

/* Nothing more is read until one of those that wait has begun. */
static bool
is_full(const struct server *s)
{
	return s->held > 0 && s->in.len == s->line_max;
}

/* False: the client has closed its end. */
static bool
read_input(struct server *s)
{
	struct bytes *b = &s->in;
	ssize_t n;

	if (!grow(b, s->line_max)) {
		if (!s->skipping)
			say_error_line("", -32600, "the message is too large");
		s->skipping = true;
		b->len = 0;
	}
	n = read(STDIN_FILENO, b->data + b->len, b->cap - b->len);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0) /* the last line may have no break */
		b->data[b->len++] = '\n';
	b->len += (size_t)n;
	return n > 0;
}

static int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Polled: the client, the jobs' lines, then the requests for a launcher. */
#define EARS (1 + 2 * JOBS_MAX)

/* How long to wait at most, for jobs that are cancelled and not yet gone. */
static int
listen_to_jobs(const struct server *s, struct pollfd *lines,
	struct pollfd *launches, int timeout_ms)
{
	for (size_t i = 0; i < JOBS_MAX; i++) {
		const struct job *job = &s->jobs[i];
		bool runs = job->child.pid > 0;

		lines[i] = (struct pollfd){ .fd = runs ? job->fd : -1,
			.events = POLLIN };
		launches[i] =
			(struct pollfd){ .fd = runs ? job->child.launch_fd : -1,
				.events = POLLIN };
		if (runs && job->fd < 0)
			timeout_ms = DYING_MS;
	}
	return timeout_ms;
}

/* Waits for what runs, and for the client unless fd is -1. */
static bool
wait_once(struct server *s, int fd, int timeout_ms)
{
	struct pollfd p[EARS] = { { .fd = fd, .events = POLLIN } };
	struct pollfd *lines = p + 1, *launches = lines + JOBS_MAX;
	bool open = true;

	timeout_ms = listen_to_jobs(s, lines, launches, timeout_ms);
	if (poll(p, EARS, timeout_ms) < 0)
		return true;
	if (p[0].revents != 0)
		open = read_input(s);
	for (size_t i = 0; i < JOBS_MAX; i++) {
		struct job *job = &s->jobs[i];

		if (job->child.pid > 0 && launches[i].revents != 0)
			ss_site_launch(s->site, &job->child);
		if (job->child.pid > 0 && job->fd < 0)
			end_job(s, job, WNOHANG);
		else if (lines[i].revents != 0)
			relay(s, job);
	}
	return open;
}

static void
serve(struct server *s)
{
	bool open = true;
	int64_t end;

	while (open) {
		open = wait_once(s, is_full(s) ? -1 : STDIN_FILENO, -1);
		take_lines(s);
	}
	end = now_ms() + LAST_S * 1000;
	while ((s->running > 0 || s->held > 0) && now_ms() < end) {
		wait_once(s, -1, (int)(end - now_ms()));
		take_lines(s);
	}
	for (size_t i = 0; i < JOBS_MAX; i++)
		if (s->jobs[i].child.pid > 0) {
			kill(s->jobs[i].child.pid, SIGKILL);
			cancel(&s->jobs[i]);
			end_job(s, &s->jobs[i], 0);
		}
	free(s->in.data);
}

/* ------------------------------------------------------------------ start -- */

static int
run(const struct options *o)
{
	struct server s = { .null = -1 };
	struct ss_error err = { .code = SS_OK };

	s.site = options_open(o, ".", &err);
	if (s.site == NULL)
		return options_failed(&err, EXIT_FAILURE);
	ss_site_set_log(s.site, say_line, NULL);
	/* Room for the line break of the largest message. */
	s.line_max =
		(size_t)ss_site_option_number(s.site, "limits.max_body_bytes") +
		2;
	s.null = open("/dev/null", O_RDWR | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	if (s.null >= 0)
		serve(&s);
	close(s.null);
	ss_site_free(s.site);
	return s.null >= 0 ? 0 : EXIT_FAILURE;
}

int
cmd_mcp(int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ NULL, 0, NULL, 0 } };
	static struct options o;
	int option, status;

	o.usage = usage;
	while ((option = getopt_long(argc, argv, OPTIONS_SHORT, table, NULL)) !=
		-1) {
		status = options_take(&o, option, optarg);
		if (status >= 0)
			return status;
	}
	status = options_directory(&o, argc, argv);
	return status >= 0 ? status : run(&o);
}
