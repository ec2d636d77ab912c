/* SPDX-License-Identifier: MIT */
/*
 * A tool called by name (toolname.h) and arguments instead of by its words: the
 * names of its arguments, and their values.  Used by MCP and by POST's
 * "tool_call".  Pure; the caller has read the JSON.
 */
#ifndef SS_PAGE_TOOLCALL_H
#define SS_PAGE_TOOLCALL_H

#include "page/match.h"
#include "wire/proto.h"

#define TOOLCALL_PROPERTY_MAX SPEC_ARGUMENT_MAX

/* Names of the arguments that are no placeholders. */
#define TOOLCALL_ARGS "args"
#define TOOLCALL_ENV "env"
#define TOOLCALL_STDIN "stdin"
#define TOOLCALL_NEXT "next" /* of a tool whose output comes in parts */

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
