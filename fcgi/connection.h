/* SPDX-License-Identifier: MIT */
/*
 * One FastCGI connection: its request to the site, the answer back, closed.
 * The only room that knows libfcgi.
 *
 * The library frames the answer, nothing else: reading, it serves parameters
 * that were cut short, waits without limit, and crashes on two kinds of
 * records.  Every byte of a request is read here, under a deadline, through
 * the record reader.
 *
 * Blocking, but never longer than CONNECTION_SILENCE_S without a byte and
 * CONNECTION_TOTAL_S for a request.  Signals should be blocked meanwhile.
 */
#ifndef FCGI_CONNECTION_H
#define FCGI_CONNECTION_H

#include "parked.h"
#include "request.h"
#include "statespace.h"

#define CONNECTION_SILENCE_S 10
#define CONNECTION_FIRST_MS 5 /* for the first byte, before it is set aside */
#define CONNECTION_TOTAL_S 30
/* Of an answer in all, while others wait. */
#define CONNECTION_STALL_S 3

struct connection;

/*
 * Made in the process that will serve; request is the one attached to site,
 * both borrowed.  NULL with err filled: no memory or descriptor.
 */
struct connection *connection_open(
	struct ss_site *site, struct request *request, struct ss_error *err);
void connection_close(struct connection *g);

/*
 * Who answers instead of ss_site_handle (the same meaning), which it may call.
 */
typedef enum ss_err (*connection_answer_fn)(void *ctx, struct ss_site *site,
	struct request *request, struct ss_response *res);
void
connection_set_answer(struct connection *g, connection_answer_fn fn, void *ctx);
/*
 * The connections that the pool serves at once, for FCGI_GET_VALUES; first 1.
 */
void connection_set_most(struct connection *g, unsigned most);
/*
 * Who takes over a connection whose peer has sent nothing in
 * CONNECTION_FIRST_MS, and its descriptor; such a connection is not waited for
 * then.
 */
typedef void (*connection_silent_fn)(void *ctx, int fd);
void
connection_set_silent(struct connection *g, connection_silent_fn fn, void *ctx);

/*
 * Where other requests wait for a worker: a peer that reads an answer slowly is
 * given up for them after CONNECTION_STALL_S.  First -1: none wait.
 */
void connection_set_listener(struct connection *g, int listener);

/*
 * The next connection of a non-blocking listener, close-on-exec, with a limit
 * on silence; -1 and errno (EAGAIN: another worker was faster).
 */
int connection_accept(int listener, unsigned silence_s);

/*
 * Answers the one request on fd and closes fd, whatever comes.  *outcome tells
 * what it was; SS_GONE: there was no request, or nobody to read the answer.
 * False: this process cannot go on and should leave.
 */
bool connection_serve(struct connection *g, int fd, enum ss_err *outcome);

/*
 * Within an answer function: fills what another process needs to answer the
 * request in hand, but for its time and its body; valid until it returns.
 */
void connection_park(const struct connection *g, struct parked_request *r);

/* Like connection_serve, for a request that was read by another process. */
bool connection_resume(struct connection *g, const struct parked_request *r,
	int fd, enum ss_err *outcome);

#endif
