/* SPDX-License-Identifier: MIT */
/* UTF-8 (RFC 3629). */
#ifndef SS_BASE_UTF8_H
#define SS_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Length in bytes (1 to 4) of the well-formed sequence at s; 0 when there is
 * none: overlong forms, surrogates and what is above U+10FFFF are ill-formed.
 */
size_t utf8_sequence(const char *s, size_t len);
bool utf8_valid(const char *s, size_t len);
/* Writes codepoint (a scalar value) to out, returns 1 to 4. */
size_t utf8_encode(uint32_t codepoint, char out[4]);
/* How many ill-formed bytes at s, 1 to 3, one U+FFFD replaces. */
size_t utf8_ill_formed(const char *s, size_t len);
/*
 * How many bytes at the end, 0 to 3, begin a sequence that more bytes could
 * complete.
 */
size_t utf8_unfinished(const char *s, size_t len);
/* The length, at most max, to which text is cut without breaking a sequence. */
size_t utf8_cut(const char *s, size_t len, size_t max);

#endif
