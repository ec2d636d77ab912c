/* SPDX-License-Identifier: MIT */
/*
 * The script of a `script` tool (statespace-page(7), Tools): a file of the
 * site that no tool may write, and what its first line says it is run by.  It
 * is read as text, so it needs no x bit.
 */
#ifndef SS_SITE_SCRIPT_H
#define SS_SITE_SCRIPT_H

#include "page/env_fill.h"
#include "sandbox/program.h"
#include "site/documents.h"

struct script {
	/* A name in PATH where that is the same file, else absolute. */
	char program[PROGRAM_LINE_MAX + 1];
	char option[PROGRAM_LINE_MAX + 1]; /* of the interpreter; "": none */
	char starts[PROGRAM_LINE_MAX + 1]; /* what env(1) starts; "": none */
};

/*
 * Opens and reads the script that a page names.
 *
 * page_dir  the page's directory, clean
 * dir_fd    the same, open: the script is the file that path leads to from
 *           there; -1: unknown
 * path      relative to page_dir; ".." stays within the site
 * Errors    SS_EXEC_FAILED: not there, no file, or no interpreter;
 *           SS_PATH_REFUSED: it leaves the site; SS_NOT_ALLOWED: tools may
 *           write it; SS_INTERNAL.
 */
enum ss_err script_read(const struct documents *d, const char *page_dir,
	int dir_fd, const char *path, struct script *out, struct ss_error *err);

/*
 * Puts what runs the script before its arguments: the interpreter, its option,
 * the script's path.  False: no memory.
 */
bool script_put(struct arena *arena, const struct script *s, const char *path,
	struct env_command *words);

#endif
