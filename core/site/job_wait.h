/* SPDX-License-Identifier: MIT */
/*
 * Whether a job has gone on (struct ss_wait): told by its files alone, which
 * are not read, so that a process that must not read them can ask.
 */
#ifndef SS_SITE_JOB_WAIT_H
#define SS_SITE_JOB_WAIT_H

#include "statespace.h"

/* Notes the files of wait->job_fd as they are now. */
void job_wait_look(struct ss_wait *wait);

#endif
