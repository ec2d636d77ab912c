/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <stdio.h>
#include <string.h>

enum {
	TYPE_BEGIN = 1,
	TYPE_ABORT = 2,
	TYPE_END = 3,
	TYPE_PARAMS = 4,
	TYPE_STDIN = 5,
	TYPE_STDOUT = 6,
	TYPE_GET_VALUES = 9, /* the first of the management records */
	TYPE_GET_VALUES_RESULT = 10,
	TYPE_UNKNOWN = 11
};
enum { ROLE_RESPONDER = 1, BEGIN_BODY_LEN = 8 };

void
record_init(struct record_reader *r)
{
	r->state = RECORD_BEGIN;
	r->why = NULL;
	r->header_have = 0;
	r->content = r->padding = 0;
	r->lengths_have = r->name_left = r->value_left = 0;
	r->params_len = 0;
	r->asking = r->asked = false;
	r->asks = 0;
	r->ask_len = 0;
}

static void
reader_refuse(struct record_reader *r, const char *why)
{
	r->state = RECORD_BAD;
	r->why = why;
}

/* The end of PARAMS or STDIN: an empty record. */
static void
stream_ends(struct record_reader *r)
{
	if (r->state == RECORD_STDIN)
		r->state = RECORD_DONE;
	else if (r->lengths_have > 0 || r->name_left > 0 || r->value_left > 0)
		reader_refuse(r, "the parameters end within a pair");
	else
		r->state = RECORD_STDIN;
}

static void
ask_begins(struct record_reader *r)
{
	r->asking = true;
	if (r->content > RECORD_ASK_MAX)
		reader_refuse(r, "a management record that is too large");
	else if (++r->asks > RECORD_ASKS_MAX)
		reader_refuse(r, "too many management records");
}

/* A header is complete: may it come here? */
static void
header_read(struct record_reader *r)
{
	static const unsigned expected[] = { [RECORD_BEGIN] = TYPE_BEGIN,
		[RECORD_PARAMS] = TYPE_PARAMS,
		[RECORD_STDIN] = TYPE_STDIN,
		[RECORD_DONE] = 0 };
	const unsigned char *h = r->header;
	unsigned id = (unsigned)h[2] << 8 | h[3];

	r->type = h[1];
	r->content = (size_t)h[4] << 8 | h[5];
	r->padding = h[6];
	r->ask_len = 0;
	if (h[0] != 1)
		reader_refuse(r, "a record of another protocol version");
	else if (id == 0 && r->type >= TYPE_GET_VALUES)
		ask_begins(r);
	else if (r->state != RECORD_BEGIN && r->type == TYPE_ABORT &&
		id == r->id && r->content == 0)
		r->state = RECORD_ABORTED;
	else if (r->state == RECORD_DONE)
		return;
	else if (r->type != expected[r->state])
		reader_refuse(
			r, "a record of a type that does not belong here");
	else if (r->state == RECORD_BEGIN && id == 0)
		reader_refuse(r, "a request with id 0");
	else if (r->state != RECORD_BEGIN && id != r->id)
		reader_refuse(r, "a record of another request");
	else if (r->state == RECORD_BEGIN && r->content != BEGIN_BODY_LEN)
		reader_refuse(r, "a BEGIN_REQUEST of the wrong size");
	else
		r->id = id;
}

/* Room for the pair, its '=' and its NUL? */
static bool
pair_fits(const struct record_reader *r, size_t name_len, size_t value_len)
{
	size_t left = RECORD_PARAMS_MAX - r->params_len;

	return left >= 2 && name_len <= left - 2 &&
		value_len <= left - 2 - name_len;
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
		reader_refuse(r, "a parameter without a name");
	else if (!pair_fits(r, name_len, r->value_left))
		reader_refuse(r, "the parameters are too large");
}

