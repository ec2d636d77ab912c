/* SPDX-License-Identifier: MIT */
#include "site/keyed_call.h"

#include <inttypes.h>
#include <poll.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/fd.h"
#include "site/keyed_answer.h"

#define ANSWER_MAX ((size_t)1 << 31)
#define ASK_AGAIN_MS 50

/* ------------------------------------------------------------------- names */

static enum ss_err
check_key(const char *key, struct ss_error *err)
{
	size_t n = 0;

	while (key[n] > ' ' && key[n] <= '~' && n <= KEYED_KEY_MAX)
		n++;
	if (n > 0 && n <= KEYED_KEY_MAX && key[n] == '\0')
		return SS_OK;
	error_set(err, SS_BAD_REQUEST,
		"an Idempotency-Key is 1 to %d visible ASCII characters",
		KEYED_KEY_MAX);
	error_hint(err, "send a new random UUID for each thing to be done");
	return SS_BAD_REQUEST;
}

/* The root, not its number: pools on several hosts have the same. */
static void
make_name(const struct keyed_what *w, char out[static DIGEST_HEX + 1])
{
	const struct ss_document *doc = w->doc;
	const struct ss_text parts[] = { text_of(w->root),
		text_of(doc->real[0] != '\0' ? doc->real : doc->path),
		text_of(w->user), text_of(w->key) };
	uint8_t digest[DIGEST_BYTES];

	digest_parts(parts, ARRAY_LEN(parts), digest);
	digest_hex(digest, sizeof(digest), out);
}

/* Each list comes with its count: no two requests have the same parts. */
static bool
digest_request(const struct keyed_what *w, struct arena *arena,
	uint8_t out[static DIGEST_BYTES])
{
	const struct proto_request *q = w->request;
	size_t most = w->word_count + 2 * q->env_count + 4, n = 0;
	struct ss_text *parts = arena_array(arena, most, sizeof(*parts));
	char *counts = arena_printf(arena, "%zu %zu %d %d %d%d", w->word_count,
		q->env_count, q->has_stdin, q->next != NULL, q->has_workspace,
		q->commit);

	if (parts == NULL || counts == NULL)
		return false;
	parts[n++] = text_of(counts);
	for (size_t i = 0; i < w->word_count; i++)
		parts[n++] = w->words[i];
	for (size_t i = 0; i < q->env_count; i++) {
		parts[n++] = text_of(q->env[i].name);
		parts[n++] = text_of(q->env[i].value);
	}
	parts[n++] = text_of(q->next);
	parts[n++] = text_of(q->session);
	parts[n++] = q->has_stdin ? q->stdin_text : TEXT("");
	digest_parts(parts, n, out);
	return true;
}

enum ss_err
keyed_call_init(struct keyed_call *k, const struct keyed_what *what,
	struct ss_error *err)
{
	enum ss_err code = check_key(what->key, err);

	if (code != SS_OK)
		return code;
	k->store.dir = -1;
	k->record = (struct keyed){ .store = &k->store, .fd = -1 };
	make_name(what, k->record.name);
	if (!digest_request(what, k->arena, k->record.body))
		return error_memory(err);
	k->active = true;
	return SS_OK;
}

/* ------------------------------------------------------------------ refuse */

static enum ss_err
refuse_failed(const struct keyed_call *k, struct ss_error *err)
{
	error_set(
		err, SS_STATE, "the key cannot be kept; the tool did not run");
	error_hint(err, "the same request can be sent again later");
	error_detail(err, "keys of requests: %s", k->record.step);
	if (err != NULL)
		err->sys_errno = k->record.number;
	return SS_STATE;
}

static enum ss_err
refuse_full(struct ss_error *err)
{
	error_set(
		err, SS_STATE, "too many keys are kept; the tool did not run");
	error_hint(err, "the same request can be sent again later");
	error_detail(err, "[once] records");
	return SS_STATE;
}

static enum ss_err
refuse(enum keyed_found found, const struct keyed_call *k, struct ss_error *err)
{
	switch (found) {
	case KEYED_RUNNING:
		error_set(err, SS_KEY_RUNNING,
			"the request with this Idempotency-Key still runs");
		error_hint(err,
			"send the same again later, or with Prefer: wait=30");
		return SS_KEY_RUNNING;
	case KEYED_OTHER:
		error_set(err, SS_KEY_REUSED,
			"this Idempotency-Key was used for another request");
		error_hint(err, "another request needs a new key");
		return SS_KEY_REUSED;
	case KEYED_UNKNOWN:
		error_set(err, SS_KEY_UNKNOWN,
			"the tool was started for this Idempotency-Key, and "
			"what became of it is not known; it does not run "
			"again");
		error_hint(err,
			"look whether it was done; if it was not, send the "
			"request with a new key");
		return SS_KEY_UNKNOWN;
	case KEYED_FULL: return refuse_full(err);
	case KEYED_FAILED:
	case KEYED_NONE:
	case KEYED_ANSWERED: break;
	}
	return refuse_failed(k, err);
}

/* -------------------------------------------------------------------- look */

/* As if the tool had run just now. */
static enum ss_err
tell_again(struct keyed_call *k, struct ss_text bytes, struct ss_result *result,
	struct ss_error *err)
{
	struct ss_error told = { .code = SS_OK };

