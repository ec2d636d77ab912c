/* SPDX-License-Identifier: MIT */
/*
 * Requests that wait for a tool to end, read but not begun: a socket pair of
 * whole messages (SOCK_SEQPACKET), each a request's bytes and its connection
 * (SCM_RIGHTS).  Every worker may put one in and take one out; what is in it
 * outlives the worker that put it there.
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
};

bool parked_open(int ends[2]);
void parked_close(int ends[2]);

/* False: too large, or no room; fd stays the caller's in either case. */
bool parked_put(const int ends[2], const struct parked_request *r, int fd);
/*
 * The oldest one, its bytes in memory that the next call overwrites; returns
 * its connection, -1: none.
 */
int parked_take(const int ends[2], struct parked_request *r);
/* When the oldest one began; 0: there is none. */
uint64_t parked_oldest(const int ends[2]);

#endif
