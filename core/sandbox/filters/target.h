/* SPDX-License-Identifier: MIT */
/*
 * What seccomp(2) calls the architecture that the compiler makes code for.
 * The Makefile asks the target's compiler for its value and hands it to make.c,
 * which runs on the machine that builds; sandbox/filter.c checks it again.
 */
#ifndef SS_SANDBOX_FILTERS_TARGET_H
#define SS_SANDBOX_FILTERS_TARGET_H

#include <linux/audit.h>

#if defined(__x86_64__) && !defined(__ILP32__)
#define FILTER_TARGET AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && !defined(__ILP32__) && !defined(__AARCH64EB__)
#define FILTER_TARGET AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define FILTER_TARGET AUDIT_ARCH_RISCV64
#else
#define FILTER_TARGET 0 /* name it here, and run tests/attack on it */
#endif

#endif
