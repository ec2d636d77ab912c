/* SPDX-License-Identifier: MIT */
/*
 * What the helper program statespace-agentfs (fcgi/agentfs.c) uses of sessions.
 * Not for hosts, and not installed.
 */
#ifndef SS_WORKSPACE_HELPER_H
#define SS_WORKSPACE_HELPER_H

#include "base/digest.h"
#include "base/fd.h"
#include "state/state.h"
#include "workspace/at.h"
#include "workspace/own.h"
#include "workspace/tree.h"

#endif
