/* SPDX-License-Identifier: MIT */
/* What the files of the built-in tools share among themselves. */
#ifndef SS_TOOLS_PARTS_H
#define SS_TOOLS_PARTS_H

#include "tools/helper.h"
#include "tools/tool.h"

#define TOOL_ITEMS 1000 /* without a setting */

/*
 * The front of a helper's command line: its settings, then "--".  Returns
 * the tool's words after it, at least one; NULL: malformed.
 */
struct tool_setting {
	size_t items;
	uint32_t timeout_ms;
	const char *const *targets; /* within argv */
	size_t target_count;
};
char *const *tool_settings_read(char *const argv[], struct tool_setting *out);

/* words[0] is the tool's own; targets are set.  Errors as tool_http_parse. */
enum ss_err tool_http_read(
	char *const words[], struct tool_http *http, struct ss_error *err);

#endif
