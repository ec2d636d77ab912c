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
 * pattern.h compiles it) finds.  False when none is certain to, so that a
 * client must not check it; out may then hold a part of it.
 */
bool ecma_write(struct buf *out, const char *source, size_t len);
/*
 * Writes the words of "^(one|two)$", each followed by a NUL.  False when the
 * expression is no such list; out may then hold some of them.
 */
bool ecma_choices(struct buf *out, const char *source, size_t len);

#endif
