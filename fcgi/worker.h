/* SPDX-License-Identifier: MIT */
/*
 * A worker: waits for a connection and serves it, until it is told to leave,
 * has served pool.max_requests, or the supervisor is gone.
 *
 * It writes its state on its own page of shared memory; the supervisor does not
 * rely on it.
 */
#ifndef FCGI_WORKER_H
#define FCGI_WORKER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

#include "kept.h"
#include "relay.h"
#include "scoreboard.h"
#include "served.h"
#include "silent.h"
#include "tool_slots.h"
#include "waiting.h"

struct worker {
	struct served *served;
	int listener;
	int alive; /* a pipe; end of file: the supervisor is gone */
	int wake;  /* eventfd of the supervisor */
	struct worker_page *page;
	const void *scoreboard; /* of all, to be read */
	size_t slot_count;
	struct wakeup *wakeup;
	struct relay *relay; /* between workers */
	struct kept *kept;   /* what their tools wrote */
	struct tool_slots *slots;
	uint32_t number;   /* in slots */
	const int *parked; /* both ends */
	const struct silent *silent;
	const struct waiting *waiting;
	uint64_t max_requests; /* 0: any number */
	unsigned most;         /* workers that the pool may have */
	const sigset_t *open;  /* signals while waiting */
};

/* Runs in the confined process; returns its exit status. */
int worker_run(const struct worker *w);

/* How long a request may wait for a worker or for other tools to end. */
#define WORKER_QUEUE_US (5 * UINT64_C(1000000))

/* In every process of the pool: TERM, INT and QUIT mean to leave. */
void worker_signals(void);
bool worker_is_leaving(void);

#endif
