/* SPDX-License-Identifier: MIT */
/*
 * The stages of a `pipe` tool (statespace-page(7), Tools), and the command
 * line that the helper program statespace-pipe gets.  Each stage is
 *
 *	COUNT NAME PROGRAM WORD...
 *
 * with COUNT words: no word can be taken for the start of another stage,
 * whatever it holds.
 */
#ifndef SS_TOOLS_STAGES_H
#define SS_TOOLS_STAGES_H

#include "base/arena.h"
#include "page/stages.h"

#define STAGES_HELPER "statespace-pipe" /* of libexec */

struct stage {
	const char *name;    /* for messages: as the author wrote it */
	const char *program; /* the file that runs */
	char *const *argv;   /* NULL-terminated, at least one word */
};

/* The helper's own command line, in arena; NULL: no memory. */
char *const *
stages_argv(struct arena *arena, const struct stage *stages, size_t count);
/*
 * Reads it again.  The stages are parts of argv, which is changed: the word
 * after a stage becomes its NULL.  Returns how many there are; 0: malformed.
 */
size_t stages_read(int argc, char **argv, struct stage out[static STAGES_MAX]);

#endif
