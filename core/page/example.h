/* SPDX-License-Identifier: MIT */
/*
 * A request that a tool takes, made of what its author wrote: examples,
 * choices, limits, else a value of the type.  Pure.
 */
#ifndef SS_PAGE_EXAMPLE_H
#define SS_PAGE_EXAMPLE_H

#include "page/spec.h"

/* Appends a value that the argument takes.  False: none is known. */
bool example_value(const struct argument *a, struct buf *out);

/* Is the argument in an example: required, or with examples of its own? */
bool example_is_shown(const struct spec *s, const struct argument *a);

/*
 * Can agents send the words of the tool at that place as they are?  Not those of
 * a tool whose words are not fixed, nor scripts, nor an example that an earlier
 * tool of the page would take: those are called by name.  *failed is set when
 * memory ran out: then the answer is false and not to be kept.
 */
bool example_is_command(const struct spec *specs, size_t index, bool *failed);
/*
 * Appends the JSON of a request: "command", or "tool_call" with this name.
 * {name} stands for a value that is not known.
 */
void example_command(const struct spec *s, struct buf *out);
void example_call(const struct spec *s, const char *name, struct buf *out);
/* The same with "arguments", which may be empty, and standard input in them. */
void example_arguments(const struct spec *s, const char *name, struct buf *out);

#endif
