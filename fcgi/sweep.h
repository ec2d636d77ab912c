/* SPDX-License-Identifier: MIT */
/*
 * What dead workers left below /tmp, where they have no /tmp of their own: a
 * process of the workers' account removes it, a share of the time at most.
 */
#ifndef FCGI_SWEEP_H
#define FCGI_SWEEP_H

#include "statespace.h"

struct sweep {
	pid_t pid; /* 0: none runs */
	bool due;
	uint64_t not_before_us;
};

/* Starts the process when it is due.  open is the mask to run with. */
void sweep_tend(struct sweep *s, struct ss_site *site, const sigset_t *open,
	uint64_t now_us);
/* A child has ended: a worker may have left something.  Was it the sweep? */
bool sweep_reaped(struct sweep *s, pid_t pid, int status);
/*
 * When no worker is left: for so long at most as SWEEP_STOP_MS says.  The rest
 * is for the next pool of this account, whose first sweep is due at its start.
 */
#define SWEEP_STOP_MS 2000
void sweep_last(struct sweep *s, struct ss_site *site, const sigset_t *open);

#endif
