/* SPDX-License-Identifier: MIT */
/* Bytes of a tool's output as one event (statespace-protocol(7), Events). */
#ifndef SS_HTTP_OUTPUT_EVENT_H
#define SS_HTTP_OUTPUT_EVENT_H

#include "http/events.h"

/*
 * Sends them as text, or in base64 where they are not UTF-8.  False: the client
 * has left, or memory ran out.
 */
bool output_event(struct exchange *x, const char *name, const char *id,
	const char *bytes, size_t len);

#endif
