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

#define CHUNK 65536
/* Of a body that is refused: read away, so that the answer gets through. */
#define DRAIN_MAX (16u << 20)
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
	/* The connection in hand. */
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
pipe_close(struct connection *g)
{
	for (int i = 0; i < 2; i++)
		if (g->empty[i] >= 0)
			close(g->empty[i]);
	g->empty[0] = g->empty[1] = -1;
}

static bool
pipe_open(struct connection *g)
{
	if (pipe2(g->empty, O_CLOEXEC | O_NONBLOCK) == 0)
		return true;
	g->empty[0] = g->empty[1] = -1;
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
connection_set_answer(struct connection *g, connection_answer_fn fn, void *ctx)
{
	g->answer = fn;
	g->answer_ctx = ctx;
}

void
connection_set_most(struct connection *g, unsigned most)
{
	g->most = most;
}

void
connection_set_listener(struct connection *g, int listener)
{
	g->listener = listener;
}

void
connection_set_silent(struct connection *g, connection_silent_fn fn, void *ctx)
{
	g->silent = fn;
	g->silent_ctx = ctx;
}

static bool client_speaks(void *ctx);

struct connection *
connection_open(
	struct ss_site *site, struct request *request, struct ss_error *err)
{
	struct connection *g = calloc(1, sizeof(*g));

	if (g == NULL) {
		say_refusal(err, SS_INTERNAL, "out of memory");
		return NULL;
	}
	g->site = site;
	g->request = request;
	g->answer = answer_by_site;
	g->most = 1;
	g->listener = -1;
	ss_site_set_client(site, client_speaks, g);
	if (!pipe_open(g) || FCGX_Init() != 0 ||
		FCGX_InitRequest(&g->fcgi, -1, FCGI_FAIL_ACCEPT_ON_INTR) != 0) {
		say_refusal(err, SS_INTERNAL, "cannot start FastCGI");
		connection_close(g);
		return NULL;
	}
	/* The library has put a handler of its own there. */
	signal(SIGPIPE, SIG_IGN);
	return g;
}

void
connection_close(struct connection *g)
{
	if (g == NULL)
		return;
	ss_site_set_client(g->site, NULL, NULL);
	pipe_close(g);
	free(g);
}

int
connection_accept(int listener, unsigned silence_s)
{
	struct timeval silence = { .tv_sec = (time_t)silence_s };
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof(silence)) <
			0 ||
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
reset_library(struct connection *g)
{
	FCGX_Free(&g->fcgi, 0);
	g->fcgi.ipcFd = -1;
	pipe_close(g);
	pipe_open(g);
}

/*
 * Lets libfcgi frame the answer.  FCGX_Accept_r makes its streams only when it
 * reads a request: it gets one without parameters through a pipe, which it
 * believes to be its connection and must not close (keepConnection).
 */
static bool
begin_answer(struct connection *g)
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
	FCGX_Request *f = &g->fcgi;

	f->ipcFd = g->empty[0];
	f->keepConnection = 1;
	if (write(g->empty[1], &request, sizeof(request)) !=
			(ssize_t)sizeof(request) ||
		FCGX_Accept_r(f) != 0) {
		reset_library(g);
		return false;
	}
	f->ipcFd = g->fd;
	f->requestId = (int)g->reader.id;
	g->answering = true;
	return true;
}

/* The parameters are complete: what is asked, and how much body will come? */
static void
take_params(struct connection *g)
{
	request_read_params(g->request, g->reader.params, g->reader.params_len);
	if (g->request->content_length > 0 && !g->request->ss.body_too_large)
		request_body(g->request);
	g->params_done = true;
}

static const char *
take_body(struct connection *g, const unsigned char *data, size_t len)
{
	struct request *r = g->request;

	if (r->ss.body_too_large || r->refused.code != SS_OK) {
		g->drained += len;
		return g->drained > DRAIN_MAX ? "far too large a body" : NULL;
	}
	if (r->unannounced) {
		request_refuse(r, SS_LENGTH_REQUIRED, NO_LENGTH);
		return NULL;
	}
	if (len > r->content_length - g->body_len) {
		request_refuse(r, SS_BAD_REQUEST,
			"the body is longer than its Content-Length");
		return NULL;
	}
	memcpy(r->body + g->body_len, data, len);
	g->body_len += len;
	return NULL;
}

/* A record of our own, between those of the library. */
static bool
send_record(struct connection *g, const unsigned char *record, size_t len)
{
	ssize_t n = send(g->fd, record, len, MSG_DONTWAIT | MSG_NOSIGNAL);

	return n == (ssize_t)len;
}

static const char *
answer_management(struct connection *g)
{
	unsigned char reply[RECORD_REPLY_MAX];
	size_t len = record_reply(&g->reader, g->most, reply);

	if (len == 0)
		return g->reader.why;
	return send_record(g, reply, len)
		? NULL
		: "the peer does not read the answer to its management record";
}

