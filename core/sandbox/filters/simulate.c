/* SPDX-License-Identifier: MIT */
#include "sandbox/filters/simulate.h"

#include <stdbool.h>
#include <string.h>

static bool
jumps(const struct sock_filter *at, uint32_t a)
{
	switch (BPF_OP(at->code)) {
	case BPF_JEQ: return a == at->k;
	case BPF_JGT: return a > at->k;
	case BPF_JGE: return a >= at->k;
	case BPF_JSET: return (a & at->k) != 0;
	default: return false;
	}
}

uint32_t
simulate(const struct sock_filter *code, size_t count,
	const struct seccomp_data *call)
{
	const struct sock_filter *at;
	uint32_t a = 0;

	for (size_t i = 0; i < count; i++) {
		at = &code[i];
		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (at->k > sizeof(*call) - sizeof(a))
				return SIMULATE_UNKNOWN;
			memcpy(&a, (const char *)call + at->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K: a &= at->k; break;
		case BPF_JMP | BPF_JA: i += at->k; break;
		case BPF_JMP | BPF_JEQ | BPF_K:
		case BPF_JMP | BPF_JGT | BPF_K:
		case BPF_JMP | BPF_JGE | BPF_K:
		case BPF_JMP | BPF_JSET | BPF_K:
			i += jumps(at, a) ? at->jt : at->jf;
			break;
		case BPF_RET | BPF_K: return at->k;
		default: return SIMULATE_UNKNOWN;
		}
	}
	return SIMULATE_UNKNOWN;
}