static size_t
smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Copies bytes of a name or value; pair_fits has been asked. */
static void
pair_bytes(struct record_reader *r, const unsigned char *data, size_t len)
{
	bool name = r->name_left > 0;

	if (memchr(data, '\0', len) != NULL)
		reader_refuse(r, "a parameter with a NUL byte");
	else if (name && memchr(data, '=', len) != NULL)
		reader_refuse(r, "a parameter with '=' in its name");
	*(name ? &r->name_left : &r->value_left) -= len;
	memcpy(r->params + r->params_len, data, len);
	r->params_len += len;
	if (name && r->name_left == 0)
		r->params[r->params_len++] = '=';
	if (r->name_left == 0 && r->value_left == 0)
		r->params[r->params_len++] = '\0';
}

/* Content of PARAMS; returns the bytes taken. */
static size_t
params_content(struct record_reader *r, const unsigned char *data, size_t len)
{
	size_t all = smaller(r->content, len), n;

	r->content -= all;
	for (size_t at = 0; at < all && r->state == RECORD_PARAMS; at += n) {
		n = smaller(r->name_left > 0 ? r->name_left : r->value_left,
			all - at);
		if (n > 0) {
			pair_bytes(r, data + at, n);
		} else {
			pair_length_byte(r, data[at]);
			n = 1;
		}
	}
	return all;
}

static void
begin_read(struct record_reader *r)
{
	if (((unsigned)r->ask[0] << 8 | r->ask[1]) != ROLE_RESPONDER)
		reader_refuse(r, "a role other than responder");
	else
		r->state = RECORD_PARAMS;
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
		r->padding > 0 || r->state >= RECORD_ABORTED)
		return;
	r->header_have = 0;
	if (r->asking)
		r->asked = true;
	else if (r->state == RECORD_BEGIN)
		begin_read(r);
	else if (empty && r->state != RECORD_DONE)
		stream_ends(r);
	r->asking = false;
}

/* Content of other records: kept until the record is whole, or skipped. */
static size_t
other_content(struct record_reader *r, const unsigned char *data, size_t len)
{
	size_t n = smaller(r->content, len);

	if (r->state != RECORD_DONE || r->asking) {
		memcpy(r->ask + r->ask_len, data, n);
		r->ask_len += n;
	}
	r->content -= n;
	return n;
}

/* What the caller has to see before the next byte. */
static bool
must_pause(const struct record_reader *r, enum record_state before)
{
	return r->asked || r->state >= RECORD_ABORTED ||
		(r->state != before && r->state >= RECORD_STDIN);
}

