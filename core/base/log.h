/* SPDX-License-Identifier: MIT */
/*
 * One event, one line: key=value (logfmt) or a JSON object, control bytes
 * escaped.  A line that would be too long is cut at a character, its later
 * fields are left out, and it ends with cut=true.  The library passes the line
 * to the host's function; it never prints.
 */
#ifndef SS_BASE_LOG_H
#define SS_BASE_LOG_H

#include "base/base.h"

#define LOG_LINE_MAX 4096

enum log_format { LOG_LOGFMT, LOG_JSON };

struct log_line {
	enum log_format format;
	bool full; /* cut: nothing more is added */
	size_t len;
	char text[LOG_LINE_MAX];
};

/* Begins with time= and event=. */
void log_begin(struct log_line *l, enum log_format format, const char *event);
void log_text(struct log_line *l, const char *key, const char *value);
/* The same with at most max bytes of the value; log_text keeps 512. */
void log_text_max(
	struct log_line *l, const char *key, const char *value, size_t max);
void log_number(struct log_line *l, const char *key, int64_t value);
/* Milliseconds with three decimals. */
void log_ms(struct log_line *l, const char *key, uint64_t microseconds);
/* Ends the line and calls fn with it unless fn is NULL. */
void log_end(struct log_line *l,
	void (*fn)(void *ctx, const char *line, size_t len), void *ctx);

#endif
