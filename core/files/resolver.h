/* SPDX-License-Identifier: MIT */
/*
 * The built-in struct ss_resolver: documents are files beneath a root, each
 * opened together with its directory.
 */
#ifndef SS_FILES_RESOLVER_H
#define SS_FILES_RESOLVER_H

#include "base/base.h"
#include "files/root.h"

/* Borrows root, which must not move. */
struct ss_resolver resolver_of_root(struct root *root);

#endif
