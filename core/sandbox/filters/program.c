/* SPDX-License-Identifier: MIT */
#include "sandbox/filters/program.h"

#include <linux/seccomp.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "argument() loads the low half of a little-endian argument"
#endif

#define JUMP_MAX 255 /* of a condition */

static void
append(struct program *p, struct sock_filter one)
{
	if (p->count < PROGRAM_MAX)
		p->code[p->count++] = one;
	else
		p->failed = true;
}

static void
load(struct program *p, size_t offset)
{
	append(p,
		(struct sock_filter)BPF_STMT(
			BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void
jump(struct program *p, int op, uint32_t value, uint8_t yes, uint8_t no)
{
	append(p,
		(struct sock_filter)BPF_JUMP(
			(uint16_t)(BPF_JMP | BPF_K | op), value, yes, no));
}

static void
fail_call(struct program *p, int error)
{
	append(p,
		(struct sock_filter)BPF_STMT(
			BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error));
}

/* The call's number is loaded, before and after. */
static void
refuse(struct program *p, const struct rule *r)
{
	uint32_t number = (uint32_t)r->number;

	if (r->condition == ALWAYS) {
		jump(p, BPF_JEQ, number, 0, 1);
		fail_call(p, r->error);
		return;
	}
	if (r->condition != MASKED || r->mask > UINT32_MAX)
		p->failed = true;
	jump(p, BPF_JEQ, number, 0, 5);
	load(p,
		offsetof(struct seccomp_data, args) +
			r->position * sizeof(uint64_t));
	append(p,
		(struct sock_filter)BPF_STMT(
			BPF_ALU | BPF_AND | BPF_K, (uint32_t)r->mask));
	jump(p, BPF_JEQ, (uint32_t)r->value, 0, 1);
	fail_call(p, r->error);
	load(p, offsetof(struct seccomp_data, nr));
}

void
program_refuse_common(struct program *p, uint32_t arch, const struct rule *from,
	size_t count, bool alone, bool mounts)
{
	size_t first = p->count, last;

	/* Where they end is known at the end. */
	load(p, offsetof(struct seccomp_data, arch));
	jump(p, BPF_JEQ, arch, 0, 0);
	load(p, offsetof(struct seccomp_data, nr));
	jump(p, BPF_JGE, FIRST_COMMON_CALL, 0, 0);
	for (size_t i = 0; i < count; i++)
		if (from[i].number != 0 && !(mounts && from[i].mounts))
			refuse(p, &from[i]);
	if (alone)
		refuse(p, &rule_alone);
	last = p->count;
	if (p->failed || last - first > JUMP_MAX) {
		p->failed = true;
		return;
	}
	p->code[first + 1].jf = (uint8_t)(last - first - 2);
	p->code[first + 3].jf = (uint8_t)(last - first - 4);
}
