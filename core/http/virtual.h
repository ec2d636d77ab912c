/* SPDX-License-Identifier: MIT */
/*
 * Files that a site has without containing them (statespace-protocol(7),
 * READING): AGENTS.md teaches the protocol and lists pages and tools, llms.txt
 * lists the pages, and the icon.  Made for each request, and only where the
 * site has no file of that name.
 */
#ifndef SS_HTTP_VIRTUAL_H
#define SS_HTTP_VIRTUAL_H

#include "http/exchange.h"

/* Is this clean path one of them? */
bool virtual_is(const char *path);
/*
 * Answers x->path, which is one that the site does not contain.
 * Errors  SS_METHOD for a POST; SS_INTERNAL.
 */
enum ss_err virtual_answer(struct exchange *x);
/* The same for /__meta/view.css and view.js. */
enum ss_err virtual_meta(struct exchange *x);

#endif
