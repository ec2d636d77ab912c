/* SPDX-License-Identifier: MIT */
/* What a filter answers to a system call, without a kernel: seccomp(2). */
#ifndef SS_SANDBOX_FILTERS_SIMULATE_H
#define SS_SANDBOX_FILTERS_SIMULATE_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>

/*
 * SECCOMP_RET_...; SIMULATE_UNKNOWN for an instruction that this file does not
 * know, or a program that has no end.
 */
#define SIMULATE_UNKNOWN 0xffffffffu
uint32_t simulate(const struct sock_filter *code, size_t count,
	const struct seccomp_data *call);

#endif
