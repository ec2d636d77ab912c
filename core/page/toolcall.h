/* SPDX-License-Identifier: MIT */
/*
 * A tool called by name and arguments instead of by its words: the name of a
 * tool, the names of its arguments, and the words that arguments become, which
 * the spec matches.  Used by MCP and by POST's "tool_call".  Pure; the caller
 * has read the JSON.
 */
#ifndef SS_PAGE_TOOLCALL_H
#define SS_PAGE_TOOLCALL_H

#include "page/spec.h"
#include "wire/proto.h"

/* Model APIs take 64 characters, of which clients use some as a prefix. */
#define TOOLCALL_NAME_MAX 57
#define TOOLCALL_PROPERTY_MAX 128

/* Names of the arguments that are no placeholders. */
#define TOOLCALL_ARGS "args"
#define TOOLCALL_ENV "env"
#define TOOLCALL_STDIN "stdin"

/*
 * The name of a tool: the author's, else the page without its ending and the
 * program, "texts_grep"; for README.md the directory's name and the program.
 * Characters other than [A-Za-z0-9_-] become '-'.  Too long: as hashed.
 */
void toolcall_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);
/*
 * The same, cut to 48 characters and closed with '-' and 8 hexadecimal digits
 * over page and spec: for names that several tools would have.
 */
void toolcall_hashed_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);

/*
 * The argument for part i, a placeholder: its name, or "argN" by its place
 * among the placeholders when it has none, repeats an earlier one or would
 * hide "args", "env" or "stdin".  False: part i is no placeholder.
 */
bool toolcall_property(const struct spec *spec, size_t i,
	char out[static TOOLCALL_PROPERTY_MAX + 1]);

/* The placeholder whose argument has this name; NULL: none. */
const struct part *toolcall_part(const struct spec *spec, const char *name);
/* Is this a word for it? */
bool toolcall_fits(const struct part *p, struct ss_text word);

/*
 * The request that the arguments mean: words that match spec, env, stdin.
 * Everything in *out lives in arena or is borrowed from args, not from spec.
 * Errors  SS_BAD_REQUEST naming the argument that is missing, unknown, of the
 *         wrong type or not what its pattern wants; the hint lists what the
 *         tool takes.  SS_COMMAND_TOO_LARGE.  SS_INTERNAL.
 */
enum ss_err toolcall_words(struct arena *arena, const struct spec *spec,
	const struct proto_argument *args, size_t count,
	struct proto_request *out, struct ss_error *err);

#endif
