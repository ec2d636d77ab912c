/* SPDX-License-Identifier: MIT */
/*
 * What only the files of spawn share: the state of one child, and of the batch
 * that it runs in (most batches have one child).
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
	int report[2]; /* of reports or progress: our end and the child's */
	int feed;      /* its stdin, for us to write */
	int relay;     /* where more for it comes from */
	bool relay_is_socket;
	const char *pending; /* what feed takes next */
	size_t pending_len;
	uint64_t left; /* bytes of output still allowed */
	uint64_t start_us, deadline_us;
	uint64_t tick_us; /* when output is called next; 0: only with some */
	bool over;        /* the run is to end, as r->end */
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
	int null;         /* /dev/null, open */
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

/* ---- how a run comes to end (spawn.c) ---- */

/* Notes the first step of ours that failed; returns number. */
int spawn_note_fault(struct batch *b, const char *step, int number);
/* The first reason counts. */
void spawn_stop(struct run *run, enum spawn_end end);
/* Something of ours failed: all runs of the batch fail. */
void spawn_fail(struct run *run, const char *step, int number);

/* ---- descriptors, input and output (spawn_io.c) ---- */

/* Moves *fd above 2, where the child's dup2 would land.  0 or errno. */
int spawn_io_keep_clear(int *fd);
/* Makes the child's pipes.  0 or errno, which is noted. */
int spawn_io_open(struct run *run);
void spawn_io_close_child_ends(struct run *run);
void spawn_io_close_feed(struct run *run);
void spawn_io_close(struct run *run);

/* Calls output, or collects. */
bool
spawn_io_deliver(struct run *run, int stream, const char *data, size_t len);
/* Reads at most max bytes of a stream once; how many were kept. */
size_t spawn_io_take(struct run *run, int stream, size_t max);
/* Writes pending bytes to the child's stdin; reads more of them. */
void spawn_io_feed(struct run *run);
void spawn_io_relay(struct run *run);
/* After the child's death: what is in its pipes now. */
void spawn_io_drain(struct run *run);
void spawn_io_take_report(struct run *run);
/* Reads progress once; what is there of it now, after the child's death. */
void spawn_io_take_progress(struct run *run);
void spawn_io_drain_progress(struct run *run);
/* Our end of the pipe for progress; -1: none. */
int spawn_io_progress_fd(const struct run *run);

/* ---- between clone and exec (spawn_child.c) ---- */

/* Becomes the program of a struct run, or notes in its result why not. */
int spawn_child_main(void *run);

/* ---- signals and the timer (spawn_signals.c) ---- */

/*
 * The signals that a child of process self resets: all, or after spawn_settle
 * those whose disposition was not the default at the first call.
 */
const struct signal_list *spawn_signals_to_reset(pid_t self);
/*
 * Signals are delivered only inside ppoll(2).  SIGCHLD waits until the end, so
 * that a host's handler cannot reap a child; where the host ignores it, which
 * makes the kernel reap, the default is set meanwhile.  SIGPIPE is discarded.
 */
void spawn_signals_hold(struct batch *b);
void spawn_signals_release(struct batch *b);
/* SIGALRM interrupts a callback that blocks. */
void spawn_alarm_arm(struct batch *b);
/* Restores the host's timer, shorter by the time of the batch. */
void spawn_alarm_disarm(struct batch *b);

#endif
