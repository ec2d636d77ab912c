/* SPDX-License-Identifier: MIT */
/*
 * One command for a process that is no worker: a confined child is started for
 * it and ends with it.  What the tool writes comes back as it is written.
 */
#ifndef SS_SITE_ONESHOT_H
#define SS_SITE_ONESHOT_H

#include "base/buf.h"
#include "run/spawn.h"
#include "run/watch.h"
#include "sandbox/sandbox_plan.h"

/* As a stream of cmd's output in the child: what is told of a workspace. */
#define ONESHOT_WORKSPACE 6

/* What comes back beside the output: no pointers. */
struct oneshot_result {
	int returncode;
	enum spawn_limit limit;
	uint64_t run_us, cpu_us, memory_bytes;
	bool unstarted;             /* as in struct ss_result */
	enum sandbox_level level;   /* of the child */
	enum sandbox_memory memory; /* the same */
};

/*
 * Runs in the confined child: cmd with its output, output_ctx and client_fd
 * replaced by the way to the parent.  Fills result but for its last two.
 */
typedef enum ss_err (*oneshot_fn)(void *ctx, const struct ss_command *cmd,
	struct oneshot_result *result, struct ss_error *err);

struct oneshot {
	struct sandbox_plan *plan;
	unsigned keeps; /* KEEP_... */
	oneshot_fn fn;
	void *ctx;
	const struct ss_command *cmd;
	struct buf *workspace; /* for ONESHOT_WORKSPACE; NULL: none comes */
	struct buf *collected; /* two, for a cmd without output; the caller's */
	bool watched;          /* trace it: watch.h */
	bool last;             /* this process ends behind it: ss_call */
	struct watch *watch;   /* out, to be freed; NULL: nothing ran */
	bool ended;            /* out: the child sent its result */
};

/*
 * Forks by the plan, runs fn(ctx, cmd) there, relays its output to cmd->output
 * or to collected, and fills *result when the child sent one.
 * Errors   fn's own; SS_INTERNAL; SS_GONE when cmd->client_fd hung up;
 *          SS_SANDBOX_UNAVAILABLE when nothing may be traced here.
 */
enum ss_err oneshot_run(
	struct oneshot *o, struct oneshot_result *result, struct ss_error *err);

#endif
