/* SPDX-License-Identifier: MIT */
/*
 * The pool's status server: a confined process of its own that runs no tool, so
 * that it is free when every worker is busy.  It answers the second socket
 * (/healthz, /readyz, /__meta/version, /__meta/status).  When the supervisor
 * tells it to, it accepts connections that waited too long in the queue of the
 * first one, and answers 503.  Connections that have sent nothing wait here for
 * their first byte (silent.h).
 */
#ifndef FCGI_STATUS_SERVER_H
#define FCGI_STATUS_SERVER_H

#include <signal.h>

#include "scoreboard.h"
#include "served.h"
#include "silent.h"
#include "tool_slots.h"

/* On the eventfd: parked requests, or connections of silent.h, are overdue. */
#define STATUS_SERVER_PARKED (UINT64_C(1) << 32)

struct status_server {
	struct served *served;
	int listener; /* of the pool */
	int status;   /* the second one; -1: none */
	int alive;
	int refuse; /* eventfd: how many to refuse, or STATUS_SERVER_PARKED */
	const int *parked; /* both ends */
	const struct silent *silent;
	struct tool_slots *slots;
	const struct figures *figures;
	const void *scoreboard;
	size_t slot_count;
	struct worker_page *page; /* its own */
	const sigset_t *open;
};

/* Runs in the confined process; returns its exit status. */
int status_server_run(const struct status_server *c);

#endif
