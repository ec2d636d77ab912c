/* SPDX-License-Identifier: MIT */
/*
 * What a body that is no request probably asks for: words or a call under other
 * names, a command in one string, words without an object, form data's text.
 */
#ifndef SS_SITE_MEANT_H
#define SS_SITE_MEANT_H

#include "base/arena.h"
#include "wire/proto.h"

/* A name, or words. */
struct meant {
	const char *name;
	struct proto_argument *args;
	size_t arg_count;
	struct ss_text *words;
	size_t word_count;
};

/* All in arena.  False: nothing can be told, or memory ran out. */
bool meant_read(
	struct arena *arena, const char *body, size_t len, struct meant *out);

#endif
