/* SPDX-License-Identifier: MIT */
/*
 * Makes a place in which the sandbox is tried, step by step, and executes a
 * command there:
 *
 *	place STEP... -- COMMAND...
 *
 * Steps that mount need root, or "newuser" before them.
 *
 *	user		become the account 65534, if root
 *	nocaps		give up all capabilities, and stay the same account
 *	newuser		a user namespace that maps this account to itself
 *	newuser0	one that maps it to 0, and nobody else
 *	newuser+	one that maps 0 to 65535 to 100000 and on; root only
 *	newuser-	one that maps nobody
 *	newns		a mount namespace
 *	newpid		a pid namespace, with its own /proc
 *	tmpfs PATH	an empty file system there
 *	cover PATH	an empty file or directory there
 *	ro PATH		read-only
 *	rorec PATH	the same for all mounts below it
 *	noexec PATH	without execution
 *	keep PATH	a mount of its own, which the steps after it leave alone
 *	binds N		as many bind mounts of /usr below /mnt
 *	root DIR...,	a root that has these directories only, by pivot_root
 *	chroot DIR...,	the same by chroot(2), in a directory that is no mount
 *	proc		a /proc, after root or chroot
 *	file PATH TEXT	a new file, and its directory
 *	write PATH TEXT	of a setting below /proc/sys
 *	deny WHAT	a seccomp filter: docker, newuser, mount, landlock
 *	cd DIR
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/mount.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ACCOUNT 65534
#define NEW_SPACES                                                             \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |           \
		CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

static const char *step = "place";

static void
need(bool done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "place: %s: %s: %s\n", step, what, strerror(errno));
	exit(70);
}

static void
write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
		path);
	close(fd);
}

static char *
text_of(const char *format, ...)
{
	static char text[4][4096];
	static unsigned next;
	char *t = text[next++ % 4];
	va_list args;

	va_start(args, format);
	vsnprintf(t, sizeof(text[0]), format, args);
	va_end(args);
	return t;
}

static pid_t child;

static void
pass_on(int signal_number)
{
	kill(child, signal_number);
}

/* The command's end is this process's, and its signals are the command's. */
static void
wait_for(pid_t pid)
{
	int status;

	child = pid;
	signal(SIGINT, pass_on);
	signal(SIGTERM, pass_on);
	while (waitpid(pid, &status, 0) < 0)
		need(errno == EINTR, "waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* ------------------------------------------------------------- accounts */

static void
become_user(void)
{
	if (geteuid() != 0)
		return;
	need(setgroups(0, NULL) == 0 &&
			setresgid(ACCOUNT, ACCOUNT, ACCOUNT) == 0 &&
			setresuid(ACCOUNT, ACCOUNT, ACCOUNT) == 0,
		"become 65534");
	prctl(PR_SET_DUMPABLE, 1);
}

static void
drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap);
	need(syscall(SYS_capset, &head, none) == 0, "capset");
}

static void
new_user(unsigned uid, unsigned gid)
{
	char *users = text_of("%u %u 1", uid, geteuid());
	char *groups = text_of("%u %u 1", gid, getegid());

	need(unshare(CLONE_NEWUSER) == 0, "unshare");
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", users);
	write_text("/proc/self/gid_map", groups);
}

/* As a container that root started with numbers of its own. */
static void
new_user_range(void)
{
	int ready[2], mapped[2];
	char c = 0;
	pid_t pid;

	need(pipe(ready) == 0 && pipe(mapped) == 0, "pipe");
	pid = fork();
	need(pid >= 0, "fork");
	if (pid > 0) {
		need(read(ready[0], &c, 1) == 1, "the child");
		write_text(text_of("/proc/%d/uid_map", pid), "0 100000 65536");
		write_text(text_of("/proc/%d/gid_map", pid), "0 100000 65536");
		need(write(mapped[1], &c, 1) == 1, "pipe");
		wait_for(pid);
	}
	need(unshare(CLONE_NEWUSER) == 0 && write(ready[1], &c, 1) == 1 &&
			read(mapped[0], &c, 1) == 1,
		"unshare");
	close(ready[0]);
	close(ready[1]);
	close(mapped[0]);
	close(mapped[1]);
	need(setresgid(0, 0, 0) == 0 && setresuid(0, 0, 0) == 0, "become 0");
}

/* --------------------------------------------------------------- mounts */

static void
new_mounts(void)
{
	need(unshare(CLONE_NEWNS) == 0 &&
			mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
		"unshare");
}

static void
new_processes(void)
{
	pid_t pid;

	need(unshare(CLONE_NEWPID) == 0, "unshare");
	pid = fork();
	need(pid >= 0, "fork");
	if (pid > 0)
		wait_for(pid);
	need(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		     NULL) == 0,
		"mount /proc");
}

