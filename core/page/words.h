/* SPDX-License-Identifier: MIT */
/*
 * The rule of paths for words that an agent chose: below the page's directory
 * (statespace-protocol(7), RUNNING).  Pure.
 */
#ifndef SS_PAGE_WORDS_H
#define SS_PAGE_WORDS_H

#include "page/match.h"

/*
 * SS_PATH_REFUSED when it is absolute or has a ".." component.  matched: its
 * author's regex decided whether it may be absolute.
 */
enum ss_err word_check(struct ss_text word, bool matched, struct ss_error *err);
/* The same for each of the agent's words in a command. */
enum ss_err words_check(const struct command *command, struct ss_error *err);

#endif
