/* SPDX-License-Identifier: MIT */
/* A running pool: what the files of pool_*.c share. */
#ifndef FCGI_POOL_STATE_H
#define FCGI_POOL_STATE_H

#include <signal.h>
#include <sys/types.h>

#include "fixed.h"
#include "job_start.h"
#include "kept.h"
#include "parked.h"
#include "pool.h"
#include "queue.h"
#include "relay.h"
#include "scoreboard.h"
#include "silent.h"
#include "sizing.h"
#include "sweep.h"
#include "tool_slots.h"
#include "waiting.h"

#define SECOND UINT64_C(1000000)
#define POOL_SLOTS (SIZING_MAX * 2) /* more than SIZING_MAX during a reload */

struct worker_slot {
	pid_t pid;     /* 0: free */
	bool retiring; /* asked to leave */
	uint64_t started_us;
	uint64_t kill_at_us; /* 0: it may stay */
	struct served *served;
	struct worker_page *page;
};

struct pool {
	struct served *served;  /* the newest: workers are forked from it */
	struct served *retired; /* the one before, while its workers live */
	const struct options *options;
	const struct listener *listener, *status;
	struct sizing sizing;
	struct fixed fixed;
	uint64_t max_requests, request_us, stop_us, drain_us;
	int alive[2]; /* a pipe; its end of file: the supervisor is gone */
	int wake;     /* eventfd of workers for the supervisor */
	struct wakeup *wakeup;
	struct tool_slots *tools; /* that run */
	int parked[2];
	struct silent silent;
	struct waiting waiting;
	unsigned reserve;
	uint64_t reserve_until_us; /* while it is needed */
	sigset_t open;             /* the mask while waiting */
	uint64_t backoff_us, not_before_us, retire_at_us, shrink_at_us;
	uint64_t drained_at_us; /* then the pool stops; 0: nobody asked */
	bool stopping;
	bool reload_asked;
	uint64_t looked_at_us;
	bool grown;     /* to as many workers as there may be */
	bool woken;     /* by one of them, and nothing else since */
	bool saturated; /* all busy, and no more are allowed or can start */
	unsigned backlog;
	uint64_t sampled_us, watchdog_us, watchdog_at_us;
	struct queue queue;
	struct job_post jobs;
	struct relay relay; /* its memory is read and written by workers */
	struct kept kept;   /* the same */
	int refuse;         /* eventfd for the status server */
	struct figures *figures;
	void *scoreboard; /* a page for each slot, then the status server's */
	void *seen;       /* the same, through a descriptor that cannot write */
	pid_t status_server;
	uint64_t status_server_not_before_us;
	pid_t waiter;
	uint64_t waiter_not_before_us;
	uint32_t readers; /* that it may hold; 0: there is no waiter */
	struct sweep sweep;
	struct worker_slot slots[POOL_SLOTS];
};

/* pool_memory.c: shared memory, pipes and descriptors. */
bool pool_memory_open(struct pool *p);
/*
 * For what tools wrote, once the settings are known.  Where there is no address
 * space for it nothing is kept.
 */
void pool_memory_keep(struct pool *p);
void pool_memory_close(struct pool *p);

/* pool_workers.c: starting, ending and reaping the processes of the pool. */
bool pool_workers_start(struct pool *p, uint64_t now);
void pool_workers_start_status(struct pool *p, uint64_t now);
void pool_workers_start_waiter(struct pool *p, uint64_t now);
/* Asks a worker to leave by a signal; it is killed at kill_at_us. */
void pool_workers_retire(
	struct worker_slot *slot, int signal_number, uint64_t kill_at_us);
void pool_workers_reap(struct pool *p, uint64_t now);
/* Kills those that are busy for too long, or that do not leave. */
void pool_workers_end_overdue(struct pool *p, uint64_t now);
/* The next worker from slot *at on, which moves behind it; NULL: none. */
struct worker_slot *pool_workers_next(struct pool *p, size_t *at);

/* pool_load.c: how many workers there are, and who has waited too long. */
void pool_load_resize(struct pool *p, uint64_t now);
void pool_load_relieve(struct pool *p, uint64_t now);

#endif
