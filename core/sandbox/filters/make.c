/* SPDX-License-Identifier: MIT */
/*
 * Prints the system call filters as C, for sandbox/filter.c: the only file that
 * knows libseccomp.  It is a program that runs when the library is built: the
 * BPF is the same every time, and making it would cost each start of a worker a
 * millisecond.
 *
 * A list of refusals and not of permissions: lists of permissions broke with
 * every new libc (newfstatat, statx, clone3), and missing capabilities, the
 * view and Landlock bound what the other calls can do.  A refused call that is
 * new fails with ENOSYS, so that programs fall back; an old one with EPERM.
 * libseccomp 2.5 cannot make all of it for another machine than its own, so
 * sandbox/filter.c refuses to be compiled for one.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/base.h"
#include "sandbox/filter.h"

#define FCHMODAT2 452       /* Linux 6.6; not in old libseccomp */
#define CLOSE_RANGE 436     /* Linux 5.9 */
#define LOW32 0xffffffffULL /* arguments of type int: the rest is noise */

struct refusal {
	const char *name;
	int number; /* for names that an old libseccomp does not know; -1 */
	int error;
};

static const struct refusal refused[] = {
	/* Mounts, old and new; statmount and listmount show host paths. */
	{ "mount", -1, EPERM },
	{ "umount", -1, EPERM },
	{ "umount2", -1, EPERM },
	{ "pivot_root", -1, EPERM },
	{ "chroot", -1, EPERM },
	{ "fsopen", -1, EPERM },
	{ "fsconfig", -1, EPERM },
	{ "fsmount", -1, EPERM },
	{ "fspick", -1, EPERM },
	{ "move_mount", -1, EPERM },
	{ "open_tree", -1, EPERM },
	{ "mount_setattr", 442, EPERM },
	{ "statmount", 457, EPERM },
	{ "listmount", 458, EPERM },
	{ "listns", 470, EPERM },
	{ "open_tree_attr", 467, EPERM },
	/* Namespaces; clone is looked at below, clone3 cannot be. */
	{ "unshare", -1, EPERM },
	{ "setns", -1, EPERM },
	{ "clone3", -1, ENOSYS },
	/* io_uring does calls that no filter sees; memory files can be run. */
	{ "io_uring_setup", 425, ENOSYS },
	{ "io_uring_enter", 426, ENOSYS },
	{ "io_uring_register", 427, ENOSYS },
	{ "memfd_create", -1, ENOSYS },
	{ "memfd_secret", 447, ENOSYS },
	{ "bpf", -1, EPERM },
	{ "perf_event_open", -1, EPERM },
	{ "userfaultfd", -1, EPERM },
	/* Other processes. */
	{ "ptrace", -1, EPERM },
	{ "process_vm_readv", -1, EPERM },
	{ "process_vm_writev", -1, EPERM },
	{ "process_madvise", 440, EPERM },
	{ "process_mrelease", 448, EPERM },
	{ "pidfd_getfd", 438, EPERM },
	{ "kcmp", -1, EPERM },
	{ "get_robust_list", -1, EPERM },
	{ "move_pages", -1, EPERM },
	{ "migrate_pages", -1, EPERM },
	/* Objects that outlive the process that made them. */
	{ "keyctl", -1, EPERM },
	{ "add_key", -1, EPERM },
	{ "request_key", -1, EPERM },
	{ "shmget", -1, EPERM },
	{ "shmat", -1, EPERM },
	{ "shmctl", -1, EPERM },
	{ "semget", -1, EPERM },
	{ "semop", -1, EPERM },
	{ "semtimedop", -1, EPERM },
	{ "semctl", -1, EPERM },
	{ "msgget", -1, EPERM },
	{ "msgsnd", -1, EPERM },
	{ "msgrcv", -1, EPERM },
	{ "msgctl", -1, EPERM },
	{ "mq_open", -1, EPERM },
	{ "mq_unlink", -1, EPERM },
	/* Pages in a pipe are counted nowhere: 2 MiB a slot with huge pages. */
	{ "vmsplice", -1, ENOSYS },
	/* Files without a path. */
	{ "open_by_handle_at", -1, EPERM },
	{ "name_to_handle_at", -1, EPERM },
	/* They would show which files of the site are read. */
	{ "inotify_init", -1, ENOSYS },
	{ "inotify_init1", -1, ENOSYS },
	{ "inotify_add_watch", -1, ENOSYS },
	{ "fanotify_init", -1, EPERM },
	{ "fanotify_mark", -1, EPERM },
	{ "lookup_dcookie", -1, EPERM },
	/* The machine. */
	{ "kexec_load", -1, EPERM },
	{ "kexec_file_load", -1, EPERM },
	{ "init_module", -1, EPERM },
	{ "finit_module", -1, EPERM },
	{ "delete_module", -1, EPERM },
	{ "reboot", -1, EPERM },
	{ "swapon", -1, EPERM },
	{ "swapoff", -1, EPERM },
	{ "acct", -1, EPERM },
	{ "quotactl", -1, EPERM },
	{ "quotactl_fd", 443, EPERM },
	{ "syslog", -1, EPERM },
	{ "iopl", -1, EPERM },
	{ "ioperm", -1, EPERM },
	{ "modify_ldt", -1, EPERM },
	{ "settimeofday", -1, EPERM },
	{ "stime", -1, EPERM },
	{ "clock_settime", -1, EPERM },
	{ "clock_adjtime", -1, EPERM },
	{ "adjtimex", -1, EPERM },
	{ "sethostname", -1, EPERM },
	{ "setdomainname", -1, EPERM },
	{ "vhangup", -1, EPERM },
	{ "uselib", -1, EPERM },
	{ "ustat", -1, EPERM },
	{ "sysfs", -1, EPERM },
	{ "_sysctl", -1, EPERM },
	{ "nfsservctl", -1, EPERM },
	{ "lsm_set_self_attr", 460, EPERM },
};

