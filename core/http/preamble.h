/* SPDX-License-Identifier: MIT */
/*
 * Three lines above a page that say how its tools are called ([http] preamble,
 * statespace.toml(5)).
 */
#ifndef SS_HTTP_PREAMBLE_H
#define SS_HTTP_PREAMBLE_H

#include "http/exchange.h"

/* Has the page tools, and does Accept name text/markdown? */
bool preamble_wanted(const struct exchange *x);
void preamble_write(const struct exchange *x, struct buf *out);

#endif
