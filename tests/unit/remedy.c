/* SPDX-License-Identifier: MIT */
/*
 * remedy: each cause has one text, which names a command or a line of a file;
 * the causes that this machine does not have, too.
 */
#include "sandbox/remedy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* user.max_user_namespaces and the two of the kernel; -1: has none. */
#define SETTINGS(max, debian, ubuntu)                                          \
	.max_user_namespaces = (max), .userns_clone = (debian),                \
	.apparmor_userns = (ubuntu), .landlock_listed = -1
#define NO_SETTING SETTINGS(-1, -1, -1)

static const struct place bare = { NO_SETTING, .admin = true };
static const struct account user = { .uid = 1000 };
static const struct account root = { .uid = 65534, .drop = true };

static const struct {
	const char *name;
	enum step_part part;
	int number;
	bool by_root;
	struct place place;
	const char *has;
} cases[] = {
	{ "Ubuntu 24.04, a mount", PART_VIEW, EACCES, false,
		{ SETTINGS(-1, -1, 1), .profile = "unconfined" },
		"sysctl -w kernel.apparmor_restrict_unprivileged_userns=0" },
	{ "Ubuntu 24.04, uid_map", PART_NAMESPACES, EPERM, false,
		{ SETTINGS(-1, -1, 1), .prefix = "/usr/local" },
		"cp /usr/local/share/statespace/apparmor" },
	{ "the same from a package", PART_NAMESPACES, EPERM, false,
		{ SETTINGS(-1, -1, 1), .prefix = "/usr" },
		"ln -sf /usr/share/statespace/apparmor" },
	{ "Debian's old setting", PART_NAMESPACES, EPERM, false,
		{ SETTINGS(-1, 0, -1) },
		"sysctl -w kernel.unprivileged_userns_clone=1" },
	{ "no user namespaces left", PART_NAMESPACES, ENOSPC, false,
		{ SETTINGS(0, -1, -1) },
		"sysctl -w user.max_user_namespaces=" },
	{ "docker, its root", PART_NAMESPACES, EPERM, true,
		{ NO_SETTING, .engine = ENGINE_DOCKER, .filtered = true },
		"docker run --user 65534" },
	{ "docker, AppArmor", PART_VIEW, EACCES, false,
		{ NO_SETTING, .engine = ENGINE_DOCKER,
			.profile = "docker-default (enforce)" },
		"apparmor=unconfined" },
	{ "podman", PART_NAMESPACES, EPERM, false,
		{ NO_SETTING, .engine = ENGINE_PODMAN, .filtered = true },
		"podman run --security-opt" },
	{ "podman, its root", PART_NAMESPACES, EPERM, true,
		{ NO_SETTING, .engine = ENGINE_PODMAN, .filtered = true },
		"podman run --user 65534" },
	{ "kubernetes", PART_NAMESPACES, EPERM, false,
		{ NO_SETTING, .engine = ENGINE_KUBERNETES, .filtered = true },
		"hostUsers: false" },
	{ "lxc", PART_VIEW, EPERM, false, { NO_SETTING, .engine = ENGINE_LXC },
		"security.nesting=true" },
	{ "a unit of systemd", PART_NAMESPACES, EPERM, false,
		{ NO_SETTING, .unit = true, .filtered = true },
		"RestrictNamespaces=no" },
	{ "root without capabilities", PART_NAMESPACES, EPERM, true,
		{ NO_SETTING }, "CAP_SYS_ADMIN" },
	{ "chroot(2)", PART_NAMESPACES, EPERM, false,
		{ NO_SETTING, .admin = true }, "pivot_root(2), not by" },
	{ "chroot(2) by root", PART_VIEW, EINVAL, true,
		{ NO_SETTING, .admin = true }, "pivot_root(2), not by" },
	{ "a kernel without them", PART_NAMESPACES, EINVAL, false,
		{ NO_SETTING }, "CONFIG_USER_NS=y" },
	{ "an old kernel", PART_VIEW, ENOSYS, false, { NO_SETTING },
		"Linux 5.12" },
	{ "no /proc", PART_NAMESPACES, ENOENT, false, { NO_SETTING },
		"mount -t proc proc /proc" },
	{ "a read-only /proc", PART_NAMESPACES, EROFS, false, { NO_SETTING },
		"mount -o remount,rw /proc" },
	{ "no /dev/null", PART_DEVICES, ENOENT, false, { NO_SETTING },
		"mknod -m 666 /dev/null c 1 3" },
	{ "a read-only /tmp in docker", PART_SCRATCH, EROFS, false,
		{ NO_SETTING, .engine = ENGINE_DOCKER }, "--tmpfs /tmp" },
	{ "no /tmp", PART_SCRATCH, ENOENT, false, { NO_SETTING },
		"mkdir -m 1777 /tmp" },
};

/* A sentence with an unknown part would end here. */
static void
test_never_empty(void)
{
	for (int part = PART_NAMESPACES; part <= PART_SCRATCH; part++) {
		struct step failed = { .number = EPERM,
			.part = (enum step_part)part };

		ok(strlen(remedy_of(&failed, &user, &bare)) > 10,
			"part %d has a remedy", part);
	}
}

static void
test_list(void)
{
	char list[40] = "";

	remedy_add(list, sizeof(list), "first");
	remedy_add(list, sizeof(list), "second");
	remedy_add(list, sizeof(list), "first");
	is_str("first; and second", list, "each remedy is there once");
	remedy_add(list, sizeof(list), "a long one that does not fit at all");
	is_str("first; and second", list, "one that does not fit is not cut");
}

int
main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct step failed = { .number = cases[i].number,
			.part = cases[i].part };
		const char *text = remedy_of(&failed,
			cases[i].by_root ? &root : &user, &cases[i].place);

		ok(strstr(text, cases[i].has) != NULL, "%s: %s, in: %s",
			cases[i].name, cases[i].has, text);
	}
	test_never_empty();
	test_list();
	return done();
}
