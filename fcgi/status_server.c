/* SPDX-License-Identifier: MIT */
#include "status_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "connection.h"
#include "parked.h"
#include "say.h"
#include "status.h"
#include "sys.h"
#include "worker.h"

#define SILENCE_S 1 /* for a peer that stalls: there is one status server */

/* An answer of the site with another body. */
struct answer {
	const struct status_server *status_server;
	bool refusing;
	struct tool_counts tools;
	struct silent_set silent;
	char body[STATUS_MAX];
	struct ss_header headers[16];
};

static bool
is_for(const struct request *r, const char *path)
{
	return strcmp(r->ss.path, path) == 0;
}

/* A scraper names the format; everybody else gets JSON. */
static bool
wants_prometheus(const struct request *r)
{
	const char *accept = r->ss.accept;

	return accept != NULL &&
		(strstr(accept, "openmetrics") != NULL ||
			strstr(accept, "text/plain") != NULL);
}

/* The site's headers but Content-Type; they belong to its response. */
static void
replace_body(
	struct answer *a, struct ss_response *res, const char *type, size_t len)
{
	size_t n = 0;

	a->headers[n++] = (struct ss_header){ "Content-Type", type };
	for (size_t i = 0; i < res->header_count && n < ARRAY_LEN(a->headers);
		i++)
		if (strcmp(res->headers[i].name, "Content-Type") != 0)
			a->headers[n++] = res->headers[i];
	res->headers = a->headers;
	res->header_count = n;
	res->body = a->body;
	res->body_len = len;
	res->length = len;
}

static void
answer_status(struct answer *a, struct ss_site *site, const struct request *r,
	struct ss_response *res)
{
	const struct status_server *c = a->status_server;
	bool prometheus = wants_prometheus(r);
	struct status s;
	size_t len;

	status_take(&s, c->figures, c->scoreboard, c->slot_count, c->page,
		sys_clock_us());
	tool_counts_take(&a->tools, c->scoreboard, c->slot_count, site);
	s.tools = &a->tools;
	s.sites = c->served->counts;
	s.site = c->served->site;
	len = prometheus ? status_prometheus(&s, a->body, sizeof(a->body))
			 : status_json(&s, a->body, sizeof(a->body));
	replace_body(a, res,
		prometheus ? "text/plain; version=0.0.4" : "application/json",
		len);
}

static void
answer_ready(struct answer *a, struct ss_response *res)
{
	const struct status_server *c = a->status_server;
	struct status s;
	bool ready;
	size_t len;

	status_take(&s, c->figures, c->scoreboard, c->slot_count, c->page,
		sys_clock_us());
	s.tools_full = tool_slots_full(c->slots);
	s.draining = atomic_load(&c->slots->draining) != 0;
	len = status_ready(&s, &ready, a->body, sizeof(a->body));
	replace_body(a, res, "application/json", len);
	if (!ready)
		res->status = 503;
}

/*
 * The site answers first, with its checks and headers; the body is replaced
 * where only the pool knows it.  All other paths are refused.
 */
static enum ss_err
answer_as_status(void *ctx, struct ss_site *site, struct request *r,
	struct ss_response *res)
{
	struct answer *a = ctx;
	bool post = strcmp(r->ss.method, "POST") == 0;
	bool ready = !post && is_for(r, "/readyz");
	bool status =
		!post && is_for(r, "/__meta/status") && r->ss.status_allowed;
	enum ss_err code;

	if (a->refusing)
		request_refuse(r, SS_OVERLOADED,
			a->status_server->figures->stopping
				? "the server is stopping; the tool did not run"
				: "all workers are busy; the tool did not run");
	else if (!ready && !status && !is_for(r, "/healthz") &&
		!is_for(r, "/__meta/version"))
		request_refuse(r, SS_NOT_FOUND, "no such file");
	code = ss_site_handle(site, &r->ss, res);
	if (code == SS_OK && res->status == 200 && status)
		answer_status(a, site, r, res);
	else if (code == SS_OK && res->status == 200 && ready)
		answer_ready(a, res);
	return code;
}

static bool
is_overdue(const struct status_server *c, uint64_t since_us)
{
	return since_us != 0 &&
		(c->figures->stopping ||
			since_us + WORKER_QUEUE_US <= sys_clock_us());
}

/* Refuses connections of silent.h that waited too long for a worker. */
static void
refuse_ready(const struct status_server *c, struct connection *connection)
{
	struct silent_peer peer;
	enum ss_err outcome;

	while (is_overdue(c, parked_oldest(c->silent->ready)) &&
		silent_take_ready(c->silent, &peer)) {
		atomic_fetch_add(&c->page->refused, 1);
		connection_continue(connection, peer, &outcome);
	}
}

