/* SPDX-License-Identifier: MIT */
/*
 * Traces a confined process and all that it starts, ptrace(2), and notes which
 * opens, execs and connects the kernel refused: the path or address, as the
 * tool's own view resolves it, and the error.  Whether the sandbox was the
 * reason, and which grant would help, is decided by site/explain.c.
 *
 * A tracer and not a seccomp listener: a filter that refuses a call (sockets)
 * wins over one that notifies, and a listener would have to compute what
 * Landlock and the view will answer.  Here the kernel's own answer is read.
 * One filter changes: inside an empty network namespace Internet sockets may be
 * made (sandbox_process.watched), since a tool that gets no socket never shows
 * which address it wanted.
 */
#ifndef SS_RUN_WATCH_H
#define SS_RUN_WATCH_H

#include "base/base.h"

enum watch_kind {
	WATCH_READ,
	WATCH_WRITE, /* an open file, by its path */
	WATCH_ENTRY, /* made, renamed or removed in a directory */
	WATCH_EXEC,
	WATCH_CONNECT, /* a Unix socket's path, or @name */
	WATCH_SOCKET   /* of a family; with its address where there was one */
};

struct watch_event {
	enum watch_kind kind;
	int number;  /* errno */
	int family;  /* of WATCH_SOCKET */
	char *asked; /* absolute, as the tool named it; of WATCH_SOCKET */
	char *path;  /* "1.2.3.4:80" or NULL; else: its view's links followed */
};

/* More are not noted: a search through many directories makes many. */
#define WATCH_EVENTS_MAX 4096
#define WATCH_PROCESSES_MAX 512

struct watch;

/* NULL: no memory, or no descriptors. */
struct watch *watch_new(void);
/* Detaches nothing: what is traced must have ended.  NULL is fine. */
void watch_free(struct watch *w);

/*
 * From now on pid, a dumpable child of ours, is traced, with all that it will
 * start; they end when we do.  0 or errno: EPERM where tracing is forbidden.
 */
int watch_attach(struct watch *w, pid_t pid);
/* Readable when there is something to do. */
int watch_fd(const struct watch *w);
/*
 * Lets stopped processes go on; never blocks.  True: call again soon, even when
 * the descriptor is not readable.
 */
bool watch_drain(struct watch *w);
/* Goes on until pid has ended, and reaps it. */
void watch_finish(struct watch *w, pid_t pid);

/* Each refusal once, in the order in which they first came. */
const struct watch_event *watch_events(const struct watch *w, size_t *count);
/* Something was not noted: too many events, or too many processes. */
bool watch_is_partial(const struct watch *w);

#endif
