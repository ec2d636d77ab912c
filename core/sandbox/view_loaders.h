/* SPDX-License-Identifier: MIT */
/* Covers the ELF loaders of a view by copies that do not run (loader.h). */
#ifndef SS_SANDBOX_VIEW_LOADERS_H
#define SS_SANDBOX_VIEW_LOADERS_H

#include "sandbox/step.h"

/* In the new root, after all other mounts: a grant may show /usr/lib again. */
bool view_loaders_cover(int root, struct step *s);
/*
 * Do the covers still lie over the loaders?  The kernel takes a mount away when
 * a package upgrade renames a new loader over the old one.  Then a tool can run
 * any program that it can read, until a new view is built.
 */
bool view_loaders_hold(void);

#endif
