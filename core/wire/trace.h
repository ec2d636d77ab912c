/* SPDX-License-Identifier: MIT */
/*
 * traceparent of W3C Trace Context: by it the spans of one request are found in
 * the logs of all programs that it went through.
 */
#ifndef SS_WIRE_TRACE_H
#define SS_WIRE_TRACE_H

#include "base/base.h"

/* The variable that a tool gets it in, where the page lists the name. */
#define TRACE_VARIABLE "TRACEPARENT"

/* NULL unless it is one: 00-TRACE-SPAN-FLAGS, in lower case. */
const char *trace_parent(const char *text);

#endif
