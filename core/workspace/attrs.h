/* SPDX-License-Identifier: MIT */
/*
 * Extended attributes that a tool may set (user.*, xattr(7)), without those that
 * overlayfs keeps for itself (user.overlay.*).
 */
#ifndef SS_WORKSPACE_ATTRS_H
#define SS_WORKSPACE_ATTRS_H

#include <stdbool.h>

/* A file system without attributes has none. */
bool attrs_same(int left, int right);
bool attrs_has(int fd);
/* Makes those of `to` what those of `from` are.  0 or errno. */
int attrs_copy(int from, int to);

#endif
