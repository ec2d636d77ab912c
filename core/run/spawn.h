/* SPDX-License-Identifier: MIT */
/*
 * Every child process of a tool starts here.  Starts it without fork(2), writes
 * its input and reads its output, waits for the child and not for its pipes,
 * ends it at its limits, and kills and reaps everything that it started.  What
 * the child may touch is decided by sandbox/.
 */
#ifndef SS_RUN_SPAWN_H
#define SS_RUN_SPAWN_H

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

struct workspace_use;

struct spawn_limits {
	uint32_t timeout_ms;   /* wall clock; 0: none */
	uint64_t output_bytes; /* both streams together; 0: none */
	uint32_t cpu_s;        /* RLIMIT_CPU; 0: none, as below */
	uint64_t memory_bytes; /* RLIMIT_DATA */
	uint64_t processes;    /* RLIMIT_NPROC */
	uint64_t open_files;   /* RLIMIT_NOFILE */
	uint64_t file_bytes;   /* RLIMIT_FSIZE */
};

/*
 * Work to do in the child, after descriptors and limits and right before
 * exec: only calls that signal-safety(7) lists.  0, or errno: then nothing
 * is executed.
 */
struct spawn_enter {
	int (*child_enter)(void *ctx);
	void *ctx;
};

/*
 * Bounds the processes of all commands of a batch together, beside their own
 * limits (sandbox/bounds.h).  The one of the first command counts.
 */
struct spawn_bounds {
	int fd; /* readable: call ready; -1 */
	void (*ready)(void *ctx);
	/*
	 * Asked at intervals; NULL: never.  The limit that was passed, for
	 * which everything that runs is ended.
	 */
	enum spawn_limit (*over)(void *ctx);
	uint32_t every_ms;
	void *ctx;
};

/*
 * The last argument of each clone(2) here.  The kernel ignores it; the filter
 * of bounds.h compares it.
 */
extern uint64_t spawn_pass;

struct spawn {
	const char *program; /* absolute, or relative to dir_fd */
	char *const *argv;
	char *const *envp;
	int dir_fd; /* its working directory; -1: this process's */
	const char *stdin_data;
	size_t stdin_len;
	int stdin_fd;  /* relayed when not -1 */
	int client_fd; /* a hang-up ends the run; any pipe or socket; -1 */
	bool (*client_left)(void *ctx); /* reads client_fd; may be NULL */
	void *client_ctx;
	struct spawn_limits limits;
	struct spawn_enter enter;          /* may be empty */
	const struct spawn_bounds *bounds; /* may be NULL */
	bool own_pid_namespace; /* this process is its pid 1: kill(-1) */
	bool reports; /* the child may write to descriptor 3: for helpers */
	/*
	 * Else descriptor 3 is a pipe for the child's progress, which is read
	 * while it runs and counts for no limit.  progress gets the bytes and
	 * output_ctx; NULL: they are dropped.
	 */
	bool has_progress;
	void (*progress)(void *ctx, const char *data, size_t len);
	ss_output_fn output; /* NULL: collect in out and err */
	uint32_t tick_ms;    /* so often output is called with stream 0 */
	void *output_ctx;
	/* For sandbox/ alone: what it wants of workspaces; NULL: nothing. */
	const struct workspace_use *workspace;
};

enum spawn_end {
	SPAWN_EXITED,    /* status is its exit code */
	SPAWN_SIGNALLED, /* status is the signal */
	SPAWN_TIMEOUT,   /* killed: wall clock */
	SPAWN_OUTPUT,    /* killed: output ceiling */
	SPAWN_GONE,      /* killed: the client left */
	SPAWN_FAILED     /* never ran: failed_step, failed_errno */
};

/* The limit that a run passed: that ended it, or that a call ran into. */
enum spawn_limit {
	SPAWN_LIMIT_NONE,
	SPAWN_LIMIT_WALL,   /* "wall" */
	SPAWN_LIMIT_OUTPUT, /* "output" */
	SPAWN_LIMIT_CPU,    /* "cpu" */
	SPAWN_LIMIT_FILE,   /* "file" */
	SPAWN_LIMIT_MEMORY, /* "memory" */
	SPAWN_LIMIT_LAST = SPAWN_LIMIT_MEMORY
};

