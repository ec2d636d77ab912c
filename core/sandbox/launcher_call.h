/* SPDX-License-Identifier: MIT */
/* The worker's side of its launcher (launcher.h). */
#ifndef SS_SANDBOX_LAUNCHER_CALL_H
#define SS_SANDBOX_LAUNCHER_CALL_H

#include "sandbox/policy.h"

/* The socket to the launcher, or -1; owned from now on. */
void launcher_attach(int socket);
bool launcher_is_attached(void);
/*
 * It died, or could not empty its scratch: this worker must run no more tools,
 * so that it is replaced, together with its launcher.
 */
bool launcher_is_broken(void);
/* Runs a command in the launcher; as sandbox_run. */
enum ss_err launcher_call(const struct policy *p, const struct spawn *s,
	struct spawn_result *result, struct ss_error *err);

#endif
