/* SPDX-License-Identifier: MIT */
/* Do all that names a site's tools name the same ones, by the same words? */
#ifndef SS_COMMANDS_CHECK_WORDS_H
#define SS_COMMANDS_CHECK_WORDS_H

#include "page/lint.h"
#include "site/site.h"

/*
 * Compares AGENTS.md, openapi.json, the names of MCP and of the browser's cards,
 * and what matches a command.  Each difference is a mistake of this program,
 * told to fn as an error.  False: no memory.
 */
bool check_words(struct ss_site *site, lint_fn fn, void *ctx);

#endif
