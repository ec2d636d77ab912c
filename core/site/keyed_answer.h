/* SPDX-License-Identifier: MIT */
/*
 * The end of a call as bytes, for the record of its key: what it is told by
 * later is the same, whether by HTTP, MCP or the shell.  Pure.
 */
#ifndef SS_SITE_KEYED_ANSWER_H
#define SS_SITE_KEYED_ANSWER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "state/state.h"
#include "statespace.h"

/* err's code is how the call ended. */
bool keyed_answer_write(struct buf *out, const struct ss_result *result,
	const struct ss_error *err);
/*
 * Fills both; texts live in arena.  False: these are no such bytes, or there is
 * no memory.
 */
bool keyed_answer_read(struct arena *arena, struct ss_text bytes,
	struct ss_result *result, struct ss_error *err);

/* The answer of a call that became a job: its id and when it was made. */
bool
keyed_answer_write_job(struct buf *out, const char *id, int64_t created_ms);
/* False: these are not such bytes. */
bool keyed_answer_read_job(struct ss_text bytes, char id[static STATE_ID_CAP],
	int64_t *created_ms);

#endif
