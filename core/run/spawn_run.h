/* SPDX-License-Identifier: MIT */
/*
 * What the files of spawn share among themselves and with nobody else: the
 * state of one child, and of the batch that it runs in (most are of one).
 */
#ifndef SS_RUN_SPAWN_RUN_H
#define SS_RUN_SPAWN_RUN_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "run/reap.h"
#include "run/spawn.h"

struct batch;

/* One child, from its pipes to its end. */
struct run {
	struct batch *batch;
	const struct spawn *s;
	struct spawn_result *r;
	pid_t pid;
	int pidfd;
	int child[3];  /* the child's ends */
	int from[2];   /* its stdout and stderr, for us to read */
	int report[2]; /* of reports: our end and the child's */
	int feed;      /* its stdin, for us to write */
	int relay;     /* where more for it comes from */
	bool relay_is_socket;
	const char *pending; /* what feed takes next */
	size_t pending_len;
	uint64_t left; /* output still allowed */
	uint64_t start_us, deadline_us;
	uint64_t tick_us; /* when output is called next; 0: only with some */
	bool over;        /* the wait has ended, for r->end */
	int status;
	struct rusage usage;
};

/* Signals whose disposition a child sets back. */
struct signal_list {
	size_t count;
	unsigned char number[64];
};

/* What all children have in common: signals, one timer, the end. */
struct batch {
	const struct spawn_batch *asked;
	const struct signal_list *reset;
	struct run *live; /* those that run now */
	size_t live_count;
	size_t next; /* the first that was not started */
	struct reap reap;
	const struct spawn_bounds *bounds; /* or NULL */
	uint64_t look_us;                  /* when bounds are asked; 0: never */
	uint64_t start_us, deadline_us;
	uint32_t alarm_ms;
	bool piped;       /* a SIGPIPE may be pending */
	bool stuck;       /* a killed child would not die */
	const char *step; /* of ours that failed, with number */
	int number;
	sigset_t old_mask, wait_mask;
	struct sigaction old_alarm, old_child;
	struct itimerval old_timer;
};

/* ---- between clone and exec (spawn_child.c) ---- */

/* Becomes the program of a struct run, or says in its result why not. */
int spawn_child_main(void *run);

/* ---- signals and the timer (spawn_signals.c) ---- */

/*
 * What a child of this process has to reset: every signal, or those that were
 * not as normal when a settled process first asked.
 */
const struct signal_list *spawn_signals_to_reset(pid_t self);
/*
 * Nothing is delivered but inside ppoll.  SIGCHLD waits until the end, so that
 * a host's handler cannot reap a child; where the host ignores it the kernel
 * would, so it does not for now.  SIGPIPE is an EPIPE here.
 */
void spawn_signals_hold(struct batch *b);
void spawn_signals_release(struct batch *b);
/* A SIGALRM ends a callback that blocks; the clock decides. */
void spawn_alarm_arm(struct batch *b);
/* A timer of the host's goes on, shorter by what the batch took. */
void spawn_alarm_disarm(struct batch *b);

#endif
