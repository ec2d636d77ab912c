/* SPDX-License-Identifier: MIT */
/*
 * One command for a process that is no worker: the walls are built around a
 * process of its own, born for this command and gone with it.  What the tool
 * writes comes back as it is written.
 */
#ifndef SS_SITE_ONESHOT_H
#define SS_SITE_ONESHOT_H

#include "run/watch.h"
#include "sandbox/sandbox.h"
#include "statespace.h"

/* Runs in the confined process; as the run of struct ss_executor. */
typedef enum ss_err (*oneshot_fn)(void *ctx, const struct ss_command *cmd,
	struct ss_result *result, struct ss_error *err);

/*
 * Forks by plan, runs fn(ctx, cmd) there, relays its output to cmd->output or
 * to collected (both streams, released by the caller), and its result.
 * result->limit and sandbox are static text.
 * Errors   fn's own; SS_INTERNAL; SS_GONE when cmd->client_fd hung up.
 */
enum ss_err
oneshot_run(struct sandbox_plan *plan, unsigned keeps, oneshot_fn fn, void *ctx,
	const struct ss_command *cmd, struct buf collected[2],
	struct ss_result *result, struct ss_error *err);
/*
 * The same under a watch, made here and left in *watch for the caller to read
 * and to free, NULL when nothing ran; watch NULL: without one.
 * Errors   also SS_SANDBOX_UNAVAILABLE when nothing may be traced here.
 */
enum ss_err
oneshot_watch(struct sandbox_plan *plan, unsigned keeps, oneshot_fn fn,
	void *ctx, const struct ss_command *cmd, struct buf collected[2],
	struct watch **watch, struct ss_result *result, struct ss_error *err);

#endif
