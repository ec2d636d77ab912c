/* SPDX-License-Identifier: MIT */
#include "sandbox/filters/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/base.h"

#define FCHMODAT2 452   /* Linux 6.6 */
#define CLOSE_RANGE 436 /* Linux 5.9 */
#define CLOSE_RANGE_UNSHARE 2
#define LOW32 0xffffffffULL /* arguments of type int: the rest is noise */

#define REFUSED(call, number, error)                                           \
	{                                                                      \
		call, number, error, ALWAYS, 0, 0, 0, false                    \
	}
#define MOUNTING(call, number, error)                                          \
	{                                                                      \
		call, number, error, ALWAYS, 0, 0, 0, true                     \
	}
#define WHERE(call, number, error, position, mask, value)                      \
	{                                                                      \
		call, number, error, MASKED, position, mask, value, false      \
	}
#define IS(call, position, value) WHERE(call, 0, EPERM, position, LOW32, value)
#define HAS(call, position, bit) WHERE(call, 0, EPERM, position, bit, bit)
#define NOT(call, position, value)                                             \
	{                                                                      \
		call, 0, EPERM, NOT_EQUAL, position, 0, value, false           \
	}

const struct rule rules[] = {
	/* Mounts, old and new; statmount and listmount show host paths. */
	MOUNTING("mount", 0, EPERM),
	REFUSED("umount", 0, EPERM),
	MOUNTING("umount2", 0, EPERM),
	REFUSED("pivot_root", 0, EPERM),
	REFUSED("chroot", 0, EPERM),
	MOUNTING("fsopen", 430, EPERM),
	MOUNTING("fsconfig", 431, EPERM),
	MOUNTING("fsmount", 432, EPERM),
	REFUSED("fspick", 433, EPERM),
	MOUNTING("move_mount", 429, EPERM),
	MOUNTING("open_tree", 428, EPERM),
	REFUSED("mount_setattr", 442, EPERM),
	REFUSED("statmount", 457, EPERM),
	REFUSED("listmount", 458, EPERM),
	REFUSED("listns", 470, EPERM),
	REFUSED("open_tree_attr", 467, EPERM),
	/* Namespaces; clone is looked at below, clone3 cannot be. */
	REFUSED("unshare", 0, EPERM),
	REFUSED("setns", 0, EPERM),
	REFUSED("clone3", 435, ENOSYS),
	/* io_uring does calls that no filter sees; memory files can be run. */
	REFUSED("io_uring_setup", 425, ENOSYS),
	REFUSED("io_uring_enter", 426, ENOSYS),
	REFUSED("io_uring_register", 427, ENOSYS),
	REFUSED("memfd_create", 0, ENOSYS),
	REFUSED("memfd_secret", 447, ENOSYS),
	REFUSED("bpf", 0, EPERM),
	REFUSED("perf_event_open", 0, EPERM),
	REFUSED("userfaultfd", 0, EPERM),
	/* Other processes. */
	REFUSED("ptrace", 0, EPERM),
	REFUSED("process_vm_readv", 0, EPERM),
	REFUSED("process_vm_writev", 0, EPERM),
	REFUSED("process_madvise", 440, EPERM),
	REFUSED("process_mrelease", 448, EPERM),
	REFUSED("pidfd_getfd", 438, EPERM),
	REFUSED("kcmp", 0, EPERM),
	REFUSED("get_robust_list", 0, EPERM),
	REFUSED("move_pages", 0, EPERM),
	REFUSED("migrate_pages", 0, EPERM),
	/* Objects that outlive the process that made them. */
	REFUSED("keyctl", 0, EPERM),
	REFUSED("add_key", 0, EPERM),
	REFUSED("request_key", 0, EPERM),
	REFUSED("shmget", 0, EPERM),
	REFUSED("shmat", 0, EPERM),
	REFUSED("shmctl", 0, EPERM),
	REFUSED("semget", 0, EPERM),
	REFUSED("semop", 0, EPERM),
	REFUSED("semtimedop", 0, EPERM),
	REFUSED("semctl", 0, EPERM),
	REFUSED("msgget", 0, EPERM),
	REFUSED("msgsnd", 0, EPERM),
	REFUSED("msgrcv", 0, EPERM),
	REFUSED("msgctl", 0, EPERM),
	REFUSED("mq_open", 0, EPERM),
	REFUSED("mq_unlink", 0, EPERM),
	/* Pages in a pipe are counted nowhere: 2 MiB a slot with huge pages. */
	REFUSED("vmsplice", 0, ENOSYS),
	/* Files without a path. */
	REFUSED("open_by_handle_at", 0, EPERM),
	REFUSED("name_to_handle_at", 0, EPERM),
	/* They would show which files of the site are read. */
	REFUSED("inotify_init", 0, ENOSYS),
	REFUSED("inotify_init1", 0, ENOSYS),
	REFUSED("inotify_add_watch", 0, ENOSYS),
	REFUSED("fanotify_init", 0, EPERM),
	REFUSED("fanotify_mark", 0, EPERM),
	REFUSED("lookup_dcookie", 0, EPERM),
	/* The machine. */
	REFUSED("kexec_load", 0, EPERM),
	REFUSED("kexec_file_load", 0, EPERM),
	REFUSED("init_module", 0, EPERM),
	REFUSED("finit_module", 0, EPERM),
	REFUSED("delete_module", 0, EPERM),
	REFUSED("reboot", 0, EPERM),
	REFUSED("swapon", 0, EPERM),
	REFUSED("swapoff", 0, EPERM),
	REFUSED("acct", 0, EPERM),
	REFUSED("quotactl", 0, EPERM),
	REFUSED("quotactl_fd", 443, EPERM),
	REFUSED("syslog", 0, EPERM),
	REFUSED("iopl", 0, EPERM),
	REFUSED("ioperm", 0, EPERM),
	REFUSED("modify_ldt", 0, EPERM),
	REFUSED("settimeofday", 0, EPERM),
	REFUSED("stime", 0, EPERM),
	REFUSED("clock_settime", 0, EPERM),
	REFUSED("clock_adjtime", 0, EPERM),
	REFUSED("adjtimex", 0, EPERM),
	REFUSED("sethostname", 0, EPERM),
	REFUSED("setdomainname", 0, EPERM),
	REFUSED("vhangup", 0, EPERM),
	REFUSED("uselib", 0, EPERM),
	REFUSED("ustat", 0, EPERM),
	REFUSED("sysfs", 0, EPERM),
	REFUSED("_sysctl", 0, EPERM),
	REFUSED("nfsservctl", 0, EPERM),
	REFUSED("lsm_set_self_attr", 460, EPERM),

	/* Refusals that depend on one argument. */

	/* Input for a terminal; 32 bits are compared, see CVE-2019-7303. */
	IS("ioctl", 1, 0x5412), /* TIOCSTI */
	IS("ioctl", 1, 0x541c), /* TIOCLINUX */
	IS("ioctl", 1, 0x8901), /* FIOSETOWN: signals to a chosen process */
	IS("ioctl", 1, 0x8902), /* SIOCSPGRP */
	IS("fcntl", 1, F_SETLEASE),
	IS("fcntl", 1, F_NOTIFY),
	IS("fcntl", 1, F_SETPIPE_SZ),
	IS("fcntl", 1, F_SETOWN),
	IS("fcntl", 1, F_SETOWN_EX),
	HAS("clone", 0, CLONE_NEWNS),
	HAS("clone", 0, CLONE_NEWCGROUP),
	HAS("clone", 0, CLONE_NEWUTS),
	HAS("clone", 0, CLONE_NEWIPC),
	HAS("clone", 0, CLONE_NEWUSER),
	HAS("clone", 0, CLONE_NEWPID),
	HAS("clone", 0, CLONE_NEWNET),
	/*
	 * A thread with descriptors of its own: /proc/PID/fd shows only those
	 * of the first thread, and the sockets among them hold memory.
	 */
	WHERE("clone", 0, EPERM, 0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD),
	WHERE("close_range", CLOSE_RANGE, ENOSYS, 2, CLOSE_RANGE_UNSHARE,
		CLOSE_RANGE_UNSHARE),
	/*
	 * Limits of others: RLIMIT_CPU can kill a worker of the same account.
	 */
	NOT("prlimit64", 0, 0),
	NOT("sched_setparam", 0, 0),
	NOT("sched_setscheduler", 0, 0),
	NOT("sched_setattr", 0, 0),
	NOT("sched_setaffinity", 0, 0),
	NOT("setpriority", 0, 0), /* PRIO_PROCESS */
	NOT("setpriority", 1, 0),
	NOT("ioprio_set", 0, 1), /* IOPRIO_WHO_PROCESS */
	NOT("ioprio_set", 1, 0),
	/* The worker, which is pid 1 and has signal handlers. */
	IS("kill", 0, 1),
	IS("tkill", 0, 1),
	IS("tgkill", 0, 1),
	IS("rt_sigqueueinfo", 0, 1),
	IS("rt_tgsigqueueinfo", 0, 1),
	/*
	 * A set-user-ID program in a granted directory would run as this
	 * account for all users.  open(2) with such a mode is harmless: the
	 * bits are cleared when the file is written.
	 */
	HAS("chmod", 1, S_ISUID),
	HAS("chmod", 1, S_ISGID),
	HAS("fchmod", 1, S_ISUID),
	HAS("fchmod", 1, S_ISGID),
	HAS("fchmodat", 2, S_ISUID),
	HAS("fchmodat", 2, S_ISGID),
	WHERE("fchmodat2", FCHMODAT2, EPERM, 2, S_ISUID, S_ISUID),
	WHERE("fchmodat2", FCHMODAT2, EPERM, 2, S_ISGID, S_ISGID),
	IS("prctl", 0, PR_SET_MM),
	IS("prctl", 0, PR_SET_PTRACER),
	NOT("personality", 0, 0xffffffff), /* reading it */
	/* RLIMIT_DATA does not count its growth. */
	WHERE("mmap", 0, ENOMEM, 3, MAP_GROWSDOWN, MAP_GROWSDOWN),
	/* Without an error and without effect: buffers are memory. */
	{ "setsockopt", 0, 0, EQUAL, 2, 0, SO_SNDBUF, false },
	{ "setsockopt", 0, 0, EQUAL, 2, 0, SO_RCVBUF, false },
	/* By sendto(2) a datagram socket of a pair reaches any other socket. */
	NOT("socketpair", 0, AF_UNIX),
	WHERE("socketpair", 0, EPROTONOSUPPORT, 1, 0xf, SOCK_DGRAM),
	WHERE("socketpair", 0, EPROTONOSUPPORT, 1, 0xf, SOCK_RAW),
};
const size_t rule_count = ARRAY_LEN(rules);

/* kill(2) of pid 1 is refused above, so is this. */
const struct rule rule_alone = REFUSED("pidfd_send_signal", 424, ENOSYS);
