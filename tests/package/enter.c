/* SPDX-License-Identifier: MIT */
/*
 * Starts a program where a test wants it: in a network namespace of its own
 * that has only a loopback, in another root, under another account.
 *
 *	enter [-n] [-r ROOT] [-u UID] PROGRAM [ARGUMENT...]
 *
 * -r   pivot_root(2) into ROOT, so that nothing else is mounted; /proc of this
 *      process and /dev/null are there if ROOT has proc and dev/null.
 */
#include <err.h>
#include <grp.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static void
enter_network(void)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int fd;

	if (unshare(CLONE_NEWNET) < 0)
		err(99, "unshare");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
		err(99, "SIOCGIFFLAGS");
	lo.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		err(99, "SIOCSIFFLAGS");
	close(fd);
}

static void
enter_root(const char *root)
{
	if (unshare(CLONE_NEWNS) < 0 ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(root, root, NULL, MS_BIND, NULL) < 0 || chdir(root) < 0)
		err(99, "%s", root);
	if (access("proc", F_OK) == 0 &&
		mount("/proc", "proc", NULL, MS_BIND | MS_REC, NULL) < 0)
		err(99, "%s/proc", root);
	if (access("dev/null", F_OK) == 0 &&
		mount("/dev/null", "dev/null", NULL, MS_BIND, NULL) < 0)
		err(99, "%s/dev/null", root);
	if (syscall(SYS_pivot_root, ".", ".") < 0 ||
		umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		err(99, "pivot_root %s", root);
}

int
main(int argc, char **argv)
{
	const char *root = NULL;
	uid_t uid = 0;
	int letter;

	while ((letter = getopt(argc, argv, "+nr:u:")) != -1)
		switch (letter) {
		case 'n': enter_network(); break;
		case 'r': root = optarg; break;
		case 'u': uid = (uid_t)atol(optarg); break;
		default: return 99;
		}
	if (root != NULL)
		enter_root(root);
	if (uid != 0 &&
		(setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
			setresuid(uid, uid, uid) < 0))
		err(99, "become %u", uid);
	if (optind == argc)
		return 99;
	execv(argv[optind], argv + optind);
	err(99, "%s", argv[optind]);
}