static void
set_attributes(const char *path, uint64_t attr, bool below)
{
	struct mount_attr set = { .attr_set = attr };
	struct stat st;

	/* Of a mount of its own; one over "/" would be reached by no path. */
	need(stat(path, &st) == 0, path);
	need(strcmp(path, "/") == 0 ||
			mount(path, path, NULL, MS_BIND | MS_REC, NULL) == 0,
		path);
	need(syscall(SYS_mount_setattr, AT_FDCWD, path,
		     below ? AT_RECURSIVE : 0, &set, sizeof(set)) == 0,
		path);
}

static void
cover(const char *path)
{
	struct stat st;

	need(stat(path, &st) == 0, path);
	if (S_ISDIR(st.st_mode))
		need(mount("none", path, "tmpfs", MS_RDONLY, NULL) == 0, path);
	else
		need(mount("/dev/null", path, NULL, MS_BIND, NULL) == 0, path);
}

static void
many_binds(unsigned count)
{
	need(mount("none", "/mnt", "tmpfs", 0, NULL) == 0, "/mnt");
	for (unsigned i = 0; i < count; i++) {
		char *at = text_of("/mnt/%u", i);

		need(mkdir(at, 0755) == 0 &&
				mount("/usr/share", at, NULL, MS_BIND, NULL) ==
					0,
			at);
	}
}

static void
make_file(const char *path, const char *text)
{
	char *directory = text_of("%s", path);
	int fd;

	*strrchr(directory, '/') = '\0';
	mkdir(directory, 0755);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	need(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text),
		path);
	close(fd);
}

/* The root to come. */
static const char *new_top;

/* A directory, a file or a link of the old root at the same place. */
static void
take_along(const char *path)
{
	char target[4096], *at = text_of("%s%s", new_top, path);
	struct stat st;
	ssize_t n;

	for (char *slash = at + strlen(new_top) + 1;
		(slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(at, 0755);
		*slash = '/';
	}
	if (lstat(path, &st) < 0 && errno == ENOENT)
		return;
	if (S_ISLNK(st.st_mode)) {
		n = readlink(path, target, sizeof(target) - 1);
		need(n > 0, path);
		target[n] = '\0';
		need(symlink(target, at) == 0, at);
	} else {
		if (S_ISDIR(st.st_mode))
			mkdir(at, 0755);
		else
			close(open(at, O_CREAT | O_WRONLY, 0644));
		need(mount(path, at, NULL, MS_BIND | MS_REC, NULL) == 0, at);
	}
}

/* "a=b": the tree a becomes b, as an unpacked system. */
static char **
new_root(char **arg, bool pivot)
{
	need(mount("none", "/mnt", "tmpfs", 0, "mode=0755") == 0, "/mnt");
	new_top = pivot ? "/mnt" : "/mnt/below";
	mkdir(new_top, 0755);
	for (; *arg != NULL && strcmp(*arg, ",") != 0; arg++) {
		char *to = strchr(*arg, '=');

		if (to == NULL) {
			take_along(*arg);
			continue;
		}
		*to++ = '\0';
		to = text_of("%s%s", new_top, to);
		mkdir(to, 0755);
		need(mount(*arg, to, NULL, MS_BIND | MS_REC, NULL) == 0, to);
	}
	need(chdir(new_top) == 0, new_top);
	mkdir("proc", 0755);
	if (pivot)
		need(syscall(SYS_pivot_root, ".", ".") == 0 &&
				umount2(".", MNT_DETACH) == 0,
			"pivot_root");
	else
		need(chroot(".") == 0, "chroot");
	need(chdir("/") == 0, "/");
	return *arg != NULL ? arg + 1 : arg;
}

/* -------------------------------------------------------------- filters */

static void
refuse(scmp_filter_ctx f, int error, const char *const *calls)
{
	for (; *calls != NULL; calls++) {
		int nr = seccomp_syscall_resolve_name(*calls);

		if (nr != __NR_SCMP_ERROR)
			need(seccomp_rule_add(f,
				     SCMP_ACT_ERRNO((uint32_t)error), nr,
				     0) == 0,
				*calls);
	}
}

/* clone(2) with one of these flags; clone3(2) cannot be looked into. */
static void
refuse_spaces(scmp_filter_ctx f, uint64_t flags, bool unshares)
{
	static const char *const unseen[] = { "clone3", NULL };

	for (uint64_t flag = 1; flag != 0 && flag <= flags; flag <<= 1) {
		struct scmp_arg_cmp has =
			SCMP_A0(SCMP_CMP_MASKED_EQ, flag, flag);

		if ((flags & flag) == 0)
			continue;
		need(seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM),
			     SCMP_SYS(clone), 1, &has) == 0,
			"clone");
		if (unshares)
			need(seccomp_rule_add_array(f, SCMP_ACT_ERRNO(EPERM),
				     SCMP_SYS(unshare), 1, &has) == 0,
				"unshare");
	}
	refuse(f, ENOSYS, unseen);
}

