/* SPDX-License-Identifier: MIT */
/*
 * The answer for a client that prefers HTML: gathers what the page says,
 * what stands around it and how it was asked for, and has html write it.
 */
#ifndef SS_HTTP_BROWSER_H
#define SS_HTTP_BROWSER_H

#include "http/exchange.h"

/* Is this GET or HEAD of a page to be answered with HTML? */
bool browser_wanted(const struct exchange *x, const char *path);
/* x->doc is an open page.  Errors: SS_INTERNAL. */
enum ss_err browser_answer(struct exchange *x);
/* Markdown of our own, shown the same way; path as a page's. */
enum ss_err
browser_show(struct exchange *x, const char *path, struct ss_text text);
/* Is the answer to this GET or HEAD, an error, to be a page? */
bool browser_wants_error(const struct exchange *x);
/* Makes the error's text in x->body a page; it stays text where that fails. */
void browser_error(struct exchange *x);

#endif
