/* SPDX-License-Identifier: MIT */
/*
 * statespace mcp: the Model Context Protocol over standard input and output,
 * one message in each line.
 *
 * This process reads and writes lines; a message that may run a program is
 * handed to mcp_jobs.c.  No other process has the client's standard input.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "lines.h"
#include "mcp_jobs.h"
#include "options.h"
#include "say.h"
#include "sys.h"

#define LAST_US UINT64_C(5000000) /* for what still runs when the input ends */

static const char usage[] =
	"usage: statespace mcp [-c FILE] [-e K=V]... [--env-file F]\n"
	"                      [--timeout SECS] [--site SITE] [DIR]\n";

struct server {
	struct mcp_jobs jobs;
	size_t line_max;
	struct lines in;
	size_t held;    /* bytes of it: whole lines that wait for a place */
	bool page_held; /* one of them wants no tool */
	bool skipping;  /* the rest of a line that was too long */
};

/* ----------------------------------------------------------------- lines -- */

static bool
send_to_client(void *ctx, const char *message, size_t len)
{
	(void)ctx;
	return lines_write(STDOUT_FILENO, message, len);
}

/* Drops requests of that id that wait for a place: they get no answer. */
static void
forget_held(struct server *s, const char *id)
{
	char *held = s->in.data;
	struct ss_mcp_glance glance;

	for (size_t at = 0, len; at < s->held;) {
		len = lines_first(held + at, s->held - at);
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
cancel_request(struct server *s, const char *id)
{
	if (id[0] == '\0')
		return;
	mcp_jobs_cancel(&s->jobs, id);
	forget_held(s, id);
}

/* False: it would run a program, and there is no place. */
static bool
take_line(struct server *s, const char *line, size_t len)
{
	struct mcp_jobs *jobs = &s->jobs;
	struct ss_mcp_glance glance;

	while (len > 0 && memchr("\r\n ", line[len - 1], 3) != NULL)
		len--;
	if (len == 0)
		return true;
	ss_mcp_look(line, len, &glance);
	switch (glance.kind) {
	case SS_MCP_SIMPLE:
		jobs->asks |= glance.asks;
		ss_site_mcp(jobs->site, line, len, -1, send_to_client, NULL);
		break;
	case SS_MCP_RUNS:
		if (!mcp_jobs_has_place(jobs, glance.page)) {
			s->page_held |= glance.page;
			return false;
		}
		mcp_jobs_start(jobs, line, len, &glance);
		break;
	case SS_MCP_CANCELS: cancel_request(s, glance.id); break;
	case SS_MCP_ANSWERS:
		mcp_jobs_respond(jobs, glance.id, line, len);
		break;
	}
	return true;
}

/*
 * Takes all lines that are there.  Those that have to wait gather in front, in
 * their order; cancellations and messages that run nothing pass them.  Lines
 * that wait are looked at again only when one of them may run.
 */
static void
take_lines(struct server *s)
{
	struct lines *in = &s->in;
	size_t known = s->held, at = 0, len;
	bool wait_on = !mcp_jobs_has_place(&s->jobs, s->page_held), waits;

	if (in->len == 0)
		return;
	s->held = 0;
	s->page_held &= wait_on;
	while ((len = lines_first(in->data + at, in->len - at)) > 0) {
		waits = at < known && wait_on;
		if (!waits && !s->skipping)
			waits = !take_line(s, in->data + at, len);
		s->skipping = false;
		if (waits) {
			memmove(in->data + s->held, in->data + at, len);
			s->held += len;
		}
		at += len;
	}
	memmove(in->data + s->held, in->data + at, in->len - at);
	in->len -= at - s->held;
}

/* Nothing more is read until one of the lines that wait has begun. */
static bool
is_full(const struct server *s)
{
	return s->held > 0 && s->in.len == s->line_max;
}

/* False: the client has closed its end. */
static bool
read_input(struct server *s)
{
	struct lines *in = &s->in;
	ssize_t n = lines_read(in, STDIN_FILENO, s->line_max);

	if (n < 0 && errno == EMSGSIZE) {
		if (!s->skipping)
			mcp_jobs_error("", -32600, "the message is too large");
		s->skipping = true;
		in->len = 0;
		return true;
	}
	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n == 0) /* the last line may have no break; there is room for it */
		in->data[in->len++] = '\n';
	return n > 0;
}

/* ------------------------------------------------------------------ loop -- */

/* Waits for the jobs, and for the client unless fd is -1. */
static bool
wait_once(struct server *s, int fd, int timeout_ms)
{
	struct pollfd p[1 + MCP_JOBS_FDS] = { { .fd = fd, .events = POLLIN } };
	bool open = true;

	timeout_ms = mcp_jobs_watch(&s->jobs, p + 1, timeout_ms);
	if (poll(p, 1 + MCP_JOBS_FDS, timeout_ms) < 0)
		return true;
	if (p[0].revents != 0)
		open = read_input(s);
	mcp_jobs_serve(&s->jobs, p + 1);
	return open;
}

static void
serve(struct server *s)
{
	bool open = true;
	uint64_t now, end;

	while (open) {
		open = wait_once(s, is_full(s) ? -1 : STDIN_FILENO, -1);
		take_lines(s);
	}
	end = sys_clock_us() + LAST_US;
	while ((s->jobs.running > 0 || s->held > 0) &&
		(now = sys_clock_us()) < end) {
		wait_once(s, -1, (int)((end - now) / 1000) + 1);
		take_lines(s);
	}
	mcp_jobs_kill(&s->jobs);
	lines_release(&s->in);
}

/* ----------------------------------------------------------------- start -- */

/* In this process, which is not confined: no message to a parent. */
static bool
start_job(void *ctx, const char *id)
{
	return job_start(ctx, id);
}

static void
open_jobs(struct mcp_jobs *jobs, const struct options *o,
	const struct ss_site *all)
{
	static struct options own;
	const struct ss_jobs host = {
		.size = sizeof(host), .ctx = &jobs->starter, .start = start_job
	};

	own = *o;
	/* Of several sites it chose one. */
	if (options_has_sites(all))
		own.root = NULL;
	jobs->starter = (struct job_starter){ &own, jobs->site };
	job_post_open(&jobs->post);
	ss_site_set_jobs(jobs->site, &host);
}

static int
run_mcp(const struct options *o)
{
	struct server s = { .line_max = 0 };
	struct mcp_jobs *jobs = &s.jobs;
	struct ss_site *all;
	struct ss_error err = { .code = SS_OK };

	jobs->site = options_open_one(o, ".", &all, NULL, &err);
	if (jobs->site == NULL)
		return options_failed(&err, EXIT_FAILURE);
	if (ss_site_open_state(jobs->site, &err) != SS_OK ||
		ss_site_open_receipts(jobs->site, &err) != SS_OK) {
		ss_site_free(all);
		return options_failed(&err, EXIT_FAILURE);
	}
	ss_site_set_log(jobs->site, say_line, NULL);
	/* Room for the line break of the largest message. */
	s.line_max = (size_t)ss_site_option_number(
			     jobs->site, "limits.max_body_bytes") +
		2;
	if (!kept_open(&jobs->kept, MCP_JOBS_ALL,
		    (uint64_t)ss_site_option_number(
			    jobs->site, "pool.kept_bytes")))
		kept_close(&jobs->kept);
	if (ss_site_open_state(jobs->site, &err) != SS_OK)
		say_error(NULL, &err);
	open_jobs(jobs, o, all);
	jobs->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	if (jobs->null >= 0)
		serve(&s);
	job_post_close(&jobs->post);
	close(jobs->null);
	kept_close(&jobs->kept);
	ss_site_free(all);
	return jobs->null >= 0 ? 0 : EXIT_FAILURE;
}

int
cmd_mcp(int argc, char **argv)
{
	static const struct option table[] = { OPTIONS_LONG,
		{ "site", required_argument, NULL, OPTION_SITE },
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
	return status >= 0 ? status : run_mcp(&o);
}
