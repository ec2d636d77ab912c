/* SPDX-License-Identifier: MIT */
/*
 * Removes what workers that ended left below /tmp, where they have no /tmp of
 * their own: in a process of the workers' account, for a share of the time.
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
/* A child has ended, so another sweep is due.  True: it was the sweep. */
bool sweep_reaped(struct sweep *s, pid_t pid, int status);
/*
 * The last one, when no worker is left, for SWEEP_STOP_MS at most.  The next
 * pool of this account removes the rest at its start.
 */
#define SWEEP_STOP_MS 2000
void sweep_last(struct sweep *s, struct ss_site *site, const sigset_t *open);

#endif
