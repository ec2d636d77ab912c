/* SPDX-License-Identifier: MIT */
/*
 * An answer as CGI has it: a header block that begins with Status and always
 * has the length of the body, then the body, from memory or from a file in
 * pieces of 64 KiB.  The caller's function sends the bytes.
 * Source: RFC 3875 section 6.
 */
#ifndef FCGI_REPLY_H
#define FCGI_REPLY_H

#include <stdbool.h>
#include <stddef.h>

#include "statespace.h"

struct reply_sink {
	void *ctx;
	/* Sends all bytes; after false it is not called again. */
	bool (*send)(void *ctx, const char *data, size_t len);
};

/* False: the answer was cut; close the connection. */
bool reply_send(const struct ss_response *res, const struct reply_sink *sink);

/*
 * Sends the header block alone, of an answer that comes in pieces; res->length
 * is SS_LENGTH_UNKNOWN.
 */
bool reply_begin(const struct ss_response *res, const struct reply_sink *sink);

#endif
