/* SPDX-License-Identifier: MIT */
/*
 * Connections whose peer has sent nothing, or a part of a request only.  They
 * must hold no worker: a worker hands such a connection to the status server,
 * with what it has read (unfinished.h).  The status server waits for more with
 * epoll(7) and hands it back to the worker that is free then.
 */
#ifndef FCGI_SILENT_H
#define FCGI_SILENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SILENT_MAX 256 /* held at once; then the oldest is closed */
#define SILENT_KEEP_US (10 * UINT64_C(1000000)) /* then it is closed */
#define SILENT_BYTES (32u << 20) /* of parts; then the oldest is closed */

/* Two queues of parked.h, made by the supervisor before it forks. */
struct silent {
	int given[2]; /* to the status server */
	int ready[2]; /* to the workers: bytes have come */
};

struct silent_peer {
	int fd;
	int saved; /* of unfinished.h; -1: no byte has come yet */
};

bool silent_open(struct silent *s);
void silent_close(struct silent *s);

/* Takes both descriptors over, and closes them when the queue is full. */
void silent_give(const struct silent *s, struct silent_peer peer);
/* A connection whose bytes have come; false: there is none. */
bool silent_take_ready(const struct silent *s, struct silent_peer *peer);

/* The status server's. */
struct silent_set {
	int epoll;
	unsigned most; /* at most SILENT_MAX, fewer with few descriptors */
	unsigned count;
	size_t bytes; /* of all parts */
	struct {
		struct silent_peer peer; /* fd -1: free */
		bool own;
		size_t bytes;
		uint64_t since_us;
	} held[SILENT_MAX];
};

bool silent_set_open(struct silent_set *set);
/* own: the status server itself answers it.  Takes both over. */
void silent_hold(struct silent_set *set, struct silent_peer peer, bool own);
/* Takes in what the workers gave. */
void silent_collect(struct silent_set *set, const struct silent *s);
/* One whose bytes have come, *own as it was held; false: there is none. */
bool silent_next(struct silent_set *set, struct silent_peer *peer, bool *own);
/* Hands one from silent_next to the workers; takes it over. */
void silent_pass_on(const struct silent *s, struct silent_peer peer);
/* Closes those that sent nothing for SILENT_KEEP_US. */
void silent_expire(struct silent_set *set);
/* Gives all but its own back, for the next status server. */
void silent_set_close(struct silent_set *set, const struct silent *s);

#endif
