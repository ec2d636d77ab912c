/* SPDX-License-Identifier: MIT */
/*
 * JSON as text (RFC 8259): is it whole and strict, and how is a string
 * written?  Without recursion and without building anything, so that whoever
 * builds a tree of it afterwards may be lenient.
 */
#ifndef SS_WIRE_JSON_H
#define SS_WIRE_JSON_H

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

#define JSON_DEPTH_MAX 64

/*
 * Is text one JSON value with our bounds: UTF-8, no control bytes, no NUL even
 * escaped, no lone surrogate, no duplicate member, depth at most
 * JSON_DEPTH_MAX, nothing after it?  SS_BAD_REQUEST says what and at which
 * byte; SS_INTERNAL when memory ran out.
 */
enum ss_err json_check(const char *text, size_t len, struct ss_error *err);
/* A JSON string with quotes; what is not UTF-8 becomes U+FFFD. */
bool json_string(struct buf *out, const char *data, size_t len);
/*
 * The longest beginning of data, of whole characters, whose JSON string is at
 * most room bytes, quotes included; *used is the size of that string.
 */
size_t json_fit(const char *data, size_t len, size_t room, size_t *used);

#endif