/* In a pid namespace: kill(2) of pid 1 is refused below, so is this. */
static const struct refusal by_pidfd = { "pidfd_send_signal", 424, ENOSYS };

/* A refusal that depends on one argument. */
struct argument {
	int call;
	unsigned position;
	enum scmp_compare op;
	uint64_t mask, value; /* mask: only for SCMP_CMP_MASKED_EQ */
	int error;
};

#define IS(call, position, value)                                              \
	{                                                                      \
		SCMP_SYS(call), position, SCMP_CMP_MASKED_EQ, LOW32, value,    \
			EPERM                                                  \
	}
#define HAS_BY_NUMBER(number, position, bit)                                   \
	{                                                                      \
		number, position, SCMP_CMP_MASKED_EQ, bit, bit, EPERM          \
	}
#define HAS(call, position, bit) HAS_BY_NUMBER(SCMP_SYS(call), position, bit)
#define NOT(call, position, value)                                             \
	{                                                                      \
		SCMP_SYS(call), position, SCMP_CMP_NE, 0, value, EPERM         \
	}

static const struct argument arguments[] = {
	/* Input for a terminal; 32 bits are compared, see CVE-2019-7303. */
	IS(ioctl, 1, 0x5412), /* TIOCSTI */
	IS(ioctl, 1, 0x541c), /* TIOCLINUX */
	IS(ioctl, 1, 0x8901), /* FIOSETOWN: signals to a chosen process */
	IS(ioctl, 1, 0x8902), /* SIOCSPGRP */
	IS(fcntl, 1, F_SETLEASE),
	IS(fcntl, 1, F_NOTIFY),
	IS(fcntl, 1, F_SETPIPE_SZ),
	IS(fcntl, 1, F_SETOWN),
	IS(fcntl, 1, F_SETOWN_EX),
	HAS(clone, 0, CLONE_NEWNS),
	HAS(clone, 0, CLONE_NEWCGROUP),
	HAS(clone, 0, CLONE_NEWUTS),
	HAS(clone, 0, CLONE_NEWIPC),
	HAS(clone, 0, CLONE_NEWUSER),
	HAS(clone, 0, CLONE_NEWPID),
	HAS(clone, 0, CLONE_NEWNET),
	/*
	 * A thread with descriptors of its own: /proc/PID/fd shows only those
	 * of the first thread, and the sockets among them hold memory.
	 */
	{ SCMP_SYS(clone), 0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_FILES,
		CLONE_THREAD, EPERM },
	{ CLOSE_RANGE, 2, SCMP_CMP_MASKED_EQ, 2 /* CLOSE_RANGE_UNSHARE */, 2,
		ENOSYS },
	/*
	 * Limits of others: RLIMIT_CPU can kill a worker of the same account.
	 */
	NOT(prlimit64, 0, 0),
	NOT(sched_setparam, 0, 0),
	NOT(sched_setscheduler, 0, 0),
	NOT(sched_setattr, 0, 0),
	NOT(sched_setaffinity, 0, 0),
	NOT(setpriority, 0, 0), /* PRIO_PROCESS */
	NOT(setpriority, 1, 0),
	NOT(ioprio_set, 0, 1), /* IOPRIO_WHO_PROCESS */
	NOT(ioprio_set, 1, 0),
	/* The worker, which is pid 1 and has signal handlers. */
	IS(kill, 0, 1),
	IS(tkill, 0, 1),
	IS(tgkill, 0, 1),
	IS(rt_sigqueueinfo, 0, 1),
	IS(rt_tgsigqueueinfo, 0, 1),
	/*
	 * A set-user-ID program in a granted directory would run as this
	 * account for all users.  open(2) with such a mode is harmless: the
	 * bits are cleared when the file is written.
	 */
	HAS(chmod, 1, S_ISUID),
	HAS(chmod, 1, S_ISGID),
	HAS(fchmod, 1, S_ISUID),
	HAS(fchmod, 1, S_ISGID),
	HAS(fchmodat, 2, S_ISUID),
	HAS(fchmodat, 2, S_ISGID),
	HAS_BY_NUMBER(FCHMODAT2, 2, S_ISUID),
	HAS_BY_NUMBER(FCHMODAT2, 2, S_ISGID),
	IS(prctl, 0, PR_SET_MM),
	IS(prctl, 0, PR_SET_PTRACER),
	NOT(personality, 0, 0xffffffff), /* reading it */
	/* RLIMIT_DATA does not count its growth. */
	{ SCMP_SYS(mmap), 3, SCMP_CMP_MASKED_EQ, MAP_GROWSDOWN, MAP_GROWSDOWN,
		ENOMEM },
	/* Without an error and without effect: buffers are memory. */
	{ SCMP_SYS(setsockopt), 2, SCMP_CMP_EQ, 0, SO_SNDBUF, 0 },
	{ SCMP_SYS(setsockopt), 2, SCMP_CMP_EQ, 0, SO_RCVBUF, 0 },
	/* By sendto(2) a datagram socket of a pair reaches any other socket. */
	NOT(socketpair, 0, AF_UNIX),
	{ SCMP_SYS(socketpair), 1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_DGRAM,
		EPROTONOSUPPORT },
	{ SCMP_SYS(socketpair), 1, SCMP_CMP_MASKED_EQ, 0xf, SOCK_RAW,
		EPROTONOSUPPORT },
};

