/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include <errno.h>
#include <fastcgi.h>
#include <fcgiapp.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "record.h"
#include "reply.h"
#include "say.h"
#include "sys.h"
#include "unfinished.h"

#define CHUNK 65536
/* Bytes of a refused body that are read, so that the answer gets through. */
#define DRAIN_MAX ((size_t)1 << 30) /* of a refused body; cgi.c, too */
#define LINGER_MAX (1u << 20)
#define LINGER_MS 200
#define STALL_LOOK_MS 250 /* at whether others wait */

struct connection {
	struct ss_site *site;
	struct request *request;
	connection_answer_fn answer;
	void *answer_ctx;
	connection_silent_fn silent; /* NULL: silent peers are waited for */
	void *silent_ctx;
	unsigned most;
	int listener;
	FCGX_Request fcgi;
	int empty[2]; /* a pipe: see begin_answer */
	struct record_reader reader;
	/* Of the connection that is served now. */
	int fd;
	uint64_t begun_us;
	size_t body_len;
	size_t drained;
	size_t sent;
	uint64_t stalled_us; /* the peer did not read the answer */
	bool params_done;
	bool answering; /* the library has its streams */
	bool streaming; /* the head of the answer has left */
	unsigned char chunk[CHUNK];
};

static void
pipe_close(struct connection *c)
{
	for (int i = 0; i < 2; i++)
		if (c->empty[i] >= 0)
			close(c->empty[i]);
	c->empty[0] = c->empty[1] = -1;
}

static bool
pipe_open(struct connection *c)
{
	if (pipe2(c->empty, O_CLOEXEC | O_NONBLOCK) == 0)
		return true;
	c->empty[0] = c->empty[1] = -1;
	return false;
}

static enum ss_err
answer_by_site(void *ctx, struct ss_site *site, struct request *request,
	struct ss_response *res)
{
	(void)ctx;
	return ss_site_handle(site, &request->ss, res);
}

void
connection_set_answer(struct connection *c, connection_answer_fn fn, void *ctx)
{
	c->answer = fn;
	c->answer_ctx = ctx;
}

void
connection_set_most(struct connection *c, unsigned most)
{
	c->most = most;
}

void
connection_set_listener(struct connection *c, int listener)
{
	c->listener = listener;
}

void
connection_set_silent(struct connection *c, connection_silent_fn fn, void *ctx)
{
	c->silent = fn;
	c->silent_ctx = ctx;
}

static bool client_left(void *ctx);

struct connection *
connection_open(
	struct ss_site *site, struct request *request, struct ss_error *err)
{
	struct connection *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		say_refusal(err, SS_INTERNAL, "out of memory");
		return NULL;
	}
	c->site = site;
	c->request = request;
	c->answer = answer_by_site;
	c->most = 1;
	c->listener = -1;
	ss_site_set_client(site, client_left, c);
	if (!pipe_open(c) || FCGX_Init() != 0 ||
		FCGX_InitRequest(&c->fcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR) != 0) {
		say_refusal(err, SS_INTERNAL, "cannot start FastCGI");
		connection_close(c);
		return NULL;
	}
	/* The library has put a handler of its own there. */
	signal(SIGPIPE, SIG_IGN);
	return c;
}

void
connection_close(struct connection *c)
{
	if (c == NULL)
		return;
	ss_site_set_client(c->site, NULL, NULL);
	pipe_close(c);
	free(c);
}

int
connection_accept(int listener, const struct peers *peers, unsigned silence_s)
{
	struct timeval silence = { .tv_sec = (time_t)silence_s };
	struct sockaddr_storage from = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(from);
	int fd =
		accept4(listener, (struct sockaddr *)&from, &len, SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	if (!peers_allow(peers, &from) ||
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &silence,
			sizeof(silence)) < 0) {
		close(fd);
		errno = ECONNABORTED;
		return -1;
	}
	return fd;
}

/* After a failure nothing is known of what the library left behind. */
static void
reset_library(struct connection *c)
{
	FCGX_Free(&c->fcgi, 0);
	c->fcgi.ipcFd = -1;
	pipe_close(c);
	pipe_open(c);
}

