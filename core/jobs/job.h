/* SPDX-License-Identifier: MIT */
/*
 * One job: a call that a process of its own, the holder, runs to its end, and
 * the directory that is all that is known of it.  No process keeps a list.
 *
 *	jobs/ID/	mode 0700; ID is the only right to it
 *	  request	what to run (struct job_request); written before ID is
 *			there, and never again
 *	  status	how far it is (struct job_status), replaced as a whole;
 *			not there: queued
 *	  out, err	what the tool wrote: only appended to, and bounded
 *	  lock		locked by the holder (F_OFD_SETLK, fcntl(2)) until the
 *			tool and all its processes have ended
 *	  cancel	is there: somebody wants it to end
 *	  call, question	of one that waits for a person: what asks, and
 *			what the person is asked
 *	  next		the end that the holder writes, in space that it has
 *			reserved; becomes status by rename(2)
 *	jobs/.active/ID	of jobs that have not ended, for the caps
 *	jobs/.lock	locked while a job is made
 *	jobs/.new-ID, jobs/.gone-ID	being made, being removed
 *
 * A job that is running without a lock is lost: its holder died, or the machine
 * was started again.  A queued one without a lock may be started again: nothing
 * of it ran.
 */
#ifndef SS_JOBS_JOB_H
#define SS_JOBS_JOB_H

#include "base/buf.h"
#include "base/error.h"
#include "state/state.h"

#define JOB_REQUEST "request"
#define JOB_STATUS "status"
#define JOB_OUT "out"
#define JOB_ERR "err"
#define JOB_LOCK "lock"
#define JOB_CANCEL "cancel"
#define JOB_NEXT "next"
#define JOB_CALL "call"
#define JOB_QUESTION "question"

enum job_state {
	JOB_QUEUED,
	JOB_ASKING, /* a person has to answer before it is queued */
	JOB_RUNNING,
	JOB_COMPLETED, /* the tool ran, and exited or was ended at a limit */
	JOB_FAILED,    /* it did not run, or not to its end */
	JOB_CANCELLED,
	JOB_LOST
};

/* "queued", "running", ...; never NULL. */
const char *job_state_name(enum job_state state);
bool job_state_is_final(enum job_state state);

/* What the holder is to do.  All texts are borrowed. */
struct job_request {
	struct ss_text site;   /* its name, of several; "" */
	struct ss_text page;   /* clean path */
	struct ss_text digest; /* of the page's bytes, in hexadecimal */
	struct ss_text user;   /* that the front verified; "" */
	struct ss_text id;     /* of the request, for the tool and the log */
	struct ss_text key;    /* the tool runs once for it; "": none */
	bool claimed;          /* the key is this job's: its record says so */
	uint64_t number;       /* of the page: for the cap of each */
	int64_t tool;          /* its place in the page */
	bool confirmed;        /* a person has agreed to it */
	int64_t created_ms;    /* since 1970 */
	struct ss_text body;   /* as of a POST */
};

struct job_status {
	enum job_state state;
	int64_t created_ms, changed_ms; /* since 1970 */
	int64_t tool;                   /* as in the request */
	char site[512];                 /* its name, of several; "" */
	char page[4097];
	/* Of a final one. */
	int returncode;
	uint64_t run_us, cpu_us, memory_bytes;
	char limit[32], sandbox[32], memory[32]; /* "": none */
	char type[256];                          /* of its output; "": text */
	bool parse;
	struct ss_error err; /* SS_OK: it exited */
};

/* The job's directory in that of all jobs; -1 and errno: ENOENT for none. */
int job_open(int jobs, struct ss_text id);
/*
 * Reads the request; its texts lie in *text, which the caller releases and
 * which must stay.  0 or errno: EBADMSG for a file that is not whole.
 */
int job_read_request(int job, struct buf *text, struct job_request *out);
/* Puts it into a new job.  0 or errno. */
int job_write_request(int job, const struct job_request *r);
/* The same for one that was asking: it is queued then. */
int job_queue(int job, const struct job_request *r);
/* Appends a whole file of the job.  0 or errno. */
int job_read_file(int job, const char *name, struct buf *out);

/* How it is now: also JOB_LOST.  0 or errno. */
int job_look(int job, struct job_status *out);
/* Replaces the status.  0 or errno. */
int job_write_status(int job, const struct job_status *s);

/*
 * For the holder: becomes its only one.  -1 and errno: EAGAIN, there is one.
 * The lock ends when all copies of the descriptor are closed.
 */
int job_lock(int job);
bool job_is_locked(int job);

/* Wants it to end; a queued one without a holder ends here.  0 or errno. */
int job_cancel(int job);
bool job_is_cancelled(int job);

/*
 * For the holder: reserves the space of the end, so that a full disk cannot
 * keep it from being told; then writes it.  A descriptor, or -1 and errno.
 */
int job_reserve_end(int job);
/* Closes *end.  0 or errno. */
int job_write_end(int job, int *end, const struct job_status *s);

/*
 * Appends what the stream (JOB_OUT, JOB_ERR) has from offset on to *out, up to
 * its ceiling; *size is what it has in all.  0 or errno; EINVAL: the offset
 * lies behind its end.
 */
int job_read_stream(int job, const char *stream, uint64_t offset,
	struct buf *out, uint64_t *size);

/* Milliseconds since 1970. */
int64_t job_now_ms(void);
#define JOB_STAMP 32
/* As "2026-11-21T22:14:42.123Z" (RFC 3339). */
void job_stamp(int64_t ms, char out[static JOB_STAMP]);

#endif
