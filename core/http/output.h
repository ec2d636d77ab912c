/* SPDX-License-Identifier: MIT */
/*
 * The answer of a POST whose tool ran: its result as JSON, or its output as it
 * is for a client that prefers the declared type (statespace-protocol(7),
 * RUNNING).
 */
#ifndef SS_HTTP_OUTPUT_H
#define SS_HTTP_OUTPUT_H

#include "http/exchange.h"

/* Answers with x->result. */
void output_answer(struct exchange *x);

#endif
