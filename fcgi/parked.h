/* SPDX-License-Identifier: MIT */
/*
 * A queue between processes: a socket pair of whole messages (SOCK_SEQPACKET),
 * each a request's bytes and its connection (SCM_RIGHTS).  Requests that were
 * read and wait for a tool to end are parked in one: every worker may put one
 * in and take one out, and they outlive the worker that put them in.
 */
#ifndef FCGI_PARKED_H
#define FCGI_PARKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARKED_MAX 32768 /* bytes of one request */

struct parked_request {
	uint64_t begun_us;  /* when its first byte came; CLOCK_MONOTONIC */
	unsigned id;        /* FastCGI's */
	const char *params; /* as in struct record_reader */
	size_t params_len;
	const char *body;
	size_t body_len;
	bool unfinished;
	int saved;     /* a second descriptor, with unfinished only */
	bool streamed; /* not kept: the head of its answer has left */
};

bool parked_open(int ends[2]);
void parked_close(int ends[2]);

/* False: too large, or the queue is full.  The caller keeps fd and saved. */
bool parked_put(const int ends[2], const struct parked_request *r, int fd);
/*
 * The oldest one, its bytes in memory that the next call overwrites; returns
 * its connection, -1: none.
 */
int parked_take(const int ends[2], struct parked_request *r);
/* begun_us of the oldest one; 0: there is none. */
uint64_t parked_oldest(const int ends[2]);

#endif
