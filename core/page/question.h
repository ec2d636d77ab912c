/* SPDX-License-Identifier: MIT */
/*
 * The question of `confirm:` with a call's values in it, in one line
 * (statespace-page(7), Questions to a person).  Pure.
 */
#ifndef SS_PAGE_QUESTION_H
#define SS_PAGE_QUESTION_H

#include "page/env.h"
#include "page/spec.h"

/* A longer value is cut: the whole command is shown below the question. */
#define QUESTION_VALUE_MAX 80

/*
 * Appends spec->question.  values are those of a struct command; of a variable
 * the request's value is shown where it is the one that the tool gets, and
 * never the server's.
 */
void question_fill(const struct spec *spec, const struct ss_text *values,
	const struct env_scope *scope, struct buf *out);

#endif
