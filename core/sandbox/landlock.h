/* SPDX-License-Identifier: MIT */
/*
 * Landlock by its system calls, landlock(7): rulesets by the ABI that the
 * kernel reports, also with rights newer than the system's header.  ruleset.c
 * decides which paths get which rights.
 */
#ifndef SS_SANDBOX_LANDLOCK_H
#define SS_SANDBOX_LANDLOCK_H

#include "base/base.h"

/* Groups of rights; those that the kernel does not know are left out. */
enum {
	LAND_READ = 1 << 0,    /* files and listings */
	LAND_EXECUTE = 1 << 1, /* with LAND_READ */
	LAND_WRITE = 1 << 2,   /* all but execute and device files */
	LAND_DEVICE = 1 << 3,  /* read and write of one existing file */
	LAND_CONNECT = 1 << 4, /* unix sockets (ABI 9) */
	LAND_LIST = 1 << 5     /* names only */
};

/* The ABI in use: the kernel's, at most `most` (0: no cap); 0: none. */
int landlock_abi(int most);
/* Is the ABI in use enough to run tools, 3 or newer?  0 or why not, an errno. */
int landlock_check(int most);
/*
 * A new ruleset that refuses everything that this ABI can refuse: files, TCP
 * unless network is set, abstract sockets and signals to the outside.
 * A descriptor, or -1 and errno.
 */
int landlock_new(int abi, bool network);
/*
 * Grants rights beneath a directory or to a file, open with O_PATH.  0 or
 * errno.
 */
int landlock_allow_fd(int ruleset, int abi, int fd, unsigned rights);
/* For the child; cannot be undone.  0 or errno.  Async-signal-safe. */
int landlock_child_enter(int ruleset);

#endif