/* The step of a child that failed before it became the program. */
enum spawn_step {
	SPAWN_STEP_NONE,
	SPAWN_STEP_CHDIR,
	SPAWN_STEP_DESCRIPTORS,
	SPAWN_STEP_LIMITS,
	SPAWN_STEP_SANDBOX, /* spawn_enter */
	SPAWN_STEP_EXEC,
	SPAWN_STEP_LAST = SPAWN_STEP_EXEC
};

/* The word in quotes above; NULL for none. */
const char *spawn_limit_name(enum spawn_limit limit);
/* "chdir", "exec" and so on, for the operator; never NULL. */
const char *spawn_step_name(enum spawn_step step);

struct spawn_result {
	enum spawn_end end;
	int status;
	enum spawn_step failed_step;
	int failed_errno;
	struct buf out, err;  /* released by spawn_result_release */
	struct buf workspace; /* the same: what is told of it, as JSON */
	struct buf report;    /* the same: the first bytes of descriptor 3 */
	uint64_t run_us;
	uint64_t cpu_us;       /* rusage of wait4(2) */
	uint64_t memory_bytes; /* the largest resident set */
	enum spawn_limit limit;
};

#define SPAWN_REPORT_FD 3
#define SPAWN_PROGRESS_FD_TEXT "3"
#define SPAWN_REPORT_BYTES 2048

/* At most so many children of a batch at a time. */
#define SPAWN_PARALLEL_MAX 64

/*
 * Several children as one run: each has its own session, limits and result, and
 * its process group is killed at its end.  Processes that left their group are
 * killed once, after the last child.
 */
struct spawn_batch {
	const struct spawn *commands; /* with stdin_fd only if count is 1 */
	struct spawn_result *results; /* as many, in the same order */
	size_t count;
	size_t parallel;   /* at a time: 1 to SPAWN_PARALLEL_MAX */
	uint32_t total_ms; /* of all together; 0: none */
};

/*
 * Called once per process, before it gives up /proc and /dev/null: makes it the
 * subreaper and opens what runs need.  spawn_run calls it where it was not, and
 * again after a fork.  0 or errno.
 */
int spawn_prepare(void);
/*
 * Call it when no signal handler will be set after the first run.  Children
 * then reset only the dispositions that differ from the default, instead of all
 * 64.  Not for a host's process; must be called again after a fork.
 */
void spawn_settle(void);
/*
 * Runs one child to its end; when it returns no descendant is left.  Children
 * that we had before are spared (reap.h), signals and timer are restored; while
 * it waits, signal handlers run and the run goes on.
 *
 * SS_OK         however the child ended, SPAWN_FAILED too.
 * SS_INTERNAL   something of ours failed (no descriptors, no memory), or a
 *               process of the tool does not die: this worker should end.
 *
 * r is filled in any case and released with spawn_result_release.
 */
enum ss_err
spawn_run(const struct spawn *s, struct spawn_result *r, struct ss_error *err);
/*
 * The same for a batch.  When the total is over, or the client of one of them
 * left, those that run are ended and the rest is never started: SPAWN_TIMEOUT
 * or SPAWN_GONE, with run_us 0.  On an error every result is filled too.
 */
enum ss_err
spawn_run_many(const struct spawn_batch *batch, struct ss_error *err);
void spawn_result_release(struct spawn_result *r);

/*
 * What poll(2) asks of client_fd, and whether its answer means that the client
 * left; the second may call client_left.
 */
short spawn_client_events(const struct spawn *s);
bool spawn_client_left(const struct spawn *s, short revents);

/*
 * The file that `name` runs: looked up in the PATH that tools get
 * (statespace-protocol(7), RUNNING) when it has no slash.  Fills path (cap
 * bytes); a relative name with a slash is left to spawn.dir_fd.  False: no such
 * program.
 */
bool spawn_find(const char *name, char *path, size_t cap);
/*
 * An executable regular file?  A directory has an x bit, too.  path is relative
 * to dir_fd, as in openat(2).
 */
bool spawn_is_program(int dir_fd, const char *path);

#endif
