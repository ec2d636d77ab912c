/* SPDX-License-Identifier: MIT */
/*
 * Receipts of executions ([log] receipts, statespace.toml(5)): the side of a
 * process that runs tools.  The writer, the helper program statespace-receipts,
 * has the key and the file; it is announced a run before the run begins, and
 * told its end before the answer leaves.
 *
 * Messages  on a socket of SOCK_SEQPACKET that all processes of a site share:
 *	     'B', the digest of the words in hexadecimal, a blank, members of a
 *	     JSON object, with a socket of the run's own (SCM_RIGHTS); on that
 *	     'E' and more members.  'W' is both, with "|" between the members,
 *	     for a run whose writer went away.  Each is answered on the run's
 *	     socket with "1", or with "0" when nothing was recorded.
 */
#ifndef SS_RECEIPTS_RECEIPTS_H
#define SS_RECEIPTS_RECEIPTS_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

#define RECEIPTS_HELPER "statespace-receipts"

struct receipts {
	int send_fd;   /* -1: there is no writer */
	int writer_fd; /* the writer's end, for another writer; -1 */
	pid_t pid;
	uint64_t started_ms;
	bool looked; /* receipts_start was called */
	const char *file,
		*key; /* of [log], borrowed; file "": none are wanted */
};

#define RECEIPTS_INIT                                                          \
	((struct receipts){ .send_fd = -1,                                     \
		.writer_fd = -1,                                               \
		.pid = -1,                                                     \
		.file = "",                                                    \
		.key = "" })

struct receipts_plan {
	const char *helper; /* its path */
	uid_t uid;          /* the writer's account, when this is root */
	gid_t gid;
};

/*
 * Starts the writer, and another one when the last has ended.
 * Errors  SS_CONFIG: it does not start, and why is on standard error.
 */
enum ss_err receipts_start(struct receipts *r, const struct receipts_plan *plan,
	struct ss_error *err);
/* Has it ended, a while after its start? */
bool receipts_ended(const struct receipts *r);
/* In a worker, which only sends. */
void receipts_enter_worker(struct receipts *r);
/* Waits until the writer has written everything, if nobody else sends. */
void receipts_close(struct receipts *r);

/* One run. */
struct receipt_run {
	int fd;             /* -1: none */
	struct buf members; /* as announced */
};

#define RECEIPT_RUN_INIT                                                       \
	((struct receipt_run){ .fd = -1, .members = BUF_INIT(8192) })

/*
 * Announces run->members, which begin with the digest and a blank.
 * Errors  SS_STATE: there is no writer, or it cannot write: do not run.
 */
enum ss_err receipts_begin(const struct receipts *r, struct receipt_run *run,
	struct ss_error *err);
/* Tells the end, durable when it returns true. */
bool receipts_end(const struct receipts *r, struct receipt_run *run,
	const struct buf *members);
/* Nothing was started and nothing is told: only for a run without fd. */
void receipts_release(struct receipt_run *run);

#endif
