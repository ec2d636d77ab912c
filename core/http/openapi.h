/* SPDX-License-Identifier: MIT */
/*
 * /openapi.json: the tools of the listed pages as an OpenAPI 3.1 description,
 * one operation for each, with the names and schemas that MCP has.
 */
#ifndef SS_HTTP_OPENAPI_H
#define SS_HTTP_OPENAPI_H

#include "http/exchange.h"

/* Operations behind the first ones that fit are left out, and info says so. */
#define OPENAPI_BYTES_MAX ((size_t)2 << 20)

/*
 * Appends the description.  A path of OpenAPI has one POST, and a page several
 * tools: each operation has the page's path and its tool's name behind a '#',
 * which no client sends (RFC 9110 section 7.1).
 * Errors  SS_INTERNAL.
 */
enum ss_err
openapi_write(struct ss_site *site, struct buf *out, struct ss_error *err);

/* The answer to GET and HEAD. */
enum ss_err openapi_answer(struct exchange *x);

#endif
