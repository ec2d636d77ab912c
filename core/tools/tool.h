/* SPDX-License-Identifier: MIT */
/*
 * The built-in tools (statespace-page(7), Built-in tools): which words name
 * them, what their arguments mean, and the program that does their work in a
 * confined child.
 *
 * `glob`, `read`, `write`, `edit` and `curl` are the words of RFD 001 and of
 * the file worker; of programs only curl has such a name, and a page names the
 * real one by its path.  `ls`, `grep` and `stat` remain the system's programs
 * with their own options, as pages of RFD 001 use them: the built-in ones are
 * `fs ls`, `fs grep`, `fs stat`.  All file tools may be written with `fs`.
 */
#ifndef SS_TOOLS_TOOL_H
#define SS_TOOLS_TOOL_H

#include "base/arena.h"
#include "base/error.h"

struct tool {
	const char *word;
	const char *helper; /* the program's name in libexec */
	bool http;
};

/* NULL: a program of the system.  word may be NULL. */
const struct tool *tool_find(const char *word);

#define TOOL_TARGET_ANY "*" /* every address: [grant] network = true */

/* What the page and the operator let it do; lists are borrowed. */
struct tool_bounds {
	size_t items;               /* of one answer */
	uint32_t timeout_ms;        /* of the whole run; 0: none */
	const char *const *targets; /* that the HTTP tool may reach as well */
	size_t target_count;
};

/*
 * Looks at a whole command before anything starts.
 * Errors  SS_BAD_REQUEST: wrong usage; SS_PATH_REFUSED, SS_ADDRESS_REFUSED,
 *         SS_NOT_ALLOWED (an option or a scheme).
 * Pure
 */
enum ss_err tool_check(const struct tool *tool, char *const argv[],
	const struct tool_bounds *bounds, struct ss_error *err);
/* The helper's own command line, in arena; NULL: no memory. */
char *const *tool_argv(struct arena *arena, const struct tool *tool,
	char *const argv[], const struct tool_bounds *bounds);

/*
 * What a helper wrote to SPAWN_REPORT_FD, as an error.  SS_OK when it wrote
 * nothing.
 */
enum ss_err tool_reported(struct ss_text report, struct ss_error *err);

/* ---- for the helper and the file worker ---- */

enum tool_op { OP_GLOB, OP_READ, OP_WRITE, OP_EDIT, OP_GREP, OP_STAT, OP_LS };

#define TOOL_OPERANDS 64

/* The words of a file tool, read. */
struct tool_words {
	enum tool_op op;
	const char *operands[TOOL_OPERANDS];
	size_t operand_count;
	bool bytes; /* the range counts bytes, not lines */
	uint64_t first, last;
	uint64_t before, after; /* lines of context */
	const char *include;
	bool all, new_only, ignore_case, fixed;
	bool brief;   /* grep -l: names only */
	bool details; /* ls -l */
};

/* argv[0] is the tool's word.  Errors and purity as tool_check. */
enum ss_err tool_words_read(
	char *const argv[], struct tool_words *out, struct ss_error *err);

#endif
