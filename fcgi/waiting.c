/* SPDX-License-Identifier: MIT */
#include "waiting.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool
waiting_open(struct waiting *w)
{
	void *page = mmap(NULL, sizeof(*w->count), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*w = (struct waiting){ .given = { -1, -1 }, .ready = { -1, -1 } };
	w->count = page != MAP_FAILED ? page : NULL;
	return w->count != NULL && parked_open(w->given) &&
		parked_open(w->ready);
}

void
waiting_close(struct waiting *w)
{
	parked_close(w->given);
	parked_close(w->ready);
	if (w->count != NULL)
		munmap(w->count, sizeof(*w->count));
	w->count = NULL;
}

static bool
put(const int ends[2], const struct parked_request *asked, int fd,
	const struct ss_wait *wait)
{
	struct parked_request r = *asked;

	r.body = (const char *)wait;
	r.body_len = sizeof(*wait);
	r.unfinished = wait->job_fd >= 0;
	r.saved = wait->job_fd;
	return parked_put(ends, &r, fd);
}

bool
waiting_give(const struct waiting *w, const struct parked_request *r, int fd,
	const struct ss_wait *wait)
{
	return atomic_load(&w->count->held) < atomic_load(&w->count->most) &&
		put(w->given, r, fd, wait);
}

bool
waiting_pass_on(const struct waiting *w, const struct parked_request *r, int fd,
	const struct ss_wait *wait)
{
	struct ss_wait without = *wait;

	without.job_fd = -1;
	return put(w->ready, r, fd, &without);
}

int
waiting_take(const int ends[2], struct parked_request *r, struct ss_wait *wait)
{
	int fd = parked_take(ends, r);

	if (fd < 0)
		return -1;
	if (r->body_len != sizeof(*wait)) {
		close(fd);
		if (r->unfinished)
			close(r->saved);
		return -1;
	}
	memcpy(wait, r->body, sizeof(*wait));
	wait->size = sizeof(*wait);
	wait->job_fd = r->unfinished ? r->saved : -1;
	r->body_len = 0;
	r->unfinished = false;
	r->saved = -1;
	return fd;
}
