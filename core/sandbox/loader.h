/* SPDX-License-Identifier: MIT */
/*
 * Copies of ELF loaders that cannot be executed themselves.
 *
 * A loader starts every program that it can read (`ld.so PROGRAM`, ld.so(8)),
 * and a closed exec set must contain it, since the kernel checks EXECUTE when
 * it loads a program's interpreter.  But the kernel looks for the name of an
 * interpreter in the program only, never in the interpreter itself (execve(2),
 * load_elf_interp in fs/binfmt_elf.c).  So a copy of the loader that names an
 * interpreter which cannot be executed serves every program as before, and
 * executing the copy itself fails.
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
