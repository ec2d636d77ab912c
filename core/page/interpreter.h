/* SPDX-License-Identifier: MIT */
/* Which of a tool's words are scripts: those that an interpreter's -c takes. */
#ifndef SS_PAGE_INTERPRETER_H
#define SS_PAGE_INTERPRETER_H

#include "page/part.h"

/* Starts empty; then each part of a tool in turn. */
struct interpreter_scan {
	size_t seen;
	bool named; /* an interpreter, perhaps after a wrapper (env, timeout) */
	bool option; /* the last part takes a script */
};

enum interpreter_word {
	INTERPRETER_NONE,
	INTERPRETER_OPTION, /* -c, or --eval=SCRIPT */
	INTERPRETER_SCRIPT  /* the word after it */
};

/*
 * The author's words, also those with arguments in them; a program that the
 * agent names may be an interpreter.
 */
enum interpreter_word
interpreter_next(struct interpreter_scan *s, const struct part *p);

#endif