/* Hands n bytes of chunk to the record reader; a reason to stop, or NULL. */
static const char *
take(struct connection *g, size_t n)
{
	size_t at = 0;
	const char *why = NULL;

	while (why == NULL && at < n && g->reader.state != RECORD_ABORTED) {
		const unsigned char *body = NULL;
		size_t body_len;

		at += record_take(
			&g->reader, g->chunk + at, n - at, &body, &body_len);
		if (g->reader.state >= RECORD_ABORTED)
			return g->reader.why;
		if (g->reader.asked)
			why = answer_management(g);
		if (why == NULL && g->reader.state >= RECORD_STDIN &&
			!g->params_done)
			take_params(g);
		if (why == NULL && body_len > 0)
			why = take_body(g, body, body_len);
	}
	return why;
}

/* A front writes as soon as it is connected: its bytes are mostly there. */
static bool
speaks_soon(const struct connection *g)
{
	struct pollfd peer = { .fd = g->fd, .events = POLLIN };

	return poll(&peer, 1, CONNECTION_FIRST_MS) > 0;
}

static const char sent_nothing[] = "";

/*
 * Reads the whole request; NULL, or why there is none ("": not worth a word;
 * sent_nothing: it may come yet).
 */
static const char *
receive(struct connection *g)
{
	const char *why = NULL;

	while (why == NULL && g->reader.state < RECORD_DONE) {
		bool first = g->silent != NULL && record_is_fresh(&g->reader);
		ssize_t n = recv(g->fd, g->chunk, sizeof(g->chunk),
			first ? MSG_DONTWAIT : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0 && record_is_fresh(&g->reader))
			return "";
		if (n == 0)
			return "the connection ended within the request";
		if (n < 0 && errno == EAGAIN && first) {
			if (speaks_soon(g))
				continue;
			return sent_nothing;
		}
		if (n < 0)
			return errno == EAGAIN ? "the peer fell silent"
					       : "the connection broke";
		if (sys_clock_us() - g->begun_us >
			CONNECTION_TOTAL_S * UINT64_C(1000000))
			return "the request took too long to arrive";
		why = take(g, (size_t)n);
	}
	return why;
}

/* An idle worker accepts within a millisecond: then nobody has to wait. */
static bool
others_wait(const struct connection *g)
{
	struct pollfd others = { .fd = g->listener, .events = POLLIN };

	for (int look = 0; look < 5; look++)
		if (poll(&others, 1, 0) <= 0 || poll(NULL, 0, 20) < 0)
			return false;
	return true;
}

/*
 * Waits until the peer reads the answer.  False: it has read nothing for
 * CONNECTION_SILENCE_S, or has stalled the answer for CONNECTION_STALL_S in all
 * while others wait for a worker.
 */
static bool
peer_reads(struct connection *g)
{
	struct pollfd peer = { .fd = g->fd, .events = POLLOUT };
	uint64_t begun_us = sys_clock_us(), waited_us;
	int ready;

	do {
		ready = poll(&peer, 1, STALL_LOOK_MS);
		waited_us = sys_clock_us() - begun_us;
		if (waited_us >= CONNECTION_SILENCE_S * UINT64_C(1000000))
			return false;
		if (g->stalled_us + waited_us >=
				CONNECTION_STALL_S * UINT64_C(1000000) &&
			others_wait(g))
			return false;
	} while (ready <= 0);
	g->stalled_us += waited_us;
	return true;
}

