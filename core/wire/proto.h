/* SPDX-License-Identifier: MIT */
/*
 * The bodies of POST: JSON to a command, a result or an error to JSON
 * (statespace-protocol(7), RUNNING and statespace-protocol(7), REFUSALS).
 */
#ifndef SS_WIRE_PROTO_H
#define SS_WIRE_PROTO_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define PROTO_WORDS_MAX 65536
#define PROTO_COMMAND_MAX 1048576 /* bytes of the filled command */
#define PROTO_WORD_MAX 131071     /* MAX_ARG_STRLEN less the NUL */

struct json_value;

/* One argument of "tool_call", as it was read. */
enum proto_kind {
	PROTO_TEXT,
	PROTO_LIST,   /* of texts */
	PROTO_MAP,    /* of texts */
	PROTO_NUMBER, /* text: as JSON writes it */
	PROTO_BOOL,   /* text: true or false */
	PROTO_OTHER   /* see found */
};

struct proto_argument {
	const char *name;
	enum proto_kind kind;
	struct ss_text text;
	const struct ss_text *items;
	size_t item_count;
	struct ss_pair *pairs;
	size_t pair_count;
	const char *found; /* "a number", "a list with a number in it" */
};

struct proto_request {
	struct ss_text *words; /* filled with args; NUL-terminated */
	size_t word_count;
	const char *call_name; /* "tool_call": then there are no words yet */
	struct proto_argument *call_args;
	size_t call_arg_count;
	struct ss_pair *env;
	size_t env_count;
	bool has_stdin;
	struct ss_text stdin_text;
	const char *confirm; /* the token of an earlier answer; NULL: none */
	const char *next;    /* the cursor of an earlier answer; NULL: none */
	bool parse;          /* the output is wanted as JSON */
	/* "workspace": {"session": ID, "commit": true} */
	bool has_workspace;
	const char *session; /* NULL: none */
	bool commit;
};

/* Errors: SS_BAD_REQUEST, SS_COMMAND_TOO_LARGE, SS_INTERNAL. All in arena. */
enum ss_err proto_parse(struct arena *arena, const char *text, size_t len,
	struct proto_request *out, struct ss_error *err);
/*
 * The same request from words instead of JSON, for local callers.
 * Errors: as proto_parse; a text that is not UTF-8 is SS_BAD_REQUEST.
 */
enum ss_err proto_from_words(struct arena *arena, const struct ss_call *call,
	struct proto_request *out, struct ss_error *err);
/* Replaces {key} in words, one scan, results not scanned again. */
enum ss_err proto_fill(struct arena *arena, struct ss_text *words, size_t count,
	const struct ss_pair *args, size_t args_count, struct ss_error *err);

/*
 * {"stdout": ..., "stderr": ..., "returncode": ..., "sandbox": {...}}, with
 * "stdout_base64" instead of "stdout" for a declared type that is no text, and
 * "stdout_json" where the request asks for it.
 */
bool proto_result(struct buf *out, const struct ss_result *result);
/* The error of a tool that was ended, with its output so far. */
bool proto_ended(struct buf *out, const struct ss_result *result,
	struct ss_text stderr_text, const struct ss_error *err);
/*
 * Did a confined tool fail with EACCES, EPERM or EROFS in its own words, without
 * a record of what was refused?  Then the hint says where to look.
 */
bool proto_may_be_denied(const struct ss_result *result);
#define PROTO_DENIED_HINT                                                      \
	"if the sandbox refused it, `statespace-exec --explain` shows what, "  \
	"and the line that would grant it"
/* Of a command that did not run; result, for its page and step, may be NULL. */
bool proto_error(struct buf *out, const struct ss_result *result,
	const struct ss_error *err);
/*
 * What either of the two has beside the output, for a client that has read the
 * output already.  err NULL: the run came to its end.
 */
bool proto_end(struct buf *out, const struct ss_result *result,
	const struct ss_error *err);
/*
 * An error with more members: confirm, the token to send back; command, the
 * result's words that would run, with the server's values as $NAME; and its
 * question, unless that is NULL.
 */
bool proto_unconfirmed(struct buf *out, const struct ss_result *result,
	const struct ss_error *err, const char *token);

/*
 * Reads an object's members as arguments of a tool, but those that are null;
 * object may be NULL.  The array has `more` unused elements at its end. False:
 * memory ran out.
 */
bool proto_arguments(struct arena *arena, const struct json_value *object,
	size_t more, struct proto_argument **out, size_t *count);

#endif
