/* SPDX-License-Identifier: MIT */
/*
 * How many connections wait in the queue of a listening socket, and which of
 * them have waited too long.  The kernel tells the length (sock_diag(7)).  A
 * connection has waited since a moment when it had arrived by then and has not
 * been accepted since: that follows from counting.
 */
#ifndef FCGI_QUEUE_H
#define FCGI_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#define QUEUE_SAMPLES 64

struct queue {
	int listener; /* borrowed */
	int netlink;  /* -1: a TCP socket, or there is no sock_diag(7) */
	uint32_t inode;
	/* A ring of (time, connections arrived by then). */
	uint64_t at_us[QUEUE_SAMPLES], arrived[QUEUE_SAMPLES];
	unsigned next;
};

void queue_open(struct queue *q, int listener);
void queue_close(struct queue *q);

/* Waiting now; -1: not known. */
int queue_length(const struct queue *q);

/*
 * Notes a length, and how many connections were accepted so far; returns how
 * many of the waiting ones have waited longer than bound_us.  Pure but for q.
 */
unsigned queue_overdue(struct queue *q, uint64_t now_us, unsigned length,
	uint64_t accepted, uint64_t bound_us);

#endif
