/* SPDX-License-Identifier: MIT */
/* The known word that a misspelt one is probably meant to be. */
#ifndef SS_PAGE_NEAR_H
#define SS_PAGE_NEAR_H

#include "base/base.h"

/*
 * The name that at most one letter added, left out, changed or exchanged with
 * its neighbour makes of word; in names of six letters or more two.  Upper and
 * lower case, '-' and '_' are the same.  NULL: none is that near.
 */
const char *
near_word(struct ss_text word, const char *const *names, size_t count);
/*
 * The same where every other word is wrong anyway: also the name that word
 * shortens ("desc"), and the one that it is another word for ("cmd").
 */
const char *
near_key(struct ss_text word, const char *const *names, size_t count);

#endif
