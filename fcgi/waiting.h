/* SPDX-License-Identifier: MIT */
/*
 * Requests that wait for a job (struct ss_wait).  They hold no worker: a worker
 * hands the connection, with the request's parameters and the job's directory,
 * to the waiter (waiter.h), which hands them back when the job has gone on.
 */
#ifndef FCGI_WAITING_H
#define FCGI_WAITING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "parked.h"
#include "statespace.h"

/* In shared memory; every process of the pool may write it. */
struct waiting_count {
	_Atomic uint32_t held;   /* by the waiter */
	_Atomic uint32_t most;   /* then no more are taken */
	_Atomic uint32_t wanted; /* somebody has waited: start the waiter */
};

/* Two queues of parked.h, made by the supervisor before it forks. */
struct waiting {
	int given[2]; /* to the waiter */
	int ready[2]; /* to the workers */
	struct waiting_count *count;
};

bool waiting_open(struct waiting *w);
void waiting_close(struct waiting *w);

/*
 * Of a request that waits, or that has waited.  wait->job_fd goes along when it
 * is not -1.  False: too many wait, or the queue is full; fd stays open in any
 * case.
 */
bool waiting_give(const struct waiting *w, const struct parked_request *r,
	int fd, const struct ss_wait *wait);
bool waiting_pass_on(const struct waiting *w, const struct parked_request *r,
	int fd, const struct ss_wait *wait);

/*
 * The oldest in a queue (given or ready): its connection, -1: none.  r's body
 * is empty; wait->job_fd is the caller's, or -1.
 */
int
waiting_take(const int ends[2], struct parked_request *r, struct ss_wait *wait);

#endif
