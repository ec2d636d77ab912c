/* SPDX-License-Identifier: MIT */
/* The step that would work after a request that no tool got to see. */
#ifndef SS_HTTP_REFUSAL_H
#define SS_HTTP_REFUSAL_H

#include "http/exchange.h"

/* Fills x->result's step, unless the call did or the code alone tells it. */
void http_refusal(struct exchange *x);

#endif
