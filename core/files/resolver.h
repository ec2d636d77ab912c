/* SPDX-License-Identifier: MIT */
/*
 * The built-in struct ss_resolver: documents are files beneath a root.  Every
 * document it opens brings its directory along.
 */
#ifndef SS_FILES_RESOLVER_H
#define SS_FILES_RESOLVER_H

#include "base/base.h"
#include "files/root.h"

/* Borrows root, which has to stay where it is. */
struct ss_resolver resolver_of_root(struct root *root);

#endif