/*
 * Lets libfcgi frame the answer.  FCGX_Accept_r makes its streams only when it
 * reads a request: it gets one without parameters through a pipe, which it
 * believes to be its connection and must not close (keepConnection).
 */
static bool
begin_answer(struct connection *c)
{
	static const struct {
		FCGI_BeginRequestRecord begin;
		FCGI_Header params;
	} request = {
		.begin = { .header = { .version = FCGI_VERSION_1,
				   .type = FCGI_BEGIN_REQUEST,
				   .requestIdB0 = 1,
				   .contentLengthB0 =
					   sizeof(FCGI_BeginRequestBody) },
			.body = { .roleB0 = FCGI_RESPONDER,
				.flags = FCGI_KEEP_CONN } },
		.params = { .version = FCGI_VERSION_1,
			.type = FCGI_PARAMS,
			.requestIdB0 = 1 },
	};
	FCGX_Request *f = &c->fcgi;

	f->ipcFd = c->empty[0];
	f->keepConnection = 1;
	if (write(c->empty[1], &request, sizeof(request)) !=
			(ssize_t)sizeof(request) ||
		FCGX_Accept_r(f) != 0) {
		reset_library(c);
		return false;
	}
	f->ipcFd = c->fd;
	f->requestId = (int)c->reader.id;
	c->answering = true;
	return true;
}

/* The parameters are complete: what is asked, and how much body will come? */
static void
take_params(struct connection *c)
{
	request_read_params(c->request, c->reader.params, c->reader.params_len);
	if (c->request->content_length > 0 && !c->request->ss.body_too_large)
		request_body(c->request);
	c->params_done = true;
}

/* A byte of the body is one too many. */
static void
refuse_body(struct request *r)
{
	if (r->unannounced)
		request_refuse(r, SS_LENGTH_REQUIRED, NO_LENGTH);
	else
		request_refuse(r, SS_BAD_REQUEST,
			"the body is longer than its Content-Length");
}

static const char *
take_body(struct connection *c, const unsigned char *data, size_t len)
{
	struct request *r = c->request;

	if (r->ss.body_too_large || r->refused.code != SS_OK) {
		c->drained += len;
		return c->drained > DRAIN_MAX ? "far too large a body" : NULL;
	}
	if (r->unannounced || len > r->content_length - c->body_len) {
		refuse_body(r);
		return NULL;
	}
	memcpy(r->body + c->body_len, data, len);
	c->body_len += len;
	return NULL;
}

