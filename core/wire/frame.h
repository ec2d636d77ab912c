/* SPDX-License-Identifier: MIT */
/*
 * The messages of the file worker: JSON objects told apart by "kind", in
 * frames of at most FRAME_BYTES (a length of four bytes, big-endian, comes
 * first).  Bytes are lists of numbers, as the peer's serializer writes them.
 * json.c checks a message before json_tree.c reads it.
 */
#ifndef SS_WIRE_FRAME_H
#define SS_WIRE_FRAME_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"

#define FRAME_BYTES ((size_t)1 << 20)

enum frame_kind {
	FRAME_PING,
	FRAME_SHUTDOWN,
	FRAME_READ,
	FRAME_WRITE,
	FRAME_EDIT,
	FRAME_GLOB,
	FRAME_GREP,
	FRAME_STAT,
	FRAME_GET_ENV
};

/* Members that the kind does not have are NULL. */
struct frame_request {
	enum frame_kind kind;
	const char *path, *root, *pattern;
	const char *include; /* NULL: every file */
	struct ss_text content, old_string, new_string;
	bool has_max_bytes;
	uint64_t max_bytes;
	const char **names;
	size_t name_count;
};

/*
 * Errors  SS_BAD_REQUEST: no JSON, no such member, a wrong type; SS_METHOD: a
 *         kind that is not known; SS_INTERNAL.  All in arena.
 * Pure
 */
enum ss_err frame_parse(struct arena *arena, const char *text, size_t len,
	struct frame_request *out, struct ss_error *err);

/* Reads and writes the length in the first four bytes of a frame. */
size_t frame_length(const unsigned char head[static 4]);
void frame_head(size_t len, unsigned char head[static 4]);

/*
 * The peer's name for an error: "unimplemented", "policy_denied", "io",
 * "protocol" or "internal".
 */
const char *frame_code(enum ss_err code);
bool frame_error(struct buf *out, const char *code, const char *message);
/* Writes bytes as a list of numbers. */
bool frame_bytes(struct buf *out, struct ss_text bytes);

#endif
