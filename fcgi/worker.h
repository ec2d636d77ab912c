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

#include "served.h"

enum worker_state { WORKER_BORN, WORKER_IDLE, WORKER_BUSY };

/* One worker's page. */
struct board {
	_Atomic uint32_t state;
	_Atomic uint64_t since_us; /* of this state */
	_Atomic uint64_t served;   /* requests so far */
};

/* One page for all: wakes the master before the idle ones run out. */
struct bell {
	_Atomic int32_t idle;   /* what the workers believe */
	_Atomic uint32_t armed; /* the master wants to be woken */
	int32_t spare_min;      /* written before the first worker */
};

struct worker {
	struct served *served;
	int listener;
	int lifeline; /* read end; its end of file is the master's */
	int wake;     /* eventfd of the master */
	struct board *board;
	struct bell *bell;
	uint64_t max_requests; /* 0: any number */
	const sigset_t *open;  /* signals while waiting */
};

/* Runs in the confined process; returns its exit status. */
int worker_run(const struct worker *w);

uint64_t worker_clock_us(void);

#endif
