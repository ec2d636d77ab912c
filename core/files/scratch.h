/* SPDX-License-Identifier: MIT */
/*
 * The tools' private directory, TMPDIR: empty before every run, whatever the
 * run before it left there.
 */
#ifndef SS_FILES_SCRATCH_H
#define SS_FILES_SCRATCH_H

#include "base/base.h"
#include "base/error.h"

struct scratch {
	int fd; /* the directory; -1: none */
	char path[64];
	bool made;   /* by us: removed when closed */
	bool kept;   /* for the next one: only parked then, if it is empty */
	pid_t owner; /* the process that made it: only it removes */
};

#define SCRATCH_INIT ((struct scratch){ .fd = -1 })

/*
 * The names below /tmp.  A directory has the second name only while its owner
 * holds its lock (flock(2)) or after that has ended; with the first one it is
 * empty.
 */
#define SCRATCH_NEW "statespace-new."
#define SCRATCH_NAME "statespace-scratch."

/* Makes a fresh directory below /tmp, mode 0700, locked.  SS_INTERNAL. */
enum ss_err scratch_make(struct scratch *s, struct ss_error *err);
/*
 * The same for a process that runs one command, since on a disk making and
 * removing a directory costs as much as starting a small tool: takes the one
 * that the account's last such process parked, or makes it.  A parked one is
 * empty, has the mode 0500 and no lock.
 */
enum ss_err scratch_make_kept(struct scratch *s, struct ss_error *err);
/* Takes a directory that is already private to this process. */
enum ss_err
scratch_take(struct scratch *s, const char *path, struct ss_error *err);
/*
 * Empties it; false when that could not be done within the time, or when the
 * directory itself was changed: the process must not run another tool.
 */
bool scratch_empty(struct scratch *s, uint32_t budget_ms);
/* The same without a deadline, working at most a fifth of the time. */
bool scratch_empty_slowly(struct scratch *s);
void scratch_close(struct scratch *s);

#endif
