/* SPDX-License-Identifier: MIT */
#include "sandbox/landlock.h"

#include <errno.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the oldest header we build with; numbers from landlock(7). */
#define FS_TRUNCATE (1ULL << 14)     /* ABI 3 */
#define FS_IOCTL_DEV (1ULL << 15)    /* ABI 5 */
#define FS_RESOLVE_UNIX (1ULL << 16) /* ABI 9 */
#define NET_TCP (3ULL << 0)          /* ABI 4: bind, connect */
#define SCOPES (3ULL << 0)           /* ABI 6: abstract sockets, signals */

#define LANDLOCK_ENOUGH 3
#define FS_ALL_ABI1 ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)
#define FS_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_WRITE                                                               \
	(LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |       \
		LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR | \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |   \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM |   \
		LANDLOCK_ACCESS_FS_REFER | FS_TRUNCATE)
/* Rights that a rule on a file, not a directory, may have. */
#define FS_FILE                                                                \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |          \
		LANDLOCK_ACCESS_FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV |    \
		FS_RESOLVE_UNIX)

/* struct landlock_ruleset_attr as of ABI 6. */
struct ruleset_attr {
	uint64_t handled_access_fs;
	uint64_t handled_access_net;
	uint64_t scoped;
};

static uint64_t
handled_fs(int abi)
{
	uint64_t all = FS_ALL_ABI1;

	if (abi >= 2)
		all |= LANDLOCK_ACCESS_FS_REFER;
	if (abi >= 3)
		all |= FS_TRUNCATE;
	if (abi >= 5)
		all |= FS_IOCTL_DEV;
	if (abi >= 9)
		all |= FS_RESOLVE_UNIX;
	return all;
}

int
landlock_abi(int most)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
		LANDLOCK_CREATE_RULESET_VERSION);

	if (abi < 0)
		return 0;
	return most > 0 && abi > most ? most : (int)abi;
}

/* Before ABI 3 Landlock cannot refuse truncate(2). */
int
landlock_check(int most)
{
	errno = EOPNOTSUPP;
	return landlock_abi(most) >= LANDLOCK_ENOUGH ? 0 : errno;
}

/* The descriptor is close-on-exec, landlock_create_ruleset(2). */
int
landlock_new(int abi, bool network)
{
	struct ruleset_attr attr = { .handled_access_fs = handled_fs(abi),
		.handled_access_net = network ? 0 : NET_TCP,
		.scoped = SCOPES };
	size_t size = sizeof(attr);

	if (abi < 6)
		size = offsetof(struct ruleset_attr, scoped);
	if (abi < 4)
		size = offsetof(struct ruleset_attr, handled_access_net);
	return (int)syscall(SYS_landlock_create_ruleset, &attr, size, 0);
}

static uint64_t
rights_of(unsigned groups)
{
	uint64_t rights = 0;

	if (groups & LAND_READ)
		rights |= FS_READ;
	if (groups & LAND_EXECUTE)
		rights |= LANDLOCK_ACCESS_FS_EXECUTE;
	if (groups & LAND_WRITE)
		rights |= FS_READ | FS_WRITE;
	if (groups & LAND_DEVICE)
		rights |= LANDLOCK_ACCESS_FS_READ_FILE |
			LANDLOCK_ACCESS_FS_WRITE_FILE;
	if (groups & LAND_LIST)
		rights |= LANDLOCK_ACCESS_FS_READ_DIR;
	if (groups & LAND_CONNECT)
		rights |= FS_RESOLVE_UNIX;
	return rights;
}

int
landlock_allow_fd(int ruleset, int abi, int fd, unsigned groups)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = fd };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return errno;
	rule.allowed_access = rights_of(groups) & handled_fs(abi);
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &= FS_FILE;
	if (rule.allowed_access == 0)
		return 0;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH,
		    &rule, 0) < 0)
		return errno;
	return 0;
}

int
landlock_child_enter(int ruleset)
{
	return syscall(SYS_landlock_restrict_self, ruleset, 0) < 0 ? errno : 0;
}
