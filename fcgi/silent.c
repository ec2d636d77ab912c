/* SPDX-License-Identifier: MIT */
#include "silent.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "parked.h"
#include "sys.h"
#include "worker.h"

#define OTHER_FILES 32 /* descriptors of the status server for all else */

bool
silent_open(struct silent *s)
{
	s->ready[0] = s->ready[1] = -1;
	return parked_open(s->given) && parked_open(s->ready);
}

void
silent_close(struct silent *s)
{
	parked_close(s->given);
	parked_close(s->ready);
}

static void
queue_fd(const int ends[2], int fd)
{
	struct parked_request r = { .begun_us = sys_clock_us() };

	parked_put(ends, &r, fd);
	close(fd);
}

void
silent_give(const struct silent *s, int fd)
{
	queue_fd(s->given, fd);
}

void
silent_pass_on(const struct silent *s, int fd)
{
	queue_fd(s->ready, fd);
}

int
silent_take_ready(const struct silent *s)
{
	struct parked_request r;

	return parked_take(s->ready, &r);
}

bool
silent_set_open(struct silent_set *set)
{
	struct rlimit files = { .rlim_cur = 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	set->most = files.rlim_cur < SILENT_MAX + OTHER_FILES
		? (unsigned)files.rlim_cur - OTHER_FILES
		: SILENT_MAX;
	set->count = 0;
	for (unsigned i = 0; i < SILENT_MAX; i++)
		set->held[i].fd = -1;
	set->epoll = epoll_create1(EPOLL_CLOEXEC);
	return set->epoll >= 0;
}

/* epoll(7): a description that lives on in another process stays in a set. */
static int
let_go(struct silent_set *set, unsigned i)
{
	int fd = set->held[i].fd;

	epoll_ctl(set->epoll, EPOLL_CTL_DEL, fd, NULL);
	set->held[i].fd = -1;
	set->count--;
	return fd;
}

/* A free entry, or that of the oldest, which is closed. */
static unsigned
free_entry(struct silent_set *set)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < set->most; i++) {
		if (set->held[i].fd < 0)
			return i;
		if (set->held[i].since_us < set->held[oldest].since_us)
			oldest = i;
	}
	close(let_go(set, oldest));
	return oldest;
}

void
silent_hold(struct silent_set *set, int fd, bool own)
{
	unsigned i = free_entry(set);
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = i };

	if (epoll_ctl(set->epoll, EPOLL_CTL_ADD, fd, &event) < 0) {
		close(fd);
		return;
	}
	set->held[i].fd = fd;
	set->held[i].own = own;
	set->held[i].since_us = sys_clock_us();
	set->count++;
}

void
silent_collect(struct silent_set *set, const struct silent *s)
{
	struct parked_request r;
	int fd;

	while ((fd = parked_take(s->given, &r)) >= 0)
		silent_hold(set, fd, false);
}

int
silent_next(struct silent_set *set, bool *own)
{
	struct epoll_event event;

	if (set->count == 0 || epoll_wait(set->epoll, &event, 1, 0) != 1)
		return -1;
	*own = set->held[event.data.u32].own;
	return let_go(set, event.data.u32);
}

void
silent_expire(struct silent_set *set)
{
	uint64_t now = sys_clock_us();

	for (unsigned i = 0; set->count > 0 && i < set->most; i++)
		if (set->held[i].fd >= 0 &&
			now - set->held[i].since_us >= SILENT_KEEP_US)
			close(let_go(set, i));
}

void
silent_set_close(struct silent_set *set, const struct silent *s)
{
	for (unsigned i = 0; i < set->most; i++) {
		if (set->held[i].fd < 0)
			continue;
		if (set->held[i].own)
			close(set->held[i].fd);
		else
			silent_give(s, set->held[i].fd);
	}
	close(set->epoll);
}
