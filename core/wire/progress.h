/* SPDX-License-Identifier: MIT */
/*
 * The lines in which a tool tells its progress: "12/50 text", "24% text", or
 * text alone (statespace-page(7), Tools).  The newest line counts.  Pure.
 */
#ifndef SS_WIRE_PROGRESS_H
#define SS_WIRE_PROGRESS_H

#include "base/buf.h"

/* Of a line; what is longer is cut. */
#define PROGRESS_LINE_MAX 512
/* Of a message, after it was cleaned. */
#define PROGRESS_TEXT_MAX 200

/* Zero at first. */
struct progress {
	char line[PROGRESS_LINE_MAX]; /* that is being read */
	size_t len;
	char text[PROGRESS_LINE_MAX]; /* of the newest line, as it came */
	size_t text_len;
	bool news; /* a line came: the reader sets it back */
	/* In thousandths, of the newest line that had them; total 0: none. */
	uint64_t value, total;
};

/* Takes bytes as they come.  A line ends with a newline or a return. */
void progress_read(struct progress *p, const char *data, size_t len);

/*
 * The newest line as a message: without escape sequences (ECMA-48), control and
 * formatting characters, at most PROGRESS_TEXT_MAX bytes of UTF-8; counted:
 * without its numbers.
 */
bool progress_message(const struct progress *p, bool counted, struct buf *out);

#endif
