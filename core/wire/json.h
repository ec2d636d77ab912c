/* SPDX-License-Identifier: MIT */
/*
 * JSON as text (RFC 8259): checks that it is strict, and writes strings.
 * Neither recurses nor builds a tree: json_tree.h builds one from text that was
 * checked here.
 */
#ifndef SS_WIRE_JSON_H
#define SS_WIRE_JSON_H

#include "base/base.h"
#include "base/buf.h"
#include "base/error.h"

#define JSON_DEPTH_MAX 64

/*
 * Checks that text is one JSON value and nothing after it: UTF-8, no control
 * bytes, no NUL even escaped, no lone surrogate, no duplicate member, depth at
 * most JSON_DEPTH_MAX.  SS_BAD_REQUEST names the problem and its byte;
 * SS_INTERNAL when memory ran out.
 */
enum ss_err json_check(const char *text, size_t len, struct ss_error *err);
/* A JSON string with quotes; what is not UTF-8 becomes U+FFFD. */
bool json_string(struct buf *out, const char *data, size_t len);
/*
 * A value that json_check took, without the blanks and line breaks around its
 * words.
 */
bool json_compact(struct buf *out, const char *text, size_t len);
/*
 * Length of the longest start of data, in whole characters, whose JSON string
 * has at most `most` bytes with its quotes; *used is that string's length.
 */
size_t json_fit(const char *data, size_t len, size_t most, size_t *used);

#endif
