/* SPDX-License-Identifier: MIT */
/*
 * Connections whose peer has sent nothing yet.  They must hold no worker: a
 * worker hands such a connection to the status server, which waits for its
 * first byte with epoll(7) and hands it back to the worker that is free then.
 */
#ifndef FCGI_SILENT_H
#define FCGI_SILENT_H

#include <stdbool.h>
#include <stdint.h>

#define SILENT_MAX 256 /* held at once; then the oldest is closed */
#define SILENT_KEEP_US (10 * UINT64_C(1000000)) /* then it is closed */

/* Two queues of parked.h, made by the supervisor before it forks. */
struct silent {
	int given[2]; /* to the status server */
	int ready[2]; /* to the workers: the first byte has come */
};

bool silent_open(struct silent *s);
void silent_close(struct silent *s);

/* Takes fd over, and closes it when the queue is full. */
void silent_give(const struct silent *s, int fd);
/* A connection whose first byte has come; -1: there is none. */
int silent_take_ready(const struct silent *s);

/* The status server's. */
struct silent_set {
	int epoll;
	unsigned most; /* at most SILENT_MAX, fewer with few descriptors */
	unsigned count;
	struct {
		int fd; /* -1: free */
		bool own;
		uint64_t since_us;
	} held[SILENT_MAX];
};

bool silent_set_open(struct silent_set *set);
/* own: the status server itself answers it.  Takes fd over. */
void silent_hold(struct silent_set *set, int fd, bool own);
/* Takes in what the workers gave. */
void silent_collect(struct silent_set *set, const struct silent *s);
/* One whose first byte has come, *own as it was held; -1: there is none. */
int silent_next(struct silent_set *set, bool *own);
/* Hands fd, from silent_next, to the workers; takes it over. */
void silent_pass_on(const struct silent *s, int fd);
/* Closes those that sent nothing for SILENT_KEEP_US. */
void silent_expire(struct silent_set *set);
/* Gives all but its own back, for the next status server. */
void silent_set_close(struct silent_set *set, const struct silent *s);

#endif
