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
 * Other files that executing this one reads: its ELF loader, or the interpreter
 * of a script and, if that is env(1), the program that env runs, by its bare
 * name if there is none.  "" for none; both have cap bytes.
 */
void program_needs(const char *path, char *first, char *second, size_t cap);

/*
 * An absolute path for a program's name: in PATH, or with a slash relative to
 * the page's directory (clean, below the site).  False: no such program.
 */
bool
program_find(const char *name, const char *page_dir, char *path, size_t cap);

bool program_exists(const char *path);

/* The kernel reads 256 bytes of a script's first line, execve(2). */
#define PROGRAM_LINE_MAX 256

/* What runs a script. */
struct interpreter {
	char file[PROGRAM_LINE_MAX + 1];   /* absolute; "": no #! line */
	char option[PROGRAM_LINE_MAX + 1]; /* one word: the rest of the line */
	char starts[PROGRAM_LINE_MAX + 1]; /* of env(1): the word it runs; "" */
};

/*
 * Reads the first line of a script as execve(2) does: head holds the first len
 * bytes of it, PROGRAM_LINE_MAX if it has so many, and a NUL after them.
 * False: a line with a NUL, or without a whole absolute path.  Pure.
 */
bool program_interpreter(const char *head, size_t len, struct interpreter *out);

/*
 * Does the kernel run the file by the system calls of another architecture than
 * ours, as a 32-bit program?  The filter ends it at the first, by SIGSYS.
 */
bool program_is_foreign(const char *path);

#endif