size_t
record_take(struct record_reader *r, const unsigned char *data, size_t len,
	const unsigned char **body, size_t *body_len)
{
	enum record_state before = r->state;
	size_t taken = 0, n;

	*body_len = 0;
	r->asked = false;
	while (taken < len && !must_pause(r, before)) {
		if (r->header_have < RECORD_HEADER_LEN) {
			n = header_bytes(r, data + taken, len - taken);
		} else if (r->content > 0 &&
			(r->asking || r->state == RECORD_BEGIN ||
				r->state == RECORD_DONE)) {
			n = other_content(r, data + taken, len - taken);
		} else if (r->content > 0 && r->type == TYPE_STDIN) {
			n = smaller(r->content, len - taken);
			r->content -= n;
			*body = data + taken;
			*body_len = n;
		} else if (r->content > 0) {
			n = params_content(r, data + taken, len - taken);
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

/* The pair in hand fits; without one the parameters are whole strings. */
static bool
params_fit(const struct record_reader *r)
{
	size_t len = r->params_len;

	if (len > RECORD_PARAMS_MAX || r->lengths_have >= sizeof(r->lengths))
		return false;
	if (r->name_left > 0)
		return pair_fits(r, r->name_left, r->value_left);
	if (r->value_left > 0)
		return r->value_left < RECORD_PARAMS_MAX - len;
	return len == 0 || r->params[len - 1] == '\0';
}

bool
record_check(struct record_reader *r)
{
	unsigned char asking;

	memcpy(&asking, &r->asking, sizeof(asking));
	r->asking = asking != 0;
	r->asked = false;
	r->why = NULL;
	if (r->state != RECORD_BEGIN && r->state != RECORD_PARAMS &&
		r->state != RECORD_STDIN)
		return false;
	if (r->state == RECORD_STDIN && (r->name_left > 0 || r->value_left > 0))
		return false;
	return r->header_have <= RECORD_HEADER_LEN && r->content <= 65535 &&
		r->padding <= 255 && r->ask_len <= RECORD_ASK_MAX &&
		((!r->asking && r->state != RECORD_BEGIN) ||
			r->content <= RECORD_ASK_MAX - r->ask_len) &&
		params_fit(r);
}

bool
record_is_fresh(const struct record_reader *r)
{
	return r->state == RECORD_BEGIN && r->header_have == 0;
}

static void
write_header(unsigned char *out, unsigned type, unsigned id, size_t content)
{
	out[0] = 1;
	out[1] = (unsigned char)type;
	out[2] = (unsigned char)(id >> 8);
	out[3] = (unsigned char)id;
	out[4] = (unsigned char)(content >> 8);
	out[5] = (unsigned char)content;
	out[6] = out[7] = 0;
}

/* A name's or value's length at *at; false: cut, or over what is left. */
static bool
take_length(const struct record_reader *r, size_t *at, size_t *length)
{
	const unsigned char *p = r->ask + *at;
	size_t left = r->ask_len - *at;

	if (left == 0 || (p[0] & 0x80 && left < 4))
		return false;
	*length = p[0];
	if (p[0] & 0x80)
		*length = (size_t)(p[0] & 0x7f) << 24 | (size_t)p[1] << 16 |
			(size_t)p[2] << 8 | p[3];
	*at += p[0] & 0x80 ? 4 : 1;
	return *length <= RECORD_ASK_MAX;
}

enum { MAX_CONNS, MAX_REQS, MPXS_CONNS, VALUES };

static const char *const value_names[VALUES] = { "FCGI_MAX_CONNS",
	"FCGI_MAX_REQS", "FCGI_MPXS_CONNS" };

/* Which names GET_VALUES holds; false: its pairs do not fit its length. */
static bool
read_names(const struct record_reader *r, bool wanted[static VALUES])
{
	size_t at = 0, name, value;

	while (at < r->ask_len) {
		if (!take_length(r, &at, &name) ||
			!take_length(r, &at, &value) ||
			name + value > r->ask_len - at)
			return false;
		for (size_t i = 0; i < VALUES; i++)
			if (name == strlen(value_names[i]) &&
				memcmp(r->ask + at, value_names[i], name) == 0)
				wanted[i] = true;
		at += name + value;
	}
	return true;
}

size_t
record_reply(struct record_reader *r, unsigned most,
	unsigned char out[RECORD_REPLY_MAX])
{
	bool wanted[VALUES] = { false };
	size_t len = RECORD_HEADER_LEN;
	char digits[16];

	if (r->type != TYPE_GET_VALUES) {
		write_header(out, TYPE_UNKNOWN, 0, 8);
		memset(out + len, 0, 8);
		out[len] = (unsigned char)r->type;
		return len + 8;
	}
	if (!read_names(r, wanted)) {
		reader_refuse(r, "a GET_VALUES that is cut");
		return 0;
	}
	for (size_t i = 0; i < VALUES; i++) {
		size_t name = strlen(value_names[i]);
		size_t value = (size_t)snprintf(digits, sizeof(digits), "%u",
			i == MPXS_CONNS ? 0 : most);

		if (!wanted[i])
			continue;
		out[len++] = (unsigned char)name;
		out[len++] = (unsigned char)value;
		memcpy(out + len, value_names[i], name);
		memcpy(out + len + name, digits, value);
		len += name + value;
	}
	write_header(out, TYPE_GET_VALUES_RESULT, 0, len - RECORD_HEADER_LEN);
	return len;
}

size_t
record_end_of(unsigned id, unsigned char out[RECORD_REPLY_MAX])
{
	write_header(out, TYPE_END, id, 8);
	memset(out + RECORD_HEADER_LEN, 0, 8);
	return RECORD_HEADER_LEN + 8;
}

size_t
record_end(const struct record_reader *r, unsigned char out[RECORD_REPLY_MAX])
{
	return record_end_of(r->id, out);
}

size_t
record_stdout(unsigned id, const char *data, size_t len, unsigned char *out)
{
	write_header(out, TYPE_STDOUT, id, len);
	memcpy(out + RECORD_HEADER_LEN, data, len);
	return RECORD_HEADER_LEN + len;
}
