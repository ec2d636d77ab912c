/* SPDX-License-Identifier: MIT */
/*
 * What a tool allows: the values that a command's words give for its
 * arguments, and the words that values make (statespace-page(7), Tools).
 * Every way to call a tool passes both.
 */
#ifndef SS_PAGE_MATCH_H
#define SS_PAGE_MATCH_H

#include "page/spec.h"

/* What a call gives for a tool's arguments. */
struct given {
	struct ss_text *values; /* one for each argument; data NULL: none */
	size_t count;
	const struct ss_text *extra; /* words to append */
	size_t extra_count;
	/* Set by match_words alone. */
	bool matched;                /* each value is one that it takes */
	const struct ss_text *words; /* of a plain tool: its command's */
};

/* Words of one command, and the part that each was made from. */
struct command {
	const struct spec *spec;
	struct ss_text *words;     /* each NUL-terminated */
	const struct part **parts; /* NULL: appended by the agent */
	size_t count;
	const struct ss_text *values; /* as in struct given, with defaults */
};

/*
 * The first way in which the words are a command of the tool.  *out lives in
 * arena and borrows words; NULL: not wanted.
 * PATTERN_LIMIT, PATTERN_MEMORY: refuse it.
 */
enum pattern_result
match_words(const struct spec *s, const struct ss_text *words, size_t count,
	struct arena *arena, struct given *out);
/* The same for a caller who only asks whether. */
enum pattern_result
spec_match(const struct spec *s, const struct ss_text *words, size_t count);
/*
 * The first tool that matches: its index in *tool, the values in *out (NULL:
 * not wanted).
 * Errors  SS_NOT_ALLOWED; the hint lists the tools as their author wrote
 *         them, as many as fit.  SS_INTERNAL.
 */
enum ss_err match_choose(const struct spec *specs, size_t count,
	const struct ss_text *words, size_t word_count, struct arena *arena,
	size_t *tool, struct given *out, struct ss_error *err);

/* Nothing given yet, in arena.  False: no memory. */
bool given_init(struct given *g, const struct spec *s, struct arena *arena);
/*
 * The command that the values make: defaults filled in, optional words without
 * a value left out.  The words live in arena or are the given ones; parts are
 * the spec's.
 * Errors  SS_BAD_REQUEST (an argument is missing, a value is none that it
 *         takes, or these values are of another tool), SS_COMMAND_TOO_LARGE,
 *         SS_INTERNAL.
 */
enum ss_err command_build(struct arena *arena, const struct spec *s,
	const struct given *given, struct command *out, struct ss_error *err);

#endif