/* Passes over calls that this architecture does not have. */
static int
refuse(scmp_filter_ctx ctx, const struct refusal *r)
{
	int call = seccomp_syscall_resolve_name(r->name);
	int e;

	if (call == __NR_SCMP_ERROR)
		call = r->number;
	if (call < 0)
		return 0;
	e = seccomp_rule_add(ctx, SCMP_ACT_ERRNO((uint32_t)r->error), call, 0);
	return e == -EEXIST ? 0 : e;
}

static int
refuse_argument(scmp_filter_ctx ctx, const struct argument *a)
{
	struct scmp_arg_cmp cmp = { .arg = a->position,
		.op = a->op,
		.datum_a = a->op == SCMP_CMP_MASKED_EQ ? a->mask : a->value,
		.datum_b = a->op == SCMP_CMP_MASKED_EQ ? a->value : 0 };

	if (a->call < 0)
		return 0;
	return seccomp_rule_add_array(
		ctx, SCMP_ACT_ERRNO((uint32_t)a->error), a->call, 1, &cmp);
}

static bool
family_kept(int family, unsigned keeps)
{
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
	for (int family = 0; family < 64 && e == 0; family++)
		if (!family_kept(family, keeps))
			e = seccomp_rule_add(ctx, action, SCMP_SYS(socket), 1,
				SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)family, 0));
	if (e == 0 && family_kept(AF_NETLINK, keeps))
		e = refuse_netlink(ctx);
	if (e == 0)
		e = seccomp_rule_add(ctx, action, SCMP_SYS(socket), 1,
			SCMP_A0(SCMP_CMP_GE, 64, 0));
	return e;
}

