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
 * The filter of a process that keeps this.  FILTER_ALONE: pid 1 of its own
 * namespace, which needs no pidfd to signal and gives its tools none.
 */
#define FILTER_ALONE (1u << 3)
enum ss_err
filter_make(unsigned keeps, struct filter *out, struct ss_error *err);
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
	struct filter whole[2 * FILTER_KEEPS]; /* with FILTER_ALONE */
	struct filter narrow[FILTER_KEEPS];    /* made for launchers only */
};

/* A process to be born, at one level and no other. */
struct birth_wish {
	enum sandbox_level level;
	unsigned keeps;
	int (*worker)(void *ctx);
	void *ctx;
	int only;     /* a descriptor to keep, as BIRTH_KEPT; -1: all */
	int launcher; /* the socket to the worker's launcher, or -1 */
};

#define BIRTH_KEPT 3

/*
 * The child runs worker(ctx) when every step succeeded; else *failed says
 * which one did not, and no child is left.
 */
bool birth_at(struct sandbox_plan *plan, const struct birth_wish *wish,
	pid_t *pid, struct step *failed);
/* Makes the filters that birth_narrow hands out in what is born later. */
bool birth_make_narrow(struct sandbox_plan *plan, unsigned keeps);
/* filter_make_narrow's for a process that was born; NULL: none. */
const struct filter *birth_narrow(unsigned keeps);

/* ---- the scratch of this process (clean.c) ---- */

/* Uses the directory at path from now on; it must be empty. */
bool walls_scratch_take(const char *path, struct step *s);
/*
 * Without a private /tmp: makes a directory of this process's own there, and
 * removes those that dead processes left.  Its path, or NULL.
 */
const char *walls_scratch_make(struct step *s);
/* Removes what walls_scratch_make made. */
void walls_scratch_leave(void);

/* ---- the launcher (launcher.c) ---- */

/* What a plan's launcher keeps: everything that its ceiling could grant. */
unsigned launcher_keeps(const struct sandbox_plan *plan);
/*
 * In the parent: a launcher at the plan's level behind socket, which it owns.
 */
bool launcher_fork(struct sandbox_plan *plan, int socket, struct step *failed);
/* In the worker: the socket to it, or -1; owned from now on. */
void launcher_attach(int socket);
bool launcher_is_attached(void);
/* It died, or left something behind: this worker is spent too. */
bool walls_launcher_broken(void);
/* As sandbox_run, over there. */
enum ss_err launcher_run(const struct policy *p, const struct spawn *s,
	struct spawn_result *result, struct ss_error *err);

#endif
