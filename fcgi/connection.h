/* SPDX-License-Identifier: MIT */
/*
 * One FastCGI connection: its request to the site, the answer back, closed.
 * The only file that knows libfcgi.
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
#include "peers.h"
#include "request.h"
#include "silent.h"
#include "statespace.h"

#define CONNECTION_SILENCE_S 10
/* For the next bytes of a request: see connection_set_silent. */
#define CONNECTION_FIRST_MS 5
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
void connection_close(struct connection *c);

/*
 * A function that answers in place of ss_site_handle, with the same meaning;
 * it may call it.
 */
typedef enum ss_err (*connection_answer_fn)(void *ctx, struct ss_site *site,
	struct request *request, struct ss_response *res);
void
connection_set_answer(struct connection *c, connection_answer_fn fn, void *ctx);
/* For FCGI_GET_VALUES: connections that are served at once; 1 at first. */
void connection_set_most(struct connection *c, unsigned most);
/*
 * A function that takes over a connection whose peer has sent nothing for
 * CONNECTION_FIRST_MS, with what came before.  Without one, such peers are
 * waited for.
 */
typedef void (*connection_silent_fn)(void *ctx, struct silent_peer peer);
void
connection_set_silent(struct connection *c, connection_silent_fn fn, void *ctx);

/*
 * Where other requests wait for a worker: an answer whose peer reads slowly is
 * cut after CONNECTION_STALL_S when some do.  -1 at first: none wait.
 */
void connection_set_listener(struct connection *c, int listener);

/*
 * The next connection of a non-blocking listener, close-on-exec, with a limit
 * on how long a write waits; -1 and errno (EAGAIN: another worker was faster; ECONNABORTED:
 * it was closed at once, since peers do not list it).
 */
int
connection_accept(int listener, const struct peers *peers, unsigned silence_s);

/*
 * Answers the one request on fd and closes fd, whatever comes.  *outcome is how
 * it ended; SS_GONE: there was no request, or nobody to read the answer.
 * False: this process cannot go on and should exit.
 */
bool connection_serve(struct connection *c, int fd, enum ss_err *outcome);
/* The same for one that connection_silent_fn got; takes both over. */
bool connection_continue(
	struct connection *c, struct silent_peer peer, enum ss_err *outcome);

/*
 * Within an answer function: fills what another process needs to answer this
 * request, but for its time and its body; valid until the function returns.
 */
void connection_park(const struct connection *c, struct parked_request *r);

/* Like connection_serve, for a request that was read by another process. */
bool connection_resume(struct connection *c, const struct parked_request *r,
	int fd, enum ss_err *outcome);

#endif