/* Refuses parked requests that waited too long for a tool to end. */
static void
refuse_parked(const struct status_server *c, struct connection *connection)
{
	struct parked_request r;
	enum ss_err outcome;
	int fd;

	while (is_overdue(c, parked_oldest(c->parked)) &&
		(fd = parked_take(c->parked, &r)) >= 0) {
		atomic_fetch_sub(&c->slots->parked, 1);
		atomic_fetch_add(&c->page->refused, 1);
		connection_resume(connection, &r, fd, &outcome);
	}
}

static void
refuse_overdue(const struct status_server *c, struct connection *connection,
	struct answer *a)
{
	eventfd_t many = 0;

	a->refusing = true;
	eventfd_read(c->refuse, &many);
	if (many >= STATUS_SERVER_PARKED) {
		refuse_parked(c, connection);
		refuse_ready(c, connection);
	}
	many %= STATUS_SERVER_PARKED;
	while (many-- > 0) {
		int fd = connection_accept(
			c->listener, &c->served->peers, SILENCE_S);
		enum ss_err outcome;

		if (fd < 0)
			break;
		atomic_fetch_add(&c->page->accepted, 1);
		connection_serve(connection, fd, &outcome);
	}
	a->refusing = false;
}

/* Refuses a connection while the pool ends, and nobody else has its socket. */
static void
refuse_new(const struct status_server *c, struct connection *connection,
	struct answer *a)
{
	enum ss_err outcome;
	int fd = connection_accept(c->listener, &c->served->peers, SILENCE_S);

	if (fd < 0)
		return;
	a->refusing = true;
	atomic_fetch_add(&c->page->accepted, 1);
	connection_serve(connection, fd, &outcome);
	a->refusing = false;
}

static void
hold_silent(void *ctx, struct silent_peer peer)
{
	struct answer *a = ctx;

	silent_hold(&a->silent, peer, !a->refusing);
}

/* Connections whose bytes have come: the workers serve them, or we do. */
static void
serve_spoken(const struct status_server *c, struct connection *connection,
	struct answer *a)
{
	struct silent_peer peer;
	enum ss_err outcome;
	bool own;

	while (silent_next(&a->silent, &peer, &own)) {
		if (!own && !c->figures->stopping) {
			silent_pass_on(c->silent, peer);
			continue;
		}
		a->refusing = !own;
		connection_continue(connection, peer, &outcome);
		a->refusing = false;
	}
}

static void
serve_until_stopped(const struct status_server *c,
	struct connection *connection, struct answer *a)
{
	const struct timespec look = { .tv_sec = 1 };
	struct pollfd fds[6] = { { .fd = c->alive, .events = POLLIN },
		{ .fd = c->refuse, .events = POLLIN },
		{ .fd = c->status, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
		{ .fd = c->silent->given[1], .events = POLLIN },
		{ .fd = a->silent.epoll, .events = POLLIN } };

	while (!worker_is_leaving()) {
		enum ss_err outcome;
		int fd;

		if (c->figures->stopping == FIGURES_REFUSING)
			fds[3].fd = c->listener;
		if (ppoll(fds, 6, a->silent.count > 0 ? &look : NULL, c->open) <
			0)
			continue;
		silent_expire(&a->silent);
		if (fds[0].revents != 0)
			return;
		silent_collect(&a->silent, c->silent);
		serve_spoken(c, connection, a);
		if (fds[1].revents != 0)
			refuse_overdue(c, connection, a);
		if (fds[3].revents != 0)
			refuse_new(c, connection, a);
		if (fds[2].revents == 0)
			continue;
		fd = connection_accept(c->status, &c->served->peers, SILENCE_S);
		if (fd >= 0 && !connection_serve(connection, fd, &outcome))
			return;
	}
}

int
status_server_run(const struct status_server *c)
{
	static struct answer a;
	struct ss_error err = { .code = SS_OK };
	struct connection *connection;

	worker_signals();
	prctl(PR_SET_NAME, "ss-status");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	connection =
		connection_open(c->served->site, &c->served->request, &err);
	if (connection == NULL || !silent_set_open(&a.silent)) {
		say("the status server cannot start: %s",
			connection == NULL ? err.message : "epoll");
		return 1;
	}
	a.status_server = c;
	connection_set_answer(connection, answer_as_status, &a);
	connection_set_silent(connection, hold_silent, &a);
	serve_until_stopped(c, connection, &a);
	silent_set_close(&a.silent, c->silent);
	connection_close(connection);
	return 0;
}
