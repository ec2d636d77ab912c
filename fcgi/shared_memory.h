/* SPDX-License-Identifier: MIT */
/*
 * Memory of all processes of a pool, mapped twice: a process that unmaps the
 * first mapping, or keeps its own page of it, can only read the second one,
 * which mprotect(2) cannot make writable.
 */
#ifndef FCGI_SHARED_MEMORY_H
#define FCGI_SHARED_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Zeroed, inherited by fork(2).  name is for /proc/PID/maps only.  False, with
 * errno: both are NULL.
 */
bool shared_memory_map(
	const char *name, size_t size, void **writable, void **readable);

#endif
