/* SPDX-License-Identifier: MIT */
/*
 * Media types: what a file is served as (never as something that can run
 * script in a browser), and what a client prefers (RFC 9110 section 12.5.1).
 */
#ifndef SS_WIRE_MEDIA_H
#define SS_WIRE_MEDIA_H

#include "base/base.h"

#define MEDIA_MARKDOWN "text/markdown; charset=utf-8"

/* By extension; "application/octet-stream" when unknown.  Static text. */
const char *media_type(const char *path);
/* Is content_type application/json or …+json, parameters ignored? */
bool media_is_json(const char *content_type);
/* The length of "image/png" in "image/png; a=b": what is before parameters. */
size_t media_plain_len(const char *content_type);
/*
 * Is output of this type text: text/..., JSON, XML (and so SVG), YAML, TOML,
 * script?  NULL: true.
 */
bool media_is_text(const char *content_type);
/*
 * What bytes that somebody declared to be of that type are sent as: plain text
 * for a type in which a browser runs script, as for files.
 */
const char *media_harmless(const char *content_type);
/*
 * Which of the offered types (no parameters) the Accept header prefers;
 * ties and a missing header go to the first.  Index, or -1: none acceptable.
 */
int media_prefer(const char *accept, const char *const *offers, size_t count);

#endif
