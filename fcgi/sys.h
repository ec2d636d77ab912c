/* SPDX-License-Identifier: MIT */
/* System calls as every command here needs them. */
#ifndef FCGI_SYS_H
#define FCGI_SYS_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "statespace.h"

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* CLOCK_MONOTONIC. */
uint64_t sys_clock_ns(void);
uint64_t sys_clock_us(void);

/* All bytes to a descriptor that blocks, or false. */
bool sys_write_all(int fd, const char *data, size_t len);

/*
 * Gives these signals a handler and blocks them; open gets the mask for
 * ppoll(2), with which they arrive.  SIGPIPE is ignored.
 */
void sys_block_signals(const int *numbers, size_t count,
	void (*handler)(int number), sigset_t *open);

/*
 * Takes the account's groups, gid and uid for good.  False: not all of them.
 * Nothing to do where we are not root, or root is the only account that there
 * is (user_namespaces(7)).
 */
bool sys_become(const struct ss_account *account);

/*
 * The first file `name` in one of count places, which are relative to the
 * directory of this program; false: there is none.
 */
bool sys_find_beside(const char *const places[], size_t count, const char *name,
	char path[static PATH_MAX]);

#endif
