/* SPDX-License-Identifier: MIT */
/*
 * The Landlock ruleset of a policy, landlock(7): made once, kept with the
 * cached page, entered by each command right before exec.
 */
#ifndef SS_SANDBOX_RULESET_H
#define SS_SANDBOX_RULESET_H

#include "sandbox/policy.h"

struct ruleset_mark;

struct ruleset {
	int fd; /* -1: none, or Landlock is not in use here */
	struct ruleset_mark *marks;
	size_t mark_count;
};

#define RULESET_INIT ((struct ruleset){ .fd = -1 })

/*
 * Makes the Landlock ruleset of a policy; fd stays -1 where sandbox_self()
 * does not use Landlock.  The marks live in arena.
 * Errors  SS_SANDBOX_UNAVAILABLE, detail names the step; SS_INTERNAL.
 */
enum ss_err ruleset_make(struct arena *arena, const struct policy *p,
	struct ruleset *out, struct ss_error *err);
/*
 * Rules hold on to inodes: false when a program was replaced, or a directory
 * of the page's path changed and a dot entry may be new.  Then release it and
 * make another one.  A few stat calls.
 */
bool ruleset_is_fresh(const struct ruleset *r);
void ruleset_release(struct ruleset *r);
/*
 * Did ruleset_make find a loader of the view without its cover (loader.h)?
 * Then this process must run no more tools; a new one builds a new view.
 */
bool ruleset_view_is_stale(void);

#endif
