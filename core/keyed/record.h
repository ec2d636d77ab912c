/* SPDX-License-Identifier: MIT */
/*
 * The bytes of a record: a head that names the request by its digest, then one
 * answer with its length, and a digest that tells a whole answer from one whose
 * writing was cut.  Numbers are little-endian: hosts may share a directory.
 */
#ifndef SS_KEYED_RECORD_H
#define SS_KEYED_RECORD_H

#include "base/buf.h"
#include "base/digest.h"

enum keyed_kind {
	KEYED_OPEN = 0,     /* no whole answer */
	KEYED_STORED = 'A', /* an answer */
	KEYED_DROPPED = 'N' /* nothing ran */
};

/* 0 or errno. */
int keyed_record_begin(int fd, const uint8_t body[static DIGEST_BYTES]);
/* 0 or errno; EBADMSG: this is no head. */
int keyed_record_head(int fd, uint8_t body[static DIGEST_BYTES]);
/* Writes what follows the head.  0 or errno. */
int keyed_record_store(int fd, enum keyed_kind kind,
	const uint8_t body[static DIGEST_BYTES], const char *data, size_t len);
/*
 * Reads it: *kind says what it is, out has the bytes of an answer.  0 or
 * errno; EFBIG: an answer that is larger than out may be.
 */
int keyed_record_answer(int fd, const uint8_t body[static DIGEST_BYTES],
	struct buf *out, enum keyed_kind *kind);

#endif
