/* SPDX-License-Identifier: MIT */
/*
 * Files that a site has without holding them (statespace-protocol(7), READING):
 * AGENTS.md teaches the protocol and lists pages and tools, llms.txt lists the
 * pages, the icon.  Made when they are asked for, never written into the site,
 * only where it has no file of that name.
 */
#ifndef SS_HTTP_VIRTUAL_H
#define SS_HTTP_VIRTUAL_H

#include "http/exchange.h"

/* Is this clean path one of them? */
bool virtual_is(const char *path);
/*
 * x->path is one, and the site has no such file.
 * Errors  SS_METHOD for a POST; SS_INTERNAL.
 */
enum ss_err virtual_answer(struct exchange *x);
/* The same for our own style and script, /__meta/view.css and view.js. */
enum ss_err virtual_meta(struct exchange *x);

#endif
