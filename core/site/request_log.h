/* SPDX-License-Identifier: MIT */
/*
 * The log line of one request, whatever protocol carried it.
 */
#ifndef SS_SITE_REQUEST_LOG_H
#define SS_SITE_REQUEST_LOG_H

#include "base/log.h"
#include "site/config.h"

/* Where lines go, and in which form. */
struct request_log {
	const struct config *config;                            /* [log] */
	void (*write)(void *ctx, const char *line, size_t len); /* NULL: none */
	void *ctx;
	const char *site; /* one of several; NULL */
};

/* Begins the line; false: the configuration wants none. */
bool request_log_begin(
	const struct request_log *log, struct log_line *l, const char *event);
/* Adds what ran; tool -1: nothing. */
void request_log_run(
	struct log_line *l, ssize_t tool, const struct ss_result *result);
/*
 * Begins the line of a request that took as long as [log] slow; tool -1: none
 * ran.  False: it did not, or the configuration wants no line.
 */
bool request_log_slow(const struct request_log *log, struct log_line *l,
	const char *id, const char *page, ssize_t tool, uint64_t total_us);
/* Adds the time and the memory of what ran; tool -1: nothing. */
void request_log_usage(
	struct log_line *l, ssize_t tool, const struct ss_result *result);
void request_log_end(const struct request_log *log, struct log_line *l);
/* A line of a host's own, at every level.  False: there is no log. */
bool request_log_fields(const struct request_log *log, const char *event,
	const struct ss_field *fields, size_t count);

#endif
