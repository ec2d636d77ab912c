/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <string.h>

enum { TYPE_BEGIN = 1, TYPE_PARAMS = 4, TYPE_STDIN = 5 };
enum { ROLE_RESPONDER = 1, BEGIN_BODY_LEN = 8 };

void
record_init(struct record_reader *r, size_t head_max)
{
	r->state = RECORD_BEGIN;
	r->why = NULL;
	r->header_have = 0;
	r->content = r->padding = 0;
	r->lengths_have = r->name_left = r->value_left = 0;
	r->head_len = 0;
	r->head_max = head_max < RECORD_HEAD_MAX ? head_max : RECORD_HEAD_MAX;
}

static void
refuse(struct record_reader *r, const char *why)
{
	r->state = RECORD_BAD;
	r->why = why;
}

/* Keeps bytes of the head for the library. */
static bool
keep(struct record_reader *r, const unsigned char *data, size_t len)
{
	if (len > r->head_max - r->head_len) {
		refuse(r, "the parameters are too large");
		return false;
	}
	memcpy(r->head + r->head_len, data, len);
	r->head_len += len;
	return true;
}

/* The end of PARAMS or STDIN: an empty record. */
static void
stream_ends(struct record_reader *r)
{
	if (r->state == RECORD_STDIN)
		r->state = RECORD_DONE;
	else if (r->lengths_have > 0 || r->name_left > 0 || r->value_left > 0)
		refuse(r, "the parameters end within a pair");
	else
		r->state = RECORD_STDIN;
}

/*
 * Without padding: the library stumbles over it in BEGIN_REQUEST and in the
 * last record of PARAMS.
 */
static void
keep_header(struct record_reader *r, unsigned id)
{
	unsigned char h[RECORD_HEADER_LEN];

	r->id = id;
	memcpy(h, r->header, sizeof(h));
	h[6] = 0;
	if (r->state != RECORD_STDIN)
		keep(r, h, sizeof(h));
}

/* A header is complete: is it one that may stand here? */
static void
header_read(struct record_reader *r)
{
	static const unsigned expected[] = { [RECORD_BEGIN] = TYPE_BEGIN,
		[RECORD_PARAMS] = TYPE_PARAMS,
		[RECORD_STDIN] = TYPE_STDIN };
	const unsigned char *h = r->header;
	unsigned id = (unsigned)h[2] << 8 | h[3];

	r->type = h[1];
	r->content = (size_t)h[4] << 8 | h[5];
	r->padding = h[6];
	if (h[0] != 1)
		refuse(r, "a record of another protocol version");
	else if (r->type != expected[r->state])
		refuse(r, "a record of a type that does not belong here");
	else if (r->state == RECORD_BEGIN && id == 0)
		refuse(r, "a request with id 0");
	else if (r->state != RECORD_BEGIN && id != r->id)
		refuse(r, "a record of another request");
	else if (r->state == RECORD_BEGIN && r->content != BEGIN_BODY_LEN)
		refuse(r, "a BEGIN_REQUEST of the wrong size");
	else
		keep_header(r, id);
}

/*
 * The next byte of a pair's lengths; when the last has come, the lengths are
 * known.  Four bytes with the top bit set, or one.
 */
static void
pair_length_byte(struct record_reader *r, unsigned char byte)
{
	unsigned char *l = r->lengths;
	size_t name_len, name_size, value_size;

	l[r->lengths_have++] = byte;
	name_size = l[0] & 0x80 ? 4 : 1;
	if (r->lengths_have <= name_size)
		return;
	value_size = l[name_size] & 0x80 ? 4 : 1;
	if (r->lengths_have < name_size + value_size)
		return;
	name_len = name_size == 1 ? l[0]
				  : (size_t)(l[0] & 0x7f) << 24 |
			(size_t)l[1] << 16 | (size_t)l[2] << 8 | l[3];
	l += name_size;
	r->value_left = value_size == 1 ? l[0]
					: (size_t)(l[0] & 0x7f) << 24 |
			(size_t)l[1] << 16 | (size_t)l[2] << 8 | l[3];
	r->name_left = name_len;
	r->lengths_have = 0;
	if (name_len == 0)
		refuse(r, "a parameter without a name");
	else if (name_len > r->head_max || r->value_left > r->head_max)
		refuse(r, "a parameter that is too large");
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* The names and values of PARAMS: C strings later, so no NUL. */
static void
pairs_read(struct record_reader *r, const unsigned char *data, size_t len)
{
	while (len > 0 && r->state == RECORD_PARAMS) {
		size_t *left =
			r->name_left > 0 ? &r->name_left : &r->value_left;
		size_t n = smaller(*left, len);

		if (n == 0) {
			pair_length_byte(r, *data);
			n = 1;
		} else {
			if (memchr(data, '\0', n) != NULL)
				refuse(r, "a parameter with a NUL byte");
			else if (left == &r->name_left &&
				memchr(data, '=', n) != NULL)
				refuse(r, "a parameter with '=' in its name");
			*left -= n;
		}
		data += n;
		len -= n;
	}
}

static void
begin_read(struct record_reader *r)
{
	const unsigned char *body = r->head + r->head_len - BEGIN_BODY_LEN;

	if (((unsigned)body[0] << 8 | body[1]) != ROLE_RESPONDER)
		refuse(r, "a role other than responder");
	else
		r->state = RECORD_PARAMS;
}

/* Content of the head's records; returns the bytes taken. */
static size_t
head_content(struct record_reader *r, const unsigned char *data, size_t len)
{
	size_t n = smaller(r->content, len);

	if (!keep(r, data, n))
		return n;
	r->content -= n;
	if (r->state == RECORD_PARAMS)
		pairs_read(r, data, n);
	else if (r->content == 0)
		begin_read(r);
	return n;
}

static size_t
header_bytes(struct record_reader *r, const unsigned char *data, size_t len)
{
	size_t n = smaller(RECORD_HEADER_LEN - r->header_have, len);

	memcpy(r->header + r->header_have, data, n);
	r->header_have += n;
	if (r->header_have == RECORD_HEADER_LEN)
		header_read(r);
	return n;
}

/* Is the record behind us whole?  Then the next header follows. */
static void
record_ends(struct record_reader *r)
{
	bool empty = r->header[4] == 0 && r->header[5] == 0;

	if (r->header_have < RECORD_HEADER_LEN || r->content > 0 ||
		r->padding > 0 || r->state == RECORD_BAD)
		return;
	r->header_have = 0;
	if (empty)
		stream_ends(r);
}

size_t
record_take(struct record_reader *r, const unsigned char *data, size_t len,
	const unsigned char **body, size_t *body_len)
{
	enum record_state before = r->state;
	size_t taken = 0, n;

	*body_len = 0;
	while (taken < len && r->state != RECORD_BAD &&
		r->state != RECORD_DONE &&
		!(before != RECORD_STDIN && r->state == RECORD_STDIN)) {
		if (r->header_have < RECORD_HEADER_LEN) {
			n = header_bytes(r, data + taken, len - taken);
		} else if (r->content > 0 && r->type == TYPE_STDIN) {
			n = smaller(r->content, len - taken);
			r->content -= n;
			*body = data + taken;
			*body_len = n;
		} else if (r->content > 0) {
			n = head_content(r, data + taken, len - taken);
		} else {
			n = smaller(r->padding, len - taken);
			r->padding -= n;
		}
		taken += n;
		record_ends(r);
		if (*body_len > 0)
			break;
	}
	return taken;
}
