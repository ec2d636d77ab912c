/* SPDX-License-Identifier: MIT */
/* The answer for a client that prefers HTML: collects what html.c writes. */
#ifndef SS_HTTP_BROWSER_H
#define SS_HTTP_BROWSER_H

#include "http/exchange.h"

/* Is this GET or HEAD of a page answered with HTML? */
bool browser_wanted(const struct exchange *x, const char *path);
/* x->doc is an open page.  Errors: SS_INTERNAL. */
enum ss_err browser_answer(struct exchange *x);
/* Shows generated Markdown as the page at path. */
enum ss_err
browser_show(struct exchange *x, const char *path, struct ss_text text);
/* Is an error to this GET or HEAD answered with HTML? */
bool browser_wants_error(const struct exchange *x);
/*
 * Replaces the error's text in x->body by a page; keeps the text when memory
 * runs out.
 */
void browser_error(struct exchange *x);

#endif
