/* SPDX-License-Identifier: MIT */
/*
 * Prints the system call filters of one architecture as C, for
 * sandbox/filter.c: the only file that knows libseccomp.  It is a program that
 * runs when the library is built: the BPF is the same every time, and making it
 * would cost each start of a worker a millisecond.
 *
 * The architecture (target.h) may be another one than this program's own.
 * libseccomp passes over what it cannot do for another one: so each filter is
 * asked about each of its rules before it is printed.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/base.h"
#include "sandbox/filter.h"
#include "sandbox/filters/program.h"
#include "sandbox/filters/rules.h"
#include "sandbox/filters/simulate.h"

#define FAMILIES 64 /* more than there are: every other one is refused, too */

static uint32_t target;

/* Below 0: this architecture has no such call. */
static int
number_of(const struct rule *r)
{
	return r->number != 0
		? r->number
		: seccomp_syscall_resolve_name_arch(target, r->name);
}

/* -------------------------------------------------------- libseccomp's part */

static enum scmp_compare
compare(enum condition condition)
{
	switch (condition) {
	case MASKED: return SCMP_CMP_MASKED_EQ;
	case EQUAL: return SCMP_CMP_EQ;
	case NOT_EQUAL:
	case ALWAYS: break;
	}
	return SCMP_CMP_NE;
}

/* libseccomp wants this machine's number, and translates it. */
static int
refuse(scmp_filter_ctx ctx, const struct rule *r)
{
	struct scmp_arg_cmp cmp = { .arg = r->position,
		.op = compare(r->condition),
		.datum_a = r->condition == MASKED ? r->mask : r->value,
		.datum_b = r->condition == MASKED ? r->value : 0 };
	int there = number_of(r);

	if (there == __NR_SCMP_ERROR) {
		fprintf(stderr, "make_filters: libseccomp knows no %s\n",
			r->name);
		return -ENOSYS;
	}
	if (r->number != 0 || there < 0)
		return 0;
	return seccomp_rule_add_array(ctx, SCMP_ACT_ERRNO((uint32_t)r->error),
		seccomp_syscall_resolve_name(r->name), r->condition != ALWAYS,
		&cmp);
}

/* Routes alone are of no use: nothing is sent. */
static bool
family_kept(int family, unsigned keeps)
{
	if (!(keeps & (FILTER_NETWORK | FILTER_UNIX)))
		return false;
	if (family == AF_INET || family == AF_INET6)
		return keeps & FILTER_NETWORK;
	if (family == AF_NETLINK)
		return keeps & FILTER_ROUTES;
	return family == AF_UNIX && (keeps & FILTER_UNIX);
}

/* netlink(7): every protocol but the one for routes, rtnetlink(7). */
static int
refuse_netlink(scmp_filter_ctx ctx)
{
	return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT),
		SCMP_SYS(socket), 2, SCMP_A0(SCMP_CMP_EQ, AF_NETLINK, 0),
		SCMP_A2(SCMP_CMP_NE, NETLINK_ROUTE, 0));
}

/* One rule for each family: libseccomp takes one condition per argument. */
static int
refuse_sockets(scmp_filter_ctx ctx, unsigned keeps)
{
	const uint32_t action = SCMP_ACT_ERRNO(EAFNOSUPPORT);
	int e = 0;

	if (!(keeps & (FILTER_NETWORK | FILTER_UNIX)))
		return seccomp_rule_add(ctx, action, SCMP_SYS(socket), 0);
	for (int family = 0; family < FAMILIES && e == 0; family++)
		if (!family_kept(family, keeps))
			e = seccomp_rule_add(ctx, action, SCMP_SYS(socket), 1,
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family, 0));
	if (e == 0 && family_kept(AF_NETLINK, keeps))
		e = refuse_netlink(ctx);
	if (e == 0)
		e = seccomp_rule_add(ctx, action, SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_GE, FAMILIES, 0));
	return e;
}

static int
refuse_all(scmp_filter_ctx ctx, bool mounts)
{
	int e = 0;

	for (size_t i = 0; i < rule_count && e == 0; i++)
		if (!mounts || !rules[i].mounts)
			e = refuse(ctx, &rules[i]);
	return e;
}

/*
 * Another architecture's entry (int 0x80) and x32 numbers kill the process;
 * both are libseccomp's first checks.  API level 3 is set by hand (Linux 4.14,
 * which can kill a process): the kernel that builds is not the one that runs.
 */
