/* SPDX-License-Identifier: MIT */
/*
 * How many tools run at a time in the whole pool: a table of owners in shared
 * memory, one entry for each tool that may run.  A worker takes an entry by
 * compare-and-swap before its tool starts; the supervisor frees those of a
 * worker that died.  Every process of the pool may write it: a worker that
 * writes nonsense can keep tools from running, nothing else.
 */
#ifndef FCGI_TOOL_SLOTS_H
#define FCGI_TOOL_SLOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "sizing.h"

struct tool_slots {
	_Atomic uint32_t most;     /* entries in use; 0: any number of tools */
	_Atomic int32_t parked;    /* parked requests, about */
	_Atomic uint32_t draining; /* the pool will stop: /readyz is 503 */
	_Atomic uint32_t owner[SIZING_MAX]; /* a worker's number; 0: free */
};

/* A worker's entry; number is not 0. */
struct tool_slot {
	struct tool_slots *slots;
	uint32_t number;
	bool held;
	uint32_t at;  /* the entry, when held */
	bool resumed; /* this request was parked: it goes before parked ones */
	bool put_off; /* no entry was free for this request */
};

/* True also when the worker has one already. */
bool tool_slots_take(struct tool_slot *u);
void tool_slots_give(struct tool_slot *u);

/* The supervisor's: frees the entry of a worker; counts running tools. */
void tool_slots_clear(struct tool_slots *s, uint32_t number);
unsigned tool_slots_count(const struct tool_slots *s);
/* Would a tool have to wait? */
bool tool_slots_full(const struct tool_slots *s);

#endif
