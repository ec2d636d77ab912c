/* SPDX-License-Identifier: MIT */
/* One confined child, at one level and no other. */
#ifndef SS_SANDBOX_CONFINE_H
#define SS_SANDBOX_CONFINE_H

#include "sandbox/sandbox_plan.h"
#include "sandbox/step.h"

struct confine_request {
	enum sandbox_level level;
	unsigned keeps; /* KEEP_... */
	bool watched;   /* as in struct sandbox_process */
	bool brief;     /* SS_FORK_BRIEF */
	int only;       /* a descriptor to keep, as CONFINE_FIRST_FD; -1: all */
	struct cgroup *group;   /* to join; NULL: none */
	int (*main)(void *ctx); /* runs in the child; its exit status */
	void *ctx;
};

#define CONFINE_REQUEST_INIT ((struct confine_request){ .only = -1 })
#define CONFINE_FIRST_FD 3

/*
 * True when every step succeeded in the child, which then runs main(ctx).
 * Else *failed names the step that did not, and no child is left.
 */
bool confine_start(struct sandbox_plan *plan,
	const struct confine_request *request, pid_t *pid, struct step *failed);

#endif
