/* SPDX-License-Identifier: MIT */
/*
 * Borrowed text: struct ss_text of the public header, which need not end with
 * a NUL.  Numbers as text.
 */
#ifndef SS_BASE_TEXT_H
#define SS_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "statespace.h"

#define TEXT(literal) ((struct ss_text){ literal, sizeof(literal) - 1 })
struct ss_text text_of(const char *cstring); /* NULL gives an empty text */
bool text_is(struct ss_text t, const char *cstring);
bool text_equal(struct ss_text a, struct ss_text b);
bool text_starts(struct ss_text t, const char *prefix);
bool text_ends(struct ss_text t, const char *suffix);

/* Bytes that any number below fits in; no NUL is written. */
#define NUMBER_MAX 24
/* Writes decimal digits; returns how many bytes. */
size_t text_number(char out[static NUMBER_MAX], int64_t value);
/* Writes milliseconds with three decimals; returns how many bytes. */
size_t text_ms(char out[static NUMBER_MAX], uint64_t microseconds);

#endif