	if (keyed_answer_read_job(bytes, k->job, &k->job_created_ms)) {
		result->replayed = true;
		return SS_OK;
	}
	if (!keyed_answer_read(k->arena, bytes, result, &told)) {
		k->record.step = "an answer that cannot be read";
		k->record.number = 0;
		return refuse_failed(k, err);
	}
	result->replayed = true;
	if (k->output != NULL) {
		if (result->out.len > 0)
			k->output(k->output_ctx, 1, result->out.data,
				result->out.len);
		if (result->err.len > 0)
			k->output(k->output_ctx, 2, result->err.data,
				result->err.len);
		result->out = result->err = TEXT("");
	}
	if (err != NULL)
		*err = told;
	return told.code;
}

static enum ss_err
settle(struct keyed_call *k, enum keyed_found found, const struct buf *bytes,
	struct ss_result *result, bool *answered, struct ss_error *err)
{
	*answered = found == KEYED_ANSWERED;
	if (found == KEYED_NONE)
		return SS_OK;
	if (found == KEYED_ANSWERED)
		return tell_again(k, buf_view(bytes), result, err);
	return refuse(found, k, err);
}

enum ss_err
keyed_call_look(struct keyed_call *k, struct ss_result *result, bool *answered,
	struct ss_error *err)
{
	struct buf bytes = BUF_INIT(ANSWER_MAX);
	enum keyed_found found = keyed_look(&k->record, &bytes);
	enum ss_err code = settle(k, found, &bytes, result, answered, err);

	buf_release(&bytes);
	return code;
}

enum ss_err
keyed_call_wait(struct keyed_call *k, uint32_t wait_ms, int client_fd,
	struct ss_result *result, bool *answered, struct ss_error *err)
{
	struct pollfd client = { .fd = client_fd, .events = POLLRDHUP };
	uint64_t until = clock_ms() +
		(wait_ms < KEYED_WAIT_MAX_MS ? wait_ms : KEYED_WAIT_MAX_MS);
	enum ss_err code;

	for (;;) {
		code = keyed_call_look(k, result, answered, err);
		if (*answered || code != SS_KEY_RUNNING || clock_ms() >= until)
			return code;
		if (poll(&client, 1, ASK_AGAIN_MS) > 0)
			return error_set(err, SS_GONE, "the client left");
	}
}

enum ss_err
keyed_call_begin(struct keyed_call *k, struct ss_result *result, bool *answered,
	struct ss_error *err)
{
	struct buf bytes = BUF_INIT(ANSWER_MAX);
	enum keyed_found found = keyed_begin(&k->record, &bytes);
	enum ss_err code = settle(k, found, &bytes, result, answered, err);

	k->begun = found == KEYED_NONE;
	buf_release(&bytes);
	return code;
}

/* --------------------------------------------------------------------- end */

void
keyed_call_output(void *ctx, int stream, const char *data, size_t len)
{
	struct keyed_call *k = ctx;

	if (stream > 0)
		buf_add(&k->copy[stream - 1], data, len);
	if (k->output != NULL)
		k->output(k->output_ctx, stream, data, len);
}

void
keyed_call_progress(void *ctx, const char *data, size_t len)
{
	struct keyed_call *k = ctx;

	k->progress(k->output_ctx, data, len);
}

/*
 * An end that is not known, as of a process that went away, is no answer: nor
 * is that of a caller who ended the tool.
 */
static bool
is_answer(const struct ss_error *err)
{
	return err == NULL ||
		(err->code != SS_INTERNAL && err->code != SS_GONE);
}

static int
store_answer(struct keyed_call *k, const struct ss_result *result,
	const struct ss_error *err)
{
	struct ss_result whole = *result;
	struct buf bytes = BUF_INIT(ANSWER_MAX);
	bool written;
	int number;

	if (k->output != NULL) {
		whole.out = buf_view(&k->copy[0]);
		whole.err = buf_view(&k->copy[1]);
	}
	written = keyed_answer_write(&bytes, &whole, err) &&
		!k->copy[0].failed && !k->copy[1].failed;
	number = written ? keyed_finish(&k->record, bytes.data, bytes.len)
			 : ENOMEM;
	if (!written)
		keyed_leave(&k->record);
	buf_release(&bytes);
	return number;
}

int
keyed_call_end(struct keyed_call *k, const struct ss_result *result,
	const struct ss_error *err)
{
	if (!k->begun)
		return 0;
	k->begun = false;
	if (result->unstarted)
		return keyed_abandon(&k->record);
	if (is_answer(err))
		return store_answer(k, result, err);
	keyed_leave(&k->record);
	return 0;
}

int
keyed_call_end_job(struct keyed_call *k, const char *id, int64_t created_ms)
{
	struct buf bytes = BUF_INIT(ANSWER_MAX);
	int number = ENOMEM;

	k->begun = false;
	if (keyed_answer_write_job(&bytes, id, created_ms))
		number = keyed_finish(&k->record, bytes.data, bytes.len);
	else
		keyed_leave(&k->record);
	buf_release(&bytes);
	return number;
}

void
keyed_call_leave(struct keyed_call *k)
{
	k->begun = false;
	keyed_leave(&k->record);
}

void
keyed_call_release(struct keyed_call *k)
{
	fd_close(&k->store.dir);
	buf_release(&k->copy[0]);
	buf_release(&k->copy[1]);
}