/*
 * docker: what its default profile refuses to a process without
 * CAP_SYS_ADMIN.  mount: what a process gets under the AppArmor profile
 * "unprivileged_userns" of Ubuntu 24.04: the namespaces are made, and in them
 * each capability is refused with EACCES.
 */
static void
deny(const char *what)
{
	static const char *const mounts[] = { "mount", "umount2", "pivot_root",
		"open_tree", "move_mount", "fsopen", "fsconfig", "fsmount",
		"fspick", "mount_setattr", NULL };
	static const char *const docker[] = { "unshare", "setns", "bpf",
		"perf_event_open", "keyctl", "add_key", "request_key",
		"userfaultfd", "open_by_handle_at", "swapon", "reboot",
		"kexec_load", "init_module", "acct", "quotactl",
		"lookup_dcookie", "settimeofday", "io_uring_setup",
		"sethostname", NULL };
	static const char *const landlock[] = { "landlock_create_ruleset",
		"landlock_add_rule", "landlock_restrict_self", NULL };
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);

	need(f != NULL, "seccomp_init");
	if (strcmp(what, "docker") == 0) {
		refuse(f, EPERM, mounts);
		refuse(f, EPERM, docker);
		refuse_spaces(f, NEW_SPACES, false);
	} else if (strcmp(what, "newuser") == 0) {
		refuse_spaces(f, CLONE_NEWUSER, true);
	} else if (strcmp(what, "mount") == 0) {
		refuse(f, EACCES, mounts);
	} else if (strcmp(what, "landlock") == 0) {
		refuse(f, ENOSYS, landlock);
	} else {
		errno = EINVAL;
		need(false, what);
	}
	need(seccomp_load(f) == 0, "seccomp_load");
	seccomp_release(f);
}

/* ----------------------------------------------------------------- main */

static char **
take_step(char **arg)
{
	step = *arg++;
	if (strcmp(step, "user") == 0)
		become_user();
	else if (strcmp(step, "nocaps") == 0)
		drop_capabilities();
	else if (strcmp(step, "newuser") == 0)
		new_user(geteuid(), getegid());
	else if (strcmp(step, "newuser0") == 0)
		new_user(0, 0);
	else if (strcmp(step, "newuser+") == 0)
		new_user_range();
	else if (strcmp(step, "newuser-") == 0)
		need(unshare(CLONE_NEWUSER) == 0, step);
	else if (strcmp(step, "newns") == 0)
		new_mounts();
	else if (strcmp(step, "newpid") == 0)
		new_processes();
	else if (strcmp(step, "proc") == 0)
		need(mount("proc", "/proc", "proc", 0, NULL) == 0, "/proc");
	else if (strcmp(step, "root") == 0 || strcmp(step, "chroot") == 0)
		return new_root(arg, step[0] == 'r');
	else if (*arg == NULL)
		need(false, "its argument");
	else if (strcmp(step, "tmpfs") == 0)
		need(mount("none", *arg, "tmpfs", 0, NULL) == 0, *arg), arg++;
	else if (strcmp(step, "cover") == 0)
		cover(*arg++);
	else if (strcmp(step, "keep") == 0)
		set_attributes(*arg++, 0, false);
	else if (strcmp(step, "ro") == 0)
		set_attributes(*arg++, MOUNT_ATTR_RDONLY, false);
	else if (strcmp(step, "rorec") == 0)
		set_attributes(*arg++, MOUNT_ATTR_RDONLY, true);
	else if (strcmp(step, "noexec") == 0)
		set_attributes(*arg++, MOUNT_ATTR_NOEXEC, false);
	else if (strcmp(step, "binds") == 0)
		many_binds((unsigned)strtoul(*arg++, NULL, 10));
	else if (strcmp(step, "deny") == 0)
		deny(*arg++);
	else if (strcmp(step, "cd") == 0)
		need(chdir(*arg) == 0, *arg), arg++;
	else if (strcmp(step, "file") == 0)
		make_file(arg[0], arg[1]), arg += 2;
	else if (strcmp(step, "write") == 0)
		write_text(arg[0], arg[1]), arg += 2;
	else
		errno = EINVAL, need(false, "unknown");
	return arg;
}

int
main(int argc, char **argv)
{
	char **arg = argv + 1;

	(void)argc;
	while (*arg != NULL && strcmp(*arg, "--") != 0)
		arg = take_step(arg);
	if (*arg == NULL || arg[1] == NULL) {
		fprintf(stderr, "usage: place STEP... -- COMMAND...\n");
		return 64;
	}
	execvp(arg[1], arg + 1);
	need(false, arg[1]);
	return 70;
}