static bool
send_bytes(void *ctx, const char *data, size_t len)
{
	struct connection *g = ctx;

	while (len > 0) {
		int n = len > CHUNK ? CHUNK : (int)len;

		if (g->sent > CHUNK && !peer_reads(g))
			return false;
		if (FCGX_PutStr(data, n, g->fcgi.out) != n)
			return false;
		g->sent += (size_t)n;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

/* A piece of an answer that is still being made: on the wire at once. */
static bool
stream(void *ctx, const struct ss_response *res, const char *data, size_t len)
{
	struct connection *g = ctx;
	struct reply_sink sink = { .ctx = g, .send = send_bytes };

	if (!g->streaming && !reply_begin(res, &sink))
		return false;
	g->streaming = true;
	return send_bytes(g, data, len) && FCGX_FFlush(g->fcgi.out) == 0;
}

/*
 * Bytes behind the whole request: ABORT_REQUEST, or a management record, which
 * is answered.  True: nobody waits for the answer any more.
 */
static bool
client_speaks(void *ctx)
{
	struct connection *g = ctx;
	ssize_t n = recv(g->fd, g->chunk, sizeof(g->chunk), MSG_DONTWAIT);

	if (n < 0)
		return errno != EAGAIN && errno != EINTR;
	g->drained += (size_t)n;
	return n == 0 || g->drained > DRAIN_MAX || take(g, (size_t)n) != NULL ||
		g->reader.state == RECORD_ABORTED;
}

/* A request that waited in the queue may have outlived its client. */
static bool
peer_left(struct connection *g)
{
	struct pollfd peer = { .fd = g->fd, .events = POLLIN | POLLRDHUP };

	if (poll(&peer, 1, 0) <= 0)
		return false;
	return (peer.revents & ~POLLIN) != 0 || client_speaks(g);
}

/* False: nobody is there to read the answer. */
static bool
answer(struct connection *g, enum ss_err *outcome)
{
	struct request *r = g->request;
	struct reply_sink sink = { .ctx = g, .send = send_bytes };
	struct ss_response res;
	bool sent;

	if (g->reader.state == RECORD_ABORTED)
		request_refuse(r, SS_GONE, "the request was aborted");
	if (r->refused.code == SS_OK && !r->ss.body_too_large &&
		g->body_len != r->content_length)
		request_refuse(r, SS_BAD_REQUEST,
			"the body is shorter than its Content-Length");
	if (peer_left(g))
		request_refuse(r, SS_GONE, "the client left");
	r->ss.body = r->body;
	r->ss.body_len = g->body_len;
	r->ss.client_fd = g->fd;
	r->ss.received_us = g->begun_us;
	r->ss.stream = stream;
	r->ss.stream_ctx = g;
	*outcome = g->answer(g->answer_ctx, g->site, r, &res);
	sent = *outcome != SS_GONE && (res.streamed || reply_send(&res, &sink));
	ss_response_release(&res);
	return sent;
}

/*
 * Ends the answer on the wire: the library's last records, but not its close,
 * which waits for the peer.  When the answer was cut the last record must be
 * missing, so that the front can tell.
 */
static void
finish(struct connection *g, bool sent)
{
	if (!g->answering)
		return;
	if (sent) {
		FCGX_FClose(g->fcgi.err);
		FCGX_FClose(g->fcgi.out);
	}
	FCGX_Free(&g->fcgi, 0);
	g->fcgi.ipcFd = -1;
}

/* The peer that aborted a request waits for its END_REQUEST. */
static void
end_aborted(struct connection *g)
{
	unsigned char end[RECORD_REPLY_MAX];

	send_record(g, end, record_end(&g->reader, end));
}

/*
 * Closing a socket with unread bytes resets it, and the peer may lose the
 * answer: read on for a moment.
 */
static void
linger(struct connection *g)
{
	struct timeval moment = { .tv_usec = LINGER_MS * 1000 };
	uint64_t end_us = sys_clock_us() + LINGER_MS * 1000;
	size_t all = 0;
	ssize_t n;

	shutdown(g->fd, SHUT_WR);
	setsockopt(g->fd, SOL_SOCKET, SO_RCVTIMEO, &moment, sizeof(moment));
	do {
		n = recv(g->fd, g->chunk, sizeof(g->chunk), 0);
		all += n > 0 ? (size_t)n : 0;
	} while (n > 0 && all < LINGER_MAX && sys_clock_us() < end_us);
}

static void
begin(struct connection *g, int fd, uint64_t begun_us)
{
	g->fd = fd;
	g->begun_us = begun_us;
	g->body_len = g->drained = g->sent = 0;
	g->stalled_us = 0;
	g->params_done = g->answering = g->streaming = false;
	record_init(&g->reader);
}

/* why: there is no request (see receive). */
static bool
answer_and_close(struct connection *g, const char *why, enum ss_err *outcome)
{
	bool sent = false;

	*outcome = SS_GONE;
	if (why == NULL && g->params_done && begin_answer(g))
		sent = answer(g, outcome);
	else if (why != NULL && *why != '\0')
		say("a FastCGI connection was dropped: %s", why);
	if (!sent)
		*outcome = SS_GONE;
	finish(g, sent);
	if (!sent && g->reader.state == RECORD_ABORTED)
		end_aborted(g);
	if (g->reader.state != RECORD_DONE)
		linger(g);
	close(g->fd);
	g->fd = -1;
	return g->empty[1] >= 0;
}

bool
connection_serve(struct connection *g, int fd, enum ss_err *outcome)
{
	const char *why;

	begin(g, fd, sys_clock_us());
	why = receive(g);
	if (why != sent_nothing)
		return answer_and_close(g, why, outcome);
	*outcome = SS_GONE;
	g->silent(g->silent_ctx, fd);
	return true;
}

void
connection_park(const struct connection *g, struct parked_request *r)
{
	r->id = g->reader.id;
	r->params = g->reader.params;
	r->params_len = g->reader.params_len;
}

bool
connection_resume(struct connection *g, const struct parked_request *r, int fd,
	enum ss_err *outcome)
{
	const char *why = "it was parked without its parameters";

	begin(g, fd, r->begun_us);
	if (r->params_len > 0 && r->params_len <= RECORD_PARAMS_MAX &&
		r->params[r->params_len - 1] == '\0') {
		memcpy(g->reader.params, r->params, r->params_len);
		g->reader.params_len = r->params_len;
		g->reader.id = r->id;
		take_params(g);
		why = NULL;
	}
	if (why == NULL && r->body_len > 0)
		why = take_body(g, (const unsigned char *)r->body, r->body_len);
	g->reader.state = RECORD_DONE;
	return answer_and_close(g, why, outcome);
}
