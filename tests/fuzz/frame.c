/* SPDX-License-Identifier: MIT */
/*
 * The file worker's messages: whatever comes, the reader answers; what it
 * takes is whole; an error that is written parses as JSON.
 */
#include "fuzz.h"
#include "wire/json.h"
#include "wire/proto.h"
#include "wire/frame.h"

static void
check_request(const struct frame_request *r)
{
	switch (r->kind) {
	case FRAME_READ:
	case FRAME_STAT: promise(r->path != NULL); break;
	case FRAME_WRITE:
		promise(r->path != NULL && r->content.data != NULL);
		break;
	case FRAME_EDIT:
		promise(r->path != NULL && r->old_string.data != NULL &&
			r->new_string.data != NULL);
		break;
	case FRAME_GLOB:
	case FRAME_GREP: promise(r->pattern != NULL && r->root != NULL); break;
	case FRAME_GET_ENV:
		for (size_t i = 0; i < r->name_count; i++)
			promise(r->names[i] != NULL);
		break;
	case FRAME_PING:
	case FRAME_SHUTDOWN: break;
	}
}

static void
check_bytes(const uint8_t *data, size_t size)
{
	struct buf b = BUF_INIT(1 << 20);
	struct ss_text bytes = { (const char *)data, size };

	if (frame_bytes(&b, bytes))
		promise(json_check(b.data, b.len, NULL) == SS_OK);
	buf_release(&b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf answer = BUF_INIT(1 << 20);
	struct ss_error err = { .code = SS_OK };
	struct frame_request request;
	unsigned char head[4];
	struct arena arena;

	arena_init(&arena, 0);
	if (frame_parse(&arena, (const char *)data, size, &request, &err) ==
		SS_OK) {
		check_request(&request);
	} else {
		promise(frame_error(
			&answer, frame_code(err.code), err.message));
		promise(json_check(answer.data, answer.len, NULL) == SS_OK);
	}
	check_bytes(data, size);
	frame_head(size, head);
	promise(frame_length(head) == size);
	buf_release(&answer);
	arena_release(&arena);
	return 0;
}
