/* SPDX-License-Identifier: MIT */
/*
 * Documents by which clients find the MCP server of a site, where it has one:
 * /mcp/server-card (SEP-2127) and /.well-known/ai-catalog.json, which names it.
 */
#ifndef SS_HTTP_DISCOVERY_H
#define SS_HTTP_DISCOVERY_H

#include "http/exchange.h"

/* Is this request, of any method, for one of them, and is MCP on? */
bool discovery_wanted(const struct exchange *x);
/* Errors  SS_METHOD for what is no GET or HEAD; SS_INTERNAL. */
enum ss_err discovery_answer(struct exchange *x);

#endif