/* Sends a record of our own, between those of the library. */
static bool
send_record(struct connection *c, const unsigned char *record, size_t len)
{
	ssize_t n = send(c->fd, record, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == (ssize_t)len;
}

static const char *
answer_management(struct connection *c)
{
	unsigned char reply[RECORD_REPLY_MAX];
	size_t len = record_reply(&c->reader, c->most, reply);

	if (len == 0)
		return c->reader.why;
	return send_record(c, reply, len)
		? NULL
		: "the peer does not read the answer to its management record";
}

/* Hands n bytes of chunk to the record reader; a reason to stop, or NULL. */
static const char *
take_bytes(struct connection *c, size_t n)
{
	size_t at = 0;
	const char *why = NULL;

	while (why == NULL && at < n && c->reader.state != RECORD_ABORTED) {
		const unsigned char *body = NULL;
		size_t body_len;

		at += record_take(
			&c->reader, c->chunk + at, n - at, &body, &body_len);
		if (c->reader.state >= RECORD_ABORTED)
			return c->reader.why;
		if (c->reader.asked)
			why = answer_management(c);
		if (why == NULL && c->reader.state >= RECORD_STDIN &&
			!c->params_done)
			take_params(c);
		if (why == NULL && body_len > 0)
			why = take_body(c, body, body_len);
	}
	return why;
}

static bool
speaks_within(const struct connection *c, int ms)
{
	struct pollfd peer = { .fd = c->fd, .events = POLLIN };

	return poll(&peer, 1, ms) > 0;
}

/*
 * A front writes as soon as it is connected, and all that it has.  Where nobody
 * takes a silent peer, this process waits for it.
 */
static bool
speaks_soon(const struct connection *c)
{
	return speaks_within(c,
		c->silent != NULL ? CONNECTION_FIRST_MS
				  : CONNECTION_SILENCE_S * 1000);
}

/* An idle worker accepts within a millisecond: then nobody has to wait. */
static bool
others_wait(const struct connection *c)
{
	struct pollfd others = { .fd = c->listener, .events = POLLIN };

	for (int look = 0; look < 5; look++)
		if (poll(&others, 1, 0) <= 0 || poll(NULL, 0, 20) < 0)
			return false;
	return true;
}

static int
save_request(const struct connection *c)
{
	struct unfinished u = { .begun_us = c->begun_us,
		.drained = c->drained,
		.body_len = c->body_len,
		.refused =
			c->params_done && c->request->refused.code != SS_OK };

	return unfinished_save(&u, &c->reader, c->request->body);
}

/* Hands the connection to c->silent; false: its first part is too large. */
static bool
give_away(struct connection *c)
{
	struct silent_peer peer = { .fd = c->fd, .saved = -1 };

	if (!record_is_fresh(&c->reader)) {
		peer.saved = save_request(c);
		if (peer.saved < 0)
			return false;
	}
	c->fd = -1;
	c->silent(c->silent_ctx, peer);
	return true;
}

/* For what cannot be given away: the peer has less time when others wait. */
static bool
speaks_later(const struct connection *c)
{
	for (int i = 0; i < CONNECTION_SILENCE_S; i++) {
		if (speaks_within(c, 1000))
			return true;
		if (c->listener < 0 || others_wait(c))
			return false;
	}
	return false;
}

static const char set_aside[] = "";

/*
 * Reads the whole request; NULL, or why there is none ("": nothing to log;
 * set_aside: another process may read the rest).
 */
static const char *
receive(struct connection *c)
{
	const char *why = NULL;

	while (why == NULL && c->reader.state < RECORD_DONE) {
		ssize_t n =
			recv(c->fd, c->chunk, sizeof(c->chunk), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && record_is_fresh(&c->reader))
			return "";
		if (n == 0)
			return "the connection ended within the request";
		if (n < 0 && errno != EAGAIN)
			return "the connection broke";
		if (n < 0 && speaks_soon(c))
			continue;
		if (n < 0 && c->silent != NULL && give_away(c))
			return set_aside;
		if (n < 0 && c->silent != NULL && speaks_later(c))
			continue;
		if (n < 0)
			return "the peer fell silent";
		if (sys_clock_us() - c->begun_us >
			CONNECTION_TOTAL_S * UINT64_C(1000000))
			return "the request took too long to arrive";
		why = take_bytes(c, (size_t)n);
	}
	return why;
}

/*
 * Waits until the peer reads the answer.  False: it has read nothing for
 * CONNECTION_SILENCE_S, or has stalled the answer for CONNECTION_STALL_S in all
 * while others wait for a worker.
 */
static bool
peer_reads(struct connection *c)
{
	struct pollfd peer = { .fd = c->fd, .events = POLLOUT };
	uint64_t begun_us = sys_clock_us(), waited_us;
	int ready;

	do {
		ready = poll(&peer, 1, STALL_LOOK_MS);
		waited_us = sys_clock_us() - begun_us;
		if (waited_us >= CONNECTION_SILENCE_S * UINT64_C(1000000))
			return false;
		if (c->stalled_us + waited_us >=
				CONNECTION_STALL_S * UINT64_C(1000000) &&
			others_wait(c))
			return false;
	} while (ready <= 0);
	c->stalled_us += waited_us;
	return true;
}

static bool
send_bytes(void *ctx, const char *data, size_t len)
{
	struct connection *c = ctx;

	while (len > 0) {
		int n = len > CHUNK ? CHUNK : (int)len;

		if (c->sent > CHUNK && !peer_reads(c))
			return false;
		if (FCGX_PutStr(data, n, c->fcgi.out) != n)
			return false;
		c->sent += (size_t)n;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/*
 * Sends a piece of an answer whose end is not known yet, at once.  After a
 * failure the socket is shut down: whoever polls it for a hang-up ends the tool.
 */
static bool
stream(void *ctx, const struct ss_response *res, const char *data, size_t len)
{
	struct connection *c = ctx;
	struct reply_sink sink = { .ctx = c, .send = send_bytes };
	bool sent = c->streaming || reply_begin(res, &sink);

	c->streaming = true;
	sent = sent && send_bytes(c, data, len) &&
		FCGX_FFlush(c->fcgi.out) == 0;
	if (!sent)
		shutdown(c->fd, SHUT_RDWR);
	return sent;
}

/*
 * Reads bytes behind the whole request: ABORT_REQUEST, or a management record,
 * which is answered.  True: nobody waits for the answer any more.
 */
static bool
client_left(void *ctx)
{
	struct connection *c = ctx;
	ssize_t n = recv(c->fd, c->chunk, sizeof(c->chunk), MSG_DONTWAIT);

	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	c->drained += (size_t)n;
	return n == 0 || c->drained > DRAIN_MAX ||
		take_bytes(c, (size_t)n) != NULL ||
		c->reader.state == RECORD_ABORTED;
}

/* A request that waited in the queue may have outlived its client. */
static bool
peer_left(struct connection *c)
{
	struct pollfd peer = { .fd = c->fd, .events = POLLIN | POLLRDHUP };

	if (poll(&peer, 1, 0) <= 0)
		return false;
	return (peer.revents & ~POLLIN) != 0 || client_left(c);
}

/* False: nobody is there to read the answer. */
static bool
answer(struct connection *c, enum ss_err *outcome)
{
	struct request *r = c->request;
	struct reply_sink sink = { .ctx = c, .send = send_bytes };
	struct ss_response res;
	bool sent;

	if (c->reader.state == RECORD_ABORTED)
		request_refuse(r, SS_GONE, "the request was aborted");
	if (r->refused.code == SS_OK && !r->ss.body_too_large &&
		c->body_len != r->content_length)
		request_refuse(r, SS_BAD_REQUEST,
			"the body is shorter than its Content-Length");
	if (peer_left(c))
		request_refuse(r, SS_GONE, "the client left");
	r->ss.body = r->body;
	r->ss.body_len = c->body_len;
	r->ss.client_fd = c->fd;
	r->ss.received_us = c->begun_us;
	r->ss.stream = stream;
	r->ss.stream_ctx = c;
	*outcome = c->answer(c->answer_ctx, c->site, r, &res);
	sent = *outcome != SS_GONE && (res.streamed || reply_send(&res, &sink));
	ss_response_release(&res);
	return sent;
}

/*
 * Sends the library's last records; its own close would wait for the peer.
 * After an answer that was cut there is no END_REQUEST, so that the front can
 * tell.
 */
static void
finish(struct connection *c, bool sent)
{
	if (!c->answering)
		return;
	if (sent) {
		FCGX_FClose(c->fcgi.err);
		FCGX_FClose(c->fcgi.out);
	}
	FCGX_Free(&c->fcgi, 0);
	c->fcgi.ipcFd = -1;
}

/* The peer that aborted a request waits for its END_REQUEST. */
static void
end_aborted(struct connection *c)
{
	unsigned char end[RECORD_REPLY_MAX];

	send_record(c, end, record_end(&c->reader, end));
}

/*
 * close(2) of a socket with unread bytes resets it, and the peer may lose the
 * answer: read for LINGER_MS first.
 */
static void
linger(struct connection *c)
{
	struct timeval moment = { .tv_usec = LINGER_MS * 1000 };
	uint64_t end_us = sys_clock_us() + LINGER_MS * 1000;
	size_t all = 0;
	ssize_t n;

	shutdown(c->fd, SHUT_WR);
	setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment));
	do {
		n = recv(c->fd, c->chunk, sizeof(c->chunk), 0);
		all += n > 0 ? (size_t)n : 0;
	} while (n > 0 && all < LINGER_MAX && sys_clock_us() < end_us);
}

static void
begin_connection(struct connection *c, int fd, uint64_t begun_us)
{
	c->fd = fd;
	c->begun_us = begun_us;
	c->body_len = c->drained = c->sent = 0;
	c->stalled_us = 0;
	c->params_done = c->answering = c->streaming = false;
	record_init(&c->reader);
}

/* why: there is no request (see receive). */
static bool
answer_and_close(struct connection *c, const char *why, enum ss_err *outcome)
{
	bool sent = false;

	*outcome = SS_GONE;
	if (why == NULL && c->params_done && begin_answer(c))
		sent = answer(c, outcome);
	else if (why != NULL && *why != '\0')
		say("a FastCGI connection was dropped: %s", why);
	if (!sent)
		*outcome = SS_GONE;
	finish(c, sent);
	if (!sent && c->reader.state == RECORD_ABORTED)
		end_aborted(c);
	if (c->reader.state != RECORD_DONE)
		linger(c);
	close(c->fd);
	c->fd = -1;
	return c->empty[1] >= 0;
}

static const char *
load_request(struct connection *c, int saved)
{
	static const char why[] = "its first part is lost";
	struct unfinished u;

	if (!unfinished_load(saved, &u, &c->reader)) {
		record_init(&c->reader);
		return why;
	}
	c->begun_us = u.begun_us;
	c->drained = u.drained;
	if (c->reader.state == RECORD_STDIN)
		take_params(c);
	if (u.body_len > 0 &&
		(!c->params_done || c->request->ss.body_too_large ||
			c->request->body == NULL ||
			u.body_len > c->request->content_length ||
			!unfinished_load_body(
				saved, c->request->body, u.body_len)))
		return why;
	c->body_len = u.body_len;
	if (c->params_done && u.refused != 0)
		refuse_body(c->request);
	return NULL;
}

static bool
receive_and_answer(struct connection *c, enum ss_err *outcome)
{
	const char *why = receive(c);

	if (why != set_aside)
		return answer_and_close(c, why, outcome);
	*outcome = SS_GONE;
	return true;
}

bool
connection_serve(struct connection *c, int fd, enum ss_err *outcome)
{
	begin_connection(c, fd, sys_clock_us());
	return receive_and_answer(c, outcome);
}

bool
connection_continue(
	struct connection *c, struct silent_peer peer, enum ss_err *outcome)
{
	const char *why = NULL;

	begin_connection(c, peer.fd, sys_clock_us());
	if (peer.saved >= 0) {
		why = load_request(c, peer.saved);
		close(peer.saved);
	}
	return why != NULL ? answer_and_close(c, why, outcome)
			   : receive_and_answer(c, outcome);
}

void
connection_park(const struct connection *c, struct parked_request *r)
{
	r->id = c->reader.id;
	r->params = c->reader.params;
	r->params_len = c->reader.params_len;
}

bool
connection_resume(struct connection *c, const struct parked_request *r, int fd,
	enum ss_err *outcome)
{
	const char *why = "it was parked without its parameters";

	begin_connection(c, fd, r->begun_us);
	c->streaming = r->streamed;
	if (r->unfinished) /* not of ours */
		close(r->saved);
	if (r->params_len > 0 && r->params_len <= RECORD_PARAMS_MAX &&
		r->params[r->params_len - 1] == '\0') {
		memcpy(c->reader.params, r->params, r->params_len);
		c->reader.params_len = r->params_len;
		c->reader.id = r->id;
		take_params(c);
		why = NULL;
	}
	if (why == NULL && r->body_len > 0)
		why = take_body(c, (const unsigned char *)r->body, r->body_len);
	c->reader.state = RECORD_DONE;
	return answer_and_close(c, why, outcome);
}
