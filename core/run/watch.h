/* SPDX-License-Identifier: MIT */
/*
 * Watches a confined process and all that it starts through ptrace(2), and
 * notes which opens, execs and connects the kernel refused: what was asked
 * for, as the tool's own view resolves it, and the error that came back.
 * Whether a wall said no, and which grant would help, is explain's.
 *
 * A tracer and not a seccomp listener: a filter that refuses a call (sockets)
 * wins over one that notifies, and a listener would have to work out what
 * Landlock and the view will say.  Here the kernel's own answer is read.  One
 * filter changes: where a network namespace without a network stands around
 * the tool, Internet sockets may be made (sandbox_process.watched), since a tool
 * without a socket never says for which address it wanted one.
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

/* What is more is not noted; a search through many directories is much. */
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
 * Lets those go on that wait for us; never blocks.  True: call again soon,
 * even when the descriptor stays silent.
 */
bool watch_drain(struct watch *w);
/* Goes on until pid has ended, and reaps it. */
void watch_finish(struct watch *w, pid_t pid);

/* What was refused, each once, in the order of the first time. */
const struct watch_event *watch_events(const struct watch *w, size_t *count);
/* Something was not noted: too many events, or too many processes. */
bool watch_is_partial(const struct watch *w);

#endif
