/* SPDX-License-Identifier: MIT */
/*
 * The pool's figures as text, with the configured limits beside them, so that a
 * monitor needs nothing else.
 */
#ifndef FCGI_STATUS_H
#define FCGI_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "site_counts.h"
#include "tool_counts.h"

/*
 * Three lines for each tool, each character of a path escaped; five for each
 * site, whose names are shorter than 512 and need no escape.
 */
#define STATUS_MAX                                                             \
	(65536 + 3 * (TOOL_COUNTS_NAMED + 1) * (2 * TOOL_COUNTS_PATH + 128) +  \
		5 * (SITE_COUNTS_NAMED + 1) * (512 + 128))

/* All figures, of one moment. */
struct status {
	const struct figures *figures;
	uint32_t total, idle, busy;
	uint64_t oldest_us; /* of the requests that are served */
	uint64_t uptime_us;
	uint64_t log_lost;
	uint64_t refused; /* because of a full queue */
	uint64_t outcomes[SCOREBOARD_OUTCOMES];
	uint64_t times[SCOREBOARD_OUTCOMES][SCOREBOARD_TIMES];
	uint64_t times_us[SCOREBOARD_OUTCOMES];
	uint64_t cpu[SCOREBOARD_TIMES], cpu_us; /* of runs of tools */
	uint64_t memory[SCOREBOARD_SIZES], memory_bytes, memory_most;
	const struct tool_counts *tools; /* by page and tool */
	const struct site_counts *sites; /* NULL: there is one */
	const struct ss_site *site;
	bool tools_full; /* set by the caller: for status_ready */
	bool draining;   /* the same */
};

/*
 * Adds up the pages of count slots.  Nonsense on them makes wrong figures, no
 * more.
 */
void status_take(struct status *s, const struct figures *figures,
	const void *scoreboard, size_t count,
	const struct worker_page *status_server, uint64_t now_us);

/* Into out (cap bytes); the length, 0 when it did not fit. */
size_t status_json(const struct status *s, char *out, size_t cap);
/* The text format of Prometheus, version 0.0.4. */
size_t status_prometheus(const struct status *s, char *out, size_t cap);
/* "ok" or why not: {"status": ..., "sandbox": ..., "pool": {...}}. */
size_t status_ready(const struct status *s, bool *ready, char *out, size_t cap);

#endif
