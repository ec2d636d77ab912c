/* SPDX-License-Identifier: MIT */
/*
 * Records of calls that carry a key (Idempotency-Key, statespace-protocol(7)):
 * at most one execution for each.  A record is made, with link(2), before the
 * tool starts and takes its answer afterwards; whoever runs the tool holds
 * flock(2) of it, so that a tool that runs is told from one that died.
 *
 * In the directory: HH/NAME, NAME in hexadecimal and HH its first two digits.
 * A file is a head (bytes of the request by their digest) and, later, one
 * answer with a digest of its own.  Several pools may share the directory.
 */
#ifndef SS_KEYED_STORE_H
#define SS_KEYED_STORE_H

#include "base/buf.h"
#include "base/digest.h"

#define KEYED_PARTS 256 /* of the directory; each holds its share of records */

struct keyed_store {
	int dir;          /* opened directory; -1: none */
	uint64_t keep_s;  /* since the last change of a record */
	uint64_t records; /* the most; at least KEYED_PARTS */
};

enum keyed_found {
	KEYED_NONE,     /* look: none is there; begin: it is ours, run */
	KEYED_ANSWERED, /* the answer is in the buffer */
	KEYED_RUNNING,
	KEYED_OTHER,   /* the key was used for another request */
	KEYED_UNKNOWN, /* begun, not running, and without an answer */
	KEYED_FULL,    /* nothing was begun */
	KEYED_FAILED   /* nothing was begun; number and step say why */
};

struct keyed {
	const struct keyed_store *store;
	char name[DIGEST_HEX + 1];  /* of site, page, caller and key */
	uint8_t body[DIGEST_BYTES]; /* of the request */
	int fd;                     /* of a record that is ours, locked; -1 */
	int number;                 /* errno */
	const char *step;           /* the call that failed */
};

/* What is known of the key.  answer is a buffer with the ceiling of one. */
enum keyed_found keyed_look(struct keyed *k, struct buf *answer);
/*
 * Makes the record, durable when this returns KEYED_NONE; then one of the three
 * below follows.
 */
enum keyed_found keyed_begin(struct keyed *k, struct buf *answer);
/* Stores the answer, durable when this returns 0; else errno. */
int keyed_finish(struct keyed *k, const char *answer, size_t len);
/* Nothing was started: the key is as if it had not been used.  0 or errno. */
int keyed_abandon(struct keyed *k);
/* What was started has no answer: KEYED_UNKNOWN from now on. */
void keyed_leave(struct keyed *k);

#endif
