/* SPDX-License-Identifier: MIT */
/*
 * What the processes of a pool tell each other, in shared memory.  A worker can
 * write its own page and struct wakeup; the supervisor and the status server do
 * not rely on them.  Only the supervisor writes the figures.
 */
#ifndef FCGI_SCOREBOARD_H
#define FCGI_SCOREBOARD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "statespace.h"

#define SCOREBOARD_LEAF 4096
#define SCOREBOARD_PAGE (2 * SCOREBOARD_LEAF)
#define SCOREBOARD_OUTCOMES (SS_GONE + 1)
#define SCOREBOARD_TIMES 9 /* the last: longer than all bounds */
#define SCOREBOARD_SIZES 6 /* the last: more than all bounds */
#define SCOREBOARD_TOOLS 128

enum worker_state { WORKER_NONE, WORKER_STARTING, WORKER_IDLE, WORKER_BUSY };

/* The runs of a tool, which has a number in struct ss_tool_limit. */
struct tool_count {
	_Atomic uint64_t number, runs, cpu_us, memory_most;
};

/* One worker's page; the next worker of a slot goes on with its counts. */
struct worker_page {
	_Atomic uint32_t state;
	_Atomic uint64_t since_us; /* of this state */
	_Atomic uint64_t served;   /* by this worker */
	_Atomic uint64_t accepted; /* connections, by all of this slot */
	_Atomic uint64_t refused; /* by the status server, accepted by others */
	_Atomic uint64_t outcomes[SCOREBOARD_OUTCOMES];
	_Atomic uint64_t tool;    /* running, with max_running; 0: none */
	_Atomic uint64_t tool_ns; /* when it was started; 0: just now */
	_Atomic uint64_t log_lost;
	/* Answered requests by outcome and by how long they took. */
	_Atomic uint64_t times[SCOREBOARD_OUTCOMES][SCOREBOARD_TIMES];
	_Atomic uint64_t times_us[SCOREBOARD_OUTCOMES];
	/* Runs of tools by processor time and by largest resident set. */
	_Atomic uint64_t cpu[SCOREBOARD_TIMES], cpu_us;
	_Atomic uint64_t memory[SCOREBOARD_SIZES], memory_bytes, memory_most;
	_Atomic uint32_t tool_count; /* of tools, in use */
	/*
	 * By tool; the last is for all tools that have no place of their own.
	 */
	_Alignas(SCOREBOARD_LEAF) struct tool_count tools[SCOREBOARD_TOOLS];
};

_Static_assert(sizeof(struct worker_page) == SCOREBOARD_PAGE,
	"without runs of tools only the first leaf is touched");

/* Workers wake the supervisor before the idle ones run out. */
struct wakeup {
	_Atomic int32_t idle;   /* as the workers count them */
	_Atomic uint32_t armed; /* the supervisor wants to be woken */
	_Atomic int32_t spare_min;
};

/* Of figures.stopping: new connections are left in the queue, or refused. */
enum { FIGURES_STOPPING = 1, FIGURES_REFUSING };

struct figures {
	_Atomic uint64_t started_us, reloads;
	_Atomic uint32_t mode, max, start, spare_min, spare_max, reserve;
	_Atomic uint32_t tools; /* running */
	_Atomic uint32_t stopping;
	_Atomic uint32_t total, idle, most_busy;
	_Atomic uint32_t queue, queue_most; /* connections waiting */
	_Atomic uint64_t started, died, stuck, max_reached, refused;
	_Atomic uint64_t request_us; /* what the watchdog allows */
	_Atomic uint64_t log_lost;   /* by the supervisor */
	char sandbox[16];
};

/* The upper bounds of times but the last, in microseconds. */
static const uint64_t scoreboard_bounds[SCOREBOARD_TIMES - 1] = { 5000, 25000,
	100000, 250000, 1000000, 2500000, 10000000, 30000000 };
/* The same of memory, in bytes. */
static const uint64_t scoreboard_sizes[SCOREBOARD_SIZES - 1] = { 4 << 20,
	16 << 20, 64 << 20, 256 << 20, 1 << 30 };

/* The page of slot i in the region of all. */
static inline struct worker_page *
scoreboard_at(void *region, size_t i)
{
	return (struct worker_page *)((char *)region + i * SCOREBOARD_PAGE);
}

static inline const struct worker_page *
scoreboard_read(const void *region, size_t i)
{
	return (const struct worker_page *)((const char *)region +
		i * SCOREBOARD_PAGE);
}

#endif
