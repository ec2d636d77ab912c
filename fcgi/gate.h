/* SPDX-License-Identifier: MIT */
/*
 * One FastCGI connection: its request to the site, the answer back, closed.
 * The only room that knows libfcgi.
 *
 * The library is given little to do wrong (research: it serves parameters
 * that were cut short, waits without limit, crashes on two kinds of records).
 * Every byte is read here, under a deadline, through the record reader; only
 * a head that is whole and valid reaches the library, which decodes the
 * parameters and frames the answer.  It never accepts, reads a socket, or
 * closes one.
 *
 * Blocking, but never longer than GATE_SILENCE_S without a byte and
 * GATE_TOTAL_S for a request.  Signals should be blocked meanwhile.
 */
#ifndef FCGI_GATE_H
#define FCGI_GATE_H

#include "request.h"
#include "statespace.h"

#define GATE_SILENCE_S 10
#define GATE_TOTAL_S 30

struct gate;

/*
 * Made in the process that will serve; request is the one attached to site,
 * both borrowed.  NULL with err filled: no memory or descriptor.
 */
struct gate *
gate_open(struct ss_site *site, struct request *request, struct ss_error *err);
void gate_close(struct gate *g);

/*
 * The next connection of a non-blocking listener, close-on-exec; -1 and errno
 * (EAGAIN: another worker was faster).
 */
int gate_accept(int listener);

/*
 * Answers the one request on fd and closes fd, whatever comes.  False: this
 * process cannot go on and should leave.
 */
bool gate_serve(struct gate *g, int fd);

#endif
