/* SPDX-License-Identifier: MIT */
/*
 * What every room may use: sizes, a borrowed stretch of text, numbers, UTF-8.
 * No allocation, no system call.
 */
#ifndef SS_BASE_BASE_H
#define SS_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "statespace.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* A borrowed stretch of text: struct ss_text of the public header. */
#define TEXT(literal) ((struct ss_text){ literal, sizeof(literal) - 1 })
struct ss_text text_of(const char *cstring); /* NULL gives an empty text */
bool text_is(struct ss_text t, const char *cstring);
bool text_equal(struct ss_text a, struct ss_text b);
bool text_starts(struct ss_text t, const char *prefix);
bool text_ends(struct ss_text t, const char *suffix);

/* Room for any number below; there is no NUL after it. */
#define NUMBER_MAX 24
/* In decimal digits; returns how many bytes. */
size_t number_text(char out[static NUMBER_MAX], int64_t value);
/* Milliseconds with three decimals; returns how many bytes. */
size_t number_ms(char out[static NUMBER_MAX], uint64_t microseconds);

/*
 * Length in bytes (1 to 4) of the well-formed UTF-8 sequence at s, 0 if it is
 * none (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
 */
size_t utf8_sequence(const char *s, size_t len);
bool utf8_valid(const char *s, size_t len);
/* Writes codepoint (a scalar value) to out, returns 1 to 4. */
size_t utf8_encode(uint32_t codepoint, char out[4]);
/* How many ill-formed bytes at s, 1 to 3, one U+FFFD stands for. */
size_t utf8_ill_formed(const char *s, size_t len);
/* Where text of at most max bytes ends so that no sequence is cut. */
size_t utf8_cut(const char *s, size_t len, size_t max);

#endif
