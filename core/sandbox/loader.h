/* SPDX-License-Identifier: MIT */
/*
 * Copies of ELF loaders that cannot be executed themselves.
 *
 * A loader starts whatever can be read (`ld.so PROGRAM`, ld.so(8)), and a
 * closed exec set has to hold it, since the kernel asks for EXECUTE when it
 * loads a program's interpreter.  But the kernel looks for an interpreter's
 * name in the program only, never in the interpreter (execve(2), "load_elf_
 * interp"): a copy of the loader that names one which nobody may execute
 * serves every program as before, and itself never runs.
 */
#ifndef SS_SANDBOX_LOADER_H
#define SS_SANDBOX_LOADER_H

#include "base/base.h"

/*
 * Where the libraries of this ABI put their loaders; NULL-terminated, absolute.
 */
extern const char *const loader_paths[];

/*
 * Copies the loader that `from` has open to `to`, an empty file of mode 0555.
 * 0; ENOEXEC for what is no loader of this machine, which needs no copy; else
 * errno.
 */
int loader_copy(int from, int to);

#endif
