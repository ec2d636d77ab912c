/* SPDX-License-Identifier: MIT */
#include "site/job_wait.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/base.h"
#include "jobs/job.h"

/* 0: there is none. */
static uint64_t
size_of(int job, const char *name)
{
	struct stat st;

	return fstatat(job, name, &st, AT_SYMLINK_NOFOLLOW) == 0
		? (uint64_t)st.st_size
		: 0;
}

/* A number that changes when another file takes its place by rename(2). */
static uint64_t
mark_of(int job, const char *name)
{
	struct stat st;

	if (fstatat(job, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	return ((uint64_t)st.st_mtim.tv_sec * 1000000000u +
		       (uint64_t)st.st_mtim.tv_nsec) *
		31 +
		(uint64_t)st.st_ino;
}

void
job_wait_look(struct ss_wait *wait)
{
	wait->status = mark_of(wait->job_fd, JOB_STATUS);
	wait->seen[0] = size_of(wait->job_fd, JOB_OUT);
	wait->seen[1] = size_of(wait->job_fd, JOB_ERR);
}

bool
ss_wait_is_over(const struct ss_wait *wait)
{
	struct ss_wait now = *wait;

	job_wait_look(&now);
	return now.status != wait->status || now.seen[0] > wait->seen[0] ||
		now.seen[1] > wait->seen[1];
}
