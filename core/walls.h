/* SPDX-License-Identifier: MIT */
/*
 * What the files of the sandbox share among themselves and with nobody else:
 * the system call filter, the birth of a confined process, its scratch.
 */
#ifndef SS_WALLS_H
#define SS_WALLS_H

#include <linux/filter.h>

#include "sandbox.h"
#include "view.h"

/* ---- the system call filter (sandbox.c) ---- */

struct filter {
	unsigned short count;
	struct sock_filter *code; /* NULL: not made */
};

/*
 * The filter of a process: what it refuses depends on what is kept and on
 * whether namespaces hide the rest.
 */
enum ss_err filter_make(enum sandbox_level level, unsigned keeps,
	struct filter *out, struct ss_error *err);
/*
 * For one command of a launcher, on top of the launcher's own: the socket
 * families that this policy does not keep.
 */
enum ss_err
filter_make_narrow(unsigned keeps, struct filter *out, struct ss_error *err);
void filter_release(struct filter *f);
/* Needs no_new_privs.  0 or errno.  Async-signal-safe. */
int filter_child_enter(const struct filter *f);
/*
 * Refuses signals to other processes than this one, for Landlock before
 * ABI 6.  0 or errno.  Async-signal-safe.
 */
int filter_child_signals(void);

/* ---- birth (birth.c) ---- */

#define FILTER_KEEPS 8 /* combinations of KEEP_... */

struct sandbox_filter {
	struct filter of[SANDBOX_STRICT + 1][FILTER_KEEPS];
};

/*
 * One birth at one level and no other; *failed says which step failed.  The
 * child runs worker(ctx) when all of them succeeded.  False: no child is left.
 */
bool
birth_at(struct sandbox_plan *plan, enum sandbox_level level, unsigned keeps,
	int (*worker)(void *ctx), void *ctx, pid_t *pid, struct step *failed);

/* What the process being born knows, for sandbox_self. */
struct sandbox *sandbox_self_mutable(void);

/* The control socket to this worker's launcher, or -1 (launcher.c). */
extern int sandbox_launcher_fd;

/* ---- the scratch (scratch.c) ---- */

/* Uses the directory at path from now on; it must be empty. */
bool scratch_open(const char *path, struct step *s);
/*
 * Without a private /tmp: makes a directory of this process's own there, and
 * removes those that dead processes left.  path of cap bytes.
 */
bool scratch_make(char *path, size_t cap, struct step *s);
/* Removes what scratch_make made. */
void scratch_remove(const char *path);

#endif