static int
refuse_all(scmp_filter_ctx ctx, unsigned keeps)
{
	unsigned families = keeps & (FILTER_NETWORK | FILTER_UNIX);
	int e = 0;

	if (keeps & FILTER_NETWORK)
		families |= FILTER_ROUTES;

	for (size_t i = 0; i < ARRAY_LEN(refused) && e == 0; i++)
		e = refuse(ctx, &refused[i]);
	for (size_t i = 0; i < ARRAY_LEN(arguments) && e == 0; i++)
		e = refuse_argument(ctx, &arguments[i]);
	if (e == 0 && (keeps & FILTER_ALONE))
		e = refuse(ctx, &by_pidfd);
	return e == 0 ? refuse_sockets(ctx, families) : e;
}

/*
 * Another architecture's entry (int 0x80) and x32 numbers kill the process;
 * both are libseccomp's first checks.  API level 3 is set by hand (Linux 4.14,
 * which can kill a process): the kernel that builds is not the one that runs.
 */
static scmp_filter_ctx
begin(void)
{
	scmp_filter_ctx ctx;

	if (seccomp_api_get() < 3)
		seccomp_api_set(3);
	ctx = seccomp_init(SCMP_ACT_ALLOW);
	if (ctx != NULL &&
		(seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
			 SCMP_ACT_KILL_PROCESS) < 0 ||
			seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) <
				0)) {
		seccomp_release(ctx);
		ctx = NULL;
	}
	return ctx;
}

/* libseccomp 2.5 writes a program only to a descriptor. */
static int
print_code(scmp_filter_ctx ctx)
{
	FILE *file = tmpfile();
	struct sock_filter one;
	int e = file == NULL ? -errno : seccomp_export_bpf(ctx, fileno(file));

	if (e == 0)
		rewind(file);
	while (e == 0 && fread(&one, sizeof(one), 1, file) == 1)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", one.code, one.jt,
			one.jf, one.k);
	if (file != NULL)
		fclose(file);
	return e;
}

/* whole: everything; else the socket families alone. */
static int
print_filter(const char *name, unsigned which, bool whole)
{
	scmp_filter_ctx ctx = begin();
	int e = -ENOMEM;

	printf("static const struct sock_filter %s_%u[] = {\n", name, which);
	if (ctx != NULL)
		e = whole ? refuse_all(ctx, which) : refuse_sockets(ctx, which);
	if (e == 0)
		e = print_code(ctx);
	seccomp_release(ctx);
	printf("};\n\n");
	if (e != 0)
		fprintf(stderr, "make_filters: %s %u: %s\n", name, which,
			strerror(-e));
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

int
main(void)
{
	printf("/* Made by core/sandbox/filters/make.c. */\n\n"
	       "#define FILTERS_ARCH 0x%08xu\n\n",
		seccomp_arch_native());
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
