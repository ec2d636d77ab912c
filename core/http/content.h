/* SPDX-License-Identifier: MIT */
/*
 * A document as the answer to GET and HEAD: its type, its validators,
 * conditional requests and one range (statespace-protocol(7), READING; RFC 9110
 * sections 8.8, 13 and 14).  Files are streamed from the descriptor that was
 * checked.
 */
#ifndef SS_HTTP_CONTENT_H
#define SS_HTTP_CONTENT_H

#include "http/exchange.h"

/* x->doc is open.  Errors: SS_INTERNAL. */
enum ss_err content_answer(struct exchange *x);
/*
 * The answer is x->body, which we made: adds its tag, and makes it 304 when the
 * client has it.
 * cache    the Cache-Control.
 */
void content_made(struct exchange *x, const char *type, const char *cache);

#endif
