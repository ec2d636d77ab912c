/* SPDX-License-Identifier: MIT */
/*
 * The system call filters, seccomp(2): plain BPF that
 * core/sandbox/filters/make.c wrote when the library was built.
 */
#ifndef SS_SANDBOX_FILTER_H
#define SS_SANDBOX_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

struct filter {
	unsigned short count;
	const struct sock_filter *code;
};

/* What a filter allows; the first two are KEEP_... of keeps.h. */
enum {
	FILTER_NETWORK = 1 << 0,
	FILTER_UNIX = 1 << 1,
	/* In a narrow one; a whole one has it with FILTER_NETWORK. */
	FILTER_ROUTES = 1 << 2,
	/*
	 * For pid 1 of a pid namespace of its own, and its tools: without
	 * pidfd_send_signal(2).
	 */
	FILTER_ALONE = 1 << 2,
	/* In a whole one: what overlay.c mounts with, for its launcher alone. */
	FILTER_MOUNTS = 1 << 3,

	FILTER_NARROW = 1 << 3, /* how many of each kind */
	FILTER_WHOLE = 1 << 4
};

/*
 * Of a process that keeps this (KEEP_...).  mounts: it may mount; each of its
 * commands enters one without.
 */
const struct filter *filter_whole(unsigned keeps, bool alone, bool mounts);
/*
 * For one command of a launcher, beside the launcher's own filter: refuses the
 * socket families that the command's policy does not keep.  routes: allows
 * rtnetlink(7).
 */
const struct filter *filter_narrow(unsigned keeps, bool routes);

/* Needs no_new_privs.  0 or errno.  Async-signal-safe. */
int filter_child_enter(const struct filter *f);
/*
 * Refuses signals to other processes than this one, for Landlock before
 * ABI 6.  0 or errno.  Async-signal-safe.
 */
int filter_child_signals(void);
/*
 * Refuses calls that change mode, owner, times or extended attributes of a file
 * by its path: Landlock knows no rights for them.  0 or errno.
 * Async-signal-safe.
 */
int filter_child_attributes(void);

/*
 * From now on mmap(2) of shared memory without a file is decided by the reader
 * of *listener (seccomp_unotify(2)); with pass also every clone(2), unless its
 * last argument, which the kernel ignores, is *pass.  What `first` refuses is
 * refused before.  0 or errno: EBUSY where a filter with a listener is in force
 * already.
 */
int filter_child_listen(
	const struct filter *first, const uint64_t *pass, int *listener);
/* The same mmap(2) fails with ENOMEM, where there can be no listener. */
int filter_child_unshared(void);
bool filter_is_mmap(int nr);

#endif
