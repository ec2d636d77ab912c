/* SPDX-License-Identifier: MIT */
/*
 * Reads the records of one FastCGI request, byte by byte if need be, and lets
 * through only what front servers send: BEGIN_REQUEST for a responder, PARAMS
 * to their end, STDIN to its end, all for one id.  Management records are kept
 * apart and answered by record_reply, ABORT_REQUEST ends the request.  Anything
 * else (a second request, wrong lengths) is refused.  libfcgi does not read
 * requests: it crashes on some of that, serves parameters that were cut short,
 * and knows no limit.
 *
 * Pure: no I/O, no allocation.
 * Source: FastCGI specification 1.0, sections 3 to 5.
 */
#ifndef FCGI_RECORD_H
#define FCGI_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_HEADER_LEN 8
#define RECORD_PARAMS_MAX 65536 /* bytes of all parameters, decoded */
#define RECORD_ASK_MAX 512      /* the content of one management record */
#define RECORD_ASKS_MAX 16      /* management records of one connection */
#define RECORD_REPLY_MAX 128

enum record_state {
	RECORD_BEGIN,   /* waiting for BEGIN_REQUEST */
	RECORD_PARAMS,  /* in the parameters */
	RECORD_STDIN,   /* in the body */
	RECORD_DONE,    /* the whole request has been seen */
	RECORD_ABORTED, /* ABORT_REQUEST came, also after the whole request */
	RECORD_BAD      /* refused; the reason is in `why` */
};

struct record_reader {
	enum record_state state;
	const char *why;
	unsigned char header[RECORD_HEADER_LEN];
	size_t header_have;
	unsigned type;
	unsigned id;
	size_t content; /* of this record still to come */
	size_t padding;
	/* Within PARAMS, across records: the pair being read. */
	unsigned char lengths[8];
	size_t lengths_have;
	size_t name_left, value_left;
	/* Strings "NAME=VALUE", one behind the other. */
	char params[RECORD_PARAMS_MAX];
	size_t params_len;
	/* The management record that is read: id 0, type 9 and above. */
	bool asking;
	bool asked; /* it is whole: record_reply answers it */
	unsigned asks;
	/* The content of BEGIN_REQUEST, or of the management record. */
	unsigned char ask[RECORD_ASK_MAX];
	size_t ask_len;
};

void record_init(struct record_reader *r);

/*
 * Takes bytes from data until a stretch of body content, the end of the
 * parameters, the end of the request, a whole management record (r->asked) or
 * the end of data.  Returns how many bytes were taken.  A stretch of body comes
 * out through body and body_len (borrowed from data; 0: none in this
 * step).  After RECORD_DONE only ABORT_REQUEST and management records are
 * looked at; other records are skipped.
 */
size_t record_take(struct record_reader *r, const unsigned char *data,
	size_t len, const unsigned char **body, size_t *body_len);

/*
 * Could bytes from elsewhere be a reader within a request?  Makes them safe for
 * record_take; false: they are not.
 */
bool record_check(struct record_reader *r);

/* No byte of a request, and no part of a record, has come. */
bool record_is_fresh(const struct record_reader *r);

/*
 * The answer to the management record that is whole: GET_VALUES_RESULT with
 * those of FCGI_MAX_CONNS and FCGI_MAX_REQS (most) and FCGI_MPXS_CONNS (0) that
 * were asked for, or UNKNOWN_TYPE.  Returns its length; 0: refused, r->why.
 */
size_t record_reply(struct record_reader *r, unsigned most,
	unsigned char out[RECORD_REPLY_MAX]);

/* END_REQUEST with REQUEST_COMPLETE, for a request that was aborted. */
size_t
record_end(const struct record_reader *r, unsigned char out[RECORD_REPLY_MAX]);

/* The same for the request with that id. */
size_t record_end_of(unsigned id, unsigned char out[RECORD_REPLY_MAX]);
/*
 * len bytes, at most 65535, as STDOUT; out has room for them and for
 * RECORD_HEADER_LEN.
 */
size_t
record_stdout(unsigned id, const char *data, size_t len, unsigned char *out);

#endif
