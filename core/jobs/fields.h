/* SPDX-License-Identifier: MIT */
/*
 * The text of a job's files: lines of a key, a blank and a value, the last of
 * them `end`, so that a file that was cut is known.  A line break in a value is
 * written \n, a backslash \\.
 */
#ifndef SS_JOBS_FIELDS_H
#define SS_JOBS_FIELDS_H

#include "base/buf.h"

void fields_text(struct buf *out, const char *key, struct ss_text value);
void fields_number(struct buf *out, const char *key, int64_t value);
void fields_end(struct buf *out);

/* Does the text begin with whole fields? */
bool fields_are_whole(struct ss_text text);
/* The value of the first such line, decoded and cut to fit; false: none. */
bool fields_take(struct ss_text text, const char *key, char *out, size_t cap);
/* 0 where there is none, or no number. */
int64_t fields_take_number(struct ss_text text, const char *key);
/* What follows the line `end`. */
struct ss_text fields_rest(struct ss_text text);

#endif
