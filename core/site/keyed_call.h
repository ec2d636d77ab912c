/* SPDX-License-Identifier: MIT */
/*
 * A call that carries a key (statespace-protocol(7), EXACTLY ONCE): the record
 * is looked at before a person is asked, made right before the tool starts, and
 * has the answer before it is told.
 */
#ifndef SS_SITE_KEYED_CALL_H
#define SS_SITE_KEYED_CALL_H

#include "keyed/store.h"
#include "site/documents.h"
#include "state/state.h"
#include "wire/proto.h"

#define KEYED_KEY_MAX 255
#define KEYED_META "statespace/idempotencyKey"
#define KEYED_WAIT_MAX_MS 60000

struct keyed_call {
	bool active; /* the call has a key that may be used */
	bool begun;  /* the record is ours */
	/* The answer is this job, which the call became. "": it ran. */
	char job[STATE_ID_CAP];
	int64_t job_created_ms;
	struct arena *arena;
	struct keyed_store store;
	struct keyed record;
	/* What the output is told to, and a copy of it for the record. */
	ss_output_fn output; /* NULL: it is in the result */
	void *output_ctx;
	void (*progress)(void *ctx, const char *data, size_t len);
	struct buf copy[2];
};

/* What makes two calls the same. */
struct keyed_what {
	const char *root; /* of the site */
	const struct ss_document *doc;
	const char *user; /* that the front verified; NULL */
	const char *key;
	const struct proto_request *request;
	const struct ss_text *words; /* as they were matched */
	size_t word_count;
};

/*
 * Begins with a call's key.
 * Errors  SS_BAD_REQUEST: not 1 to 255 visible ASCII characters; SS_STATE: no
 *         state directory; SS_INTERNAL.
 */
enum ss_err keyed_call_init(struct keyed_call *k, const struct keyed_what *what,
	struct ss_error *err);
/*
 * *answered: the call has its result, or its error, from the record.
 * Errors  SS_KEY_RUNNING, SS_KEY_UNKNOWN, SS_KEY_REUSED, SS_STATE, and those of
 *         the answer.
 */
enum ss_err keyed_call_look(struct keyed_call *k, struct ss_result *result,
	bool *answered, struct ss_error *err);
/*
 * The same again and again, while it says SS_KEY_RUNNING, for so long.
 * client_fd  SS_GONE when it hangs up; -1.
 */
enum ss_err
keyed_call_wait(struct keyed_call *k, uint32_t wait_ms, int client_fd,
	struct ss_result *result, bool *answered, struct ss_error *err);
/* The same, and makes the record if there is none: then run. */
enum ss_err keyed_call_begin(struct keyed_call *k, struct ss_result *result,
	bool *answered, struct ss_error *err);
/*
 * After the run: stores the answer, or takes the record back when nothing was
 * started.  err NULL: it is a success.  0, or errno of what was not stored.
 */
int keyed_call_end(struct keyed_call *k, const struct ss_result *result,
	const struct ss_error *err);
/*
 * In its place, when the call has become a job that is durable: the job is the
 * answer.  0, or errno of what was not stored.
 */
int
keyed_call_end_job(struct keyed_call *k, const char *id, int64_t created_ms);
/* In its place, when it is not known whether there is one. */
void keyed_call_leave(struct keyed_call *k);
/* An output function that keeps a copy; ctx is the keyed_call. */
void keyed_call_output(void *ctx, int stream, const char *data, size_t len);
/* The same for progress, which is not kept. */
void keyed_call_progress(void *ctx, const char *data, size_t len);
void keyed_call_release(struct keyed_call *k);

#endif
