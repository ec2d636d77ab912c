/* SPDX-License-Identifier: MIT */
/* Escapes text for the place it is written to.  Pure; failures stick in out. */
#ifndef SS_WIRE_ESCAPE_H
#define SS_WIRE_ESCAPE_H

#include "base/buf.h"

/*
 * Text or a quoted attribute's value in HTML.  What is not UTF-8, and control
 * characters other than blanks, become U+FFFD.
 */
void escape_html(struct buf *out, const char *data, size_t len);
/* A path as part of a URL; '/' stays (RFC 3986 section 3.3). */
void escape_path(struct buf *out, const char *data, size_t len);
/*
 * An author's text as one line: a run of blanks and control characters becomes
 * one space.
 */
void escape_line(struct buf *out, const char *data, size_t len);
/*
 * A word as people are shown it: in quotes unless it is plainly one word, with
 * \n, and \uXXXX for other controls and for what is not seen or changes the direction of
 * text.
 */
void escape_shown(struct buf *out, const char *data, size_t len);
/* One word for a POSIX shell. */
void escape_shell(struct buf *out, const char *data, size_t len);

#endif
