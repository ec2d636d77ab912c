/* SPDX-License-Identifier: MIT */
/*
 * The log line of one request, whatever protocol carried it.
 */
#ifndef SS_SITE_REQUEST_LOG_H
#define SS_SITE_REQUEST_LOG_H

#include "base/log.h"
#include "statespace.h"

/* Begins the line; false: the configuration wants none. */
bool request_log_begin(
	const struct ss_site *site, struct log_line *l, const char *event);
/* Adds what ran; tool -1: nothing. */
void request_log_run(
	struct log_line *l, ssize_t tool, const struct ss_result *result);

#endif
