/* SPDX-License-Identifier: MIT */
/*
 * A worker's life: wait for a connection, serve it, until told to leave, until
 * it has served its number, or until the master is gone.
 *
 * What it tells the master stands in shared memory of its own page; the
 * master takes these figures for hints, never for truths.
 */
#ifndef FCGI_WORKER_H
#define FCGI_WORKER_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

#include "relay.h"
#include "scoreboard.h"
#include "served.h"
#include "silent.h"
#include "tool_slots.h"

struct worker {
	struct served *served;
	int listener;
	int alive; /* read end; its end of file is the master's */
	int wake;     /* eventfd of the master */
	struct worker_page *page;
	const void *scoreboard; /* of all, to be read */
	size_t slot_count;
	struct wakeup *wakeup;
	struct relay *relay; /* between workers */
	struct tool_slots *slots;
	uint32_t number;   /* in slots */
	const int *parked; /* both ends */
	const struct silent *silent;
	uint64_t max_requests; /* 0: any number */
	unsigned most;         /* workers that the pool may have */
	const sigset_t *open;  /* signals while waiting */
};

/* Runs in the confined process; returns its exit status. */
int worker_run(const struct worker *w);

/* How long a request may wait for a worker or for other tools to end. */
#define WORKER_QUEUE_US (5 * UINT64_C(1000000))

/* For every process that the master bears: TERM, INT and QUIT mean to leave. */
void worker_signals(void);
bool worker_is_leaving(void);

#endif
