/* SPDX-License-Identifier: MIT */
/*
 * A page's regular expression as JSON Schema wants it: ECMA-262, in unicode
 * mode.  Pure.
 */
#ifndef SS_WIRE_ECMA_H
#define SS_WIRE_ECMA_H

#include "base/buf.h"

/*
 * Writes an expression that finds in every text what source (PCRE2, as
 * pattern.h compiles it) finds.  False, and out may hold a part of it: there
 * is none that is surely the same, so a client must not check it.
 */
bool ecma_write(struct buf *out, const char *source, size_t len);
/*
 * Writes the words of "^(one|two)$", each with a NUL behind it.  False, and
 * out may hold some: the expression is no such list.
 */
bool ecma_choices(struct buf *out, const char *source, size_t len);

#endif
