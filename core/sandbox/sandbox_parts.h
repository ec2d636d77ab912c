/* SPDX-License-Identifier: MIT */
/*
 * What the files of the sandbox share among themselves and with nobody else:
 * the birth of a confined process, its scratch, its launcher.
 */
#ifndef SS_SANDBOX_SANDBOX_PARTS_H
#define SS_SANDBOX_SANDBOX_PARTS_H

#include "run/cgroup.h"
#include "sandbox/sandbox.h"
#include "sandbox/view.h"

/* ---- birth (birth.c) ---- */

/* A process to be born, at one level and no other. */
struct confine_request {
	enum sandbox_level level;
	struct sandbox_process process;
	int only;      /* a descriptor to keep, as CONFINE_FIRST_FD; -1: all */
	int launcher;  /* the socket to the worker's launcher, or -1 */
	int launch_fd; /* its other end, which is the parent's, or -1 */
};

#define CONFINE_FIRST_FD 3

/*
 * The child runs worker(ctx) when every step succeeded; else *failed says
 * which one did not, and no child is left.
 */
bool confine_start(struct sandbox_plan *plan,
	const struct confine_request *wish, pid_t *pid, struct step *failed);

/* The memory group that this process was born into; closed: none. */
struct cgroup *sandbox_memory(void);

/* ---- the scratch of this process (clean.c) ---- */

/* Uses the directory at path from now on; it must be empty. */
bool sandbox_scratch_take(const char *path, struct step *s);
/*
 * Without a private /tmp: makes a directory of this process's own there, and
 * removes those that dead processes left.  Its path, or NULL.
 */
const char *sandbox_scratch_make(struct step *s);
/* Removes what sandbox_scratch_make made. */
void sandbox_scratch_leave(void);

/* ---- rulesets (ruleset.c) ---- */

/* This process's view was found without its loaders' covers. */
bool ruleset_view_is_spent(void);

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
bool launcher_is_broken(void);
/* As sandbox_run, over there. */
enum ss_err launcher_run(const struct policy *p, const struct spawn *s,
	struct spawn_result *result, struct ss_error *err);

#endif
