/* SPDX-License-Identifier: MIT */
/*
 * A tool called by name and arguments instead of by its words: the name of a
 * tool, the names of its arguments, and their values.  Used by MCP and by POST's "tool_call".  Pure; the caller
 * has read the JSON.
 */
#ifndef SS_PAGE_TOOLCALL_H
#define SS_PAGE_TOOLCALL_H

#include "page/match.h"
#include "wire/proto.h"

/* Model APIs take 64 characters, of which clients use some as a prefix. */
#define TOOLCALL_NAME_MAX 57
#define TOOLCALL_PROPERTY_MAX SPEC_ARGUMENT_MAX

/* Names of the arguments that are no placeholders. */
#define TOOLCALL_ARGS "args"
#define TOOLCALL_ENV "env"
#define TOOLCALL_STDIN "stdin"
#define TOOLCALL_NEXT "next" /* of a tool whose output comes in parts */

/*
 * The name of a tool: the author's, else the page without its ending and the
 * program, "texts_grep"; for README.md the directory's name and the program.
 * Characters other than [A-Za-z0-9_-] become '-'.  Too long: as hashed.
 * False: no memory.
 */
bool toolcall_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);
/*
 * The same, cut to 48 characters and closed with '-' and 8 hexadecimal digits
 * over page and spec: for names that several tools would have.  False: no
 * memory.
 */
bool toolcall_hashed_name(const struct spec *spec, const char *page,
	char out[static TOOLCALL_NAME_MAX + 1]);

/* The name that calls a tool within its page. */
struct toolcall_label {
	char text[TOOLCALL_NAME_MAX + 1];
	bool shared; /* several tools have this short name: the text is hashed */
};

/* Of all tools of a page, for the caller to free; NULL: no memory. */
struct toolcall_label *
toolcall_labels(const struct spec *specs, size_t count, const char *page);

/*
 * What callers know an argument by: its name, or "argN" by its place among the
 * arguments when it has none, repeats an earlier one or would hide "args",
 * "env", "stdin" or "next".
 */
void toolcall_property(const struct spec *spec, const struct argument *a,
	char out[static TOOLCALL_PROPERTY_MAX + 1]);
/* The argument that has this name for callers; NULL: none. */
const struct argument *
toolcall_argument(const struct spec *spec, const char *name);
/*
 * Adds a hint with what the tool takes to err, which is SS_BAD_REQUEST; returns
 * it, or SS_INTERNAL.
 */
enum ss_err toolcall_hint(const struct spec *spec, struct ss_error *err);

/* What the arguments of a call mean. */
struct toolcall {
	struct given given;
	struct ss_pair *env; /* NULL: they hold none */
	size_t env_count;
	bool has_stdin;
	struct ss_text stdin_text;
	const char *next; /* NULL: none */
};

/*
 * Reads them: command_build makes words of out->given.  Everything in *out
 * lives in arena or is borrowed from args, not from spec.
 * Errors  SS_BAD_REQUEST naming the argument that is unknown or of the wrong
 *         type; the hint lists what the tool takes.  SS_INTERNAL.
 */
enum ss_err toolcall_read(struct arena *arena, const struct spec *spec,
	const struct proto_argument *args, size_t count, struct toolcall *out,
	struct ss_error *err);

#endif
