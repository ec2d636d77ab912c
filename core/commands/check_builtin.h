/* SPDX-License-Identifier: MIT */
/*
 * Whether a built-in tool would refuse the words that a page's author wrote:
 * options of curl that it has not, a private URL, an operation that is none.
 */
#ifndef SS_COMMANDS_CHECK_BUILTIN_H
#define SS_COMMANDS_CHECK_BUILTIN_H

#include "page/lint.h"
#include "tools/tool.h"

/*
 * Calls fn for the first word that is refused; never for programs of the
 * system.  Pure.
 */
void check_builtin(const struct spec *s, const struct tool_bounds *bounds,
	lint_fn fn, void *ctx);

#endif
