/* SPDX-License-Identifier: MIT */
/*
 * What the kernel reads when a program is executed: itself, the ELF loader it
 * names, the interpreter of a script, and so on (execve(2), elf(5)).  Reads
 * the heads of files, in this process's view.
 */
#ifndef SS_SANDBOX_PROGRAM_H
#define SS_SANDBOX_PROGRAM_H

#include "base/arena.h"

/* Files that one run may execute, each once; directories as they are. */
struct program_set {
	const char **items; /* in the arena */
	size_t count, cap;
};

/*
 * Adds a file and all that executing it takes; what cannot be read is added
 * alone.  False: no memory.
 */
bool
program_add(struct arena *arena, struct program_set *set, const char *path);

/*
 * An absolute path for a program's name: in PATH, or with a slash relative to
 * the page's directory (clean, below the site).  False: no such program.
 */
bool
program_find(const char *name, const char *page_dir, char *path, size_t cap);

bool program_exists(const char *path);

#endif