static int
begin(scmp_filter_ctx *ctx)
{
	int e;

	if (seccomp_api_get() < 3)
		seccomp_api_set(3);
	*ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (*ctx == NULL)
		return -ENOMEM;
	e = seccomp_attr_set(
		*ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (e == 0)
		e = seccomp_attr_set(*ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (e == 0 && target != seccomp_arch_native()) {
		e = seccomp_arch_add(*ctx, target);
		if (e == 0)
			e = seccomp_arch_remove(*ctx, seccomp_arch_native());
	}
	return e;
}

/* libseccomp 2.5 writes a program only to a descriptor. */
static int
append_code(scmp_filter_ctx ctx, struct program *p)
{
	FILE *file = tmpfile();
	int e = file == NULL ? -errno : seccomp_export_bpf(ctx, fileno(file));

	if (e == 0) {
		rewind(file);
		p->count += fread(p->code + p->count, sizeof(p->code[0]),
			PROGRAM_MAX - p->count, file);
		p->failed |= p->count == PROGRAM_MAX || ferror(file);
	}
	if (file != NULL)
		fclose(file);
	return e;
}

/* --------------------------------------------------------------- the check */

static uint32_t
ask(const struct program *p, int number, unsigned position, uint64_t value)
{
	struct seccomp_data call = { .nr = number, .arch = target };

	call.args[position] = value;
	return simulate(p->code, p->count, &call);
}

static bool
is_refused(uint32_t answer)
{
	return (answer & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO;
}

static bool
check_rule(const struct program *p, const struct rule *r, bool mounts)
{
	int number = number_of(r);
	uint64_t value = r->value + (r->condition == NOT_EQUAL);

	return number < 0 ||
		is_refused(ask(p, number, r->position, value)) !=
		(mounts && r->mounts);
}

static bool
check_families(const struct program *p, unsigned keeps)
{
	int number = seccomp_syscall_resolve_name_arch(target, "socket");

	for (unsigned family = 0; family <= FAMILIES; family++)
		if (is_refused(ask(p, number, 0, family)) ==
			family_kept((int)family, keeps))
			return false;
	return number >= 0;
}

/* What every program does; and no program of another architecture. */
static bool
check_rest(const struct program *p)
{
	static const char *const usual[] = { "read", "write", "openat", "close",
		"execve", "exit_group", "mmap", "clone", "wait4" };
	const uint32_t others[] = { SCMP_ARCH_X86, SCMP_ARCH_X86_64,
		SCMP_ARCH_ARM, SCMP_ARCH_AARCH64, SCMP_ARCH_RISCV64, 0 };
	int number;

	for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
		number = seccomp_syscall_resolve_name_arch(target, usual[i]);
		if (number < 0 || ask(p, number, 0, 0) != SECCOMP_RET_ALLOW)
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		struct seccomp_data other = { .arch = others[i] };

		if (others[i] != target &&
			simulate(p->code, p->count, &other) !=
				SECCOMP_RET_KILL_PROCESS)
			return false;
	}
	return true;
}

static bool
check(const struct program *p, unsigned families, bool whole, unsigned which)
{
	bool alone = whole && (which & FILTER_ALONE);

	for (size_t i = 0; whole && i < rule_count; i++)
		if (!check_rule(p, &rules[i], which & FILTER_MOUNTS)) {
			fprintf(stderr,
				"make_filters: %s is not as it should\n",
				rules[i].name);
			return false;
		}
	return check_families(p, families) && check_rest(p) &&
		is_refused(ask(p, rule_alone.number, 0, 0)) == alone;
}

/* ---------------------------------------------------------------- printing */

static void
print_code(const struct program *p, const char *name, unsigned which)
{
	printf("static const struct sock_filter %s_%u[] = {\n", name, which);
	for (size_t i = 0; i < p->count; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", p->code[i].code,
			p->code[i].jt, p->code[i].jf, p->code[i].k);
	printf("};\n\n");
}

/* whole: everything; else the socket families alone. */
static int
print_filter(const char *name, unsigned which, bool whole)
{
	struct program *p = calloc(1, sizeof(*p));
	scmp_filter_ctx ctx = NULL;
	unsigned families = which;
	bool mounts = which & FILTER_MOUNTS;
	int e = p == NULL ? -ENOMEM : begin(&ctx);

	if (whole) {
		families &= FILTER_NETWORK | FILTER_UNIX;
		if (which & FILTER_NETWORK)
			families |= FILTER_ROUTES;
	}
	if (e == 0 && whole)
		program_refuse_common(p, target, rules, rule_count,
			which & FILTER_ALONE, mounts);
	if (e == 0 && whole)
		e = refuse_all(ctx, mounts);
	if (e == 0)
		e = refuse_sockets(ctx, families);
	if (e == 0)
		e = append_code(ctx, p);
	if (e == 0 && (p->failed || !check(p, families, whole, which)))
		e = -EINVAL;
	if (e == 0)
		print_code(p, name, which);
	else
		fprintf(stderr, "make_filters: 0x%08" PRIx32 ": %s %u: %s\n",
			target, name, which, strerror(-e));
	seccomp_release(ctx);
	free(p);
	return e;
}

static void
print_table(const char *name, unsigned count)
{
	printf("static const struct filter %s[] = {\n", name);
	for (unsigned i = 0; i < count; i++)
		printf("\t{ sizeof(%s_%u) / sizeof(%s_%u[0]), %s_%u },\n", name,
			i, name, i, name, i);
	printf("};\n\n");
}

/* The argument: FILTER_TARGET, as the target's compiler has it. */
int
main(int argc, char **argv)
{
	char *end = NULL;

	if (argc == 2)
		target = (uint32_t)strtoul(argv[1], &end, 10);
	if (target == 0 || *end != '\0') {
		fprintf(stderr,
			"make_filters: no filters for this architecture: see "
			"core/sandbox/filters/target.h\n");
		return 1;
	}
	printf("/* Made by core/sandbox/filters/make.c. */\n\n"
	       "#define FILTERS_ARCH 0x%08xu\n\n",
		target);
	for (unsigned i = 0; i < FILTER_WHOLE; i++)
		if (print_filter("whole", i, true) != 0)
			return 1;
	for (unsigned i = 0; i < FILTER_NARROW; i++)
		if (print_filter("narrow", i, false) != 0)
			return 1;
	print_table("whole", FILTER_WHOLE);
	print_table("narrow", FILTER_NARROW);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
