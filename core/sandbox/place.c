/* SPDX-License-Identifier: MIT */
#include "sandbox/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fd.h"

#define OVERLAY_MAGIC 0x794c7630 /* OVERLAYFS_SUPER_MAGIC */

/* The beginning of a file as one text; "" when it cannot be read. */
static const char *
read_text(const char *path, char *text, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	while (fd >= 0 && len + 1 < cap &&
		(n = read(fd, text + len, cap - 1 - len)) > 0)
		len += (size_t)n;
	fd_close(&fd);
	text[len] = '\0';
	/* The parts of /proc/PID/environ end with NUL. */
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0')
			text[i] = '\n';
	return text;
}

static long
read_setting(const char *path)
{
	char text[32];

	read_text(path, text, sizeof(text));
	return text[0] == '\0' ? -1 : strtol(text, NULL, 10);
}

/* ------------------------------------------------------------ the container */

/* systemd's CONTAINER_INTERFACE: the variable "container" of the first
 * process, and what engines write there. */
static enum place_engine
engine_of_word(const char *word)
{
	static const struct {
		const char *word;
		enum place_engine engine;
	} words[] = { { "docker", ENGINE_DOCKER }, { "podman", ENGINE_PODMAN },
		{ "lxc", ENGINE_LXC }, { "systemd-nspawn", ENGINE_NSPAWN },
		{ "kube", ENGINE_KUBERNETES } };

	if (word == NULL || word[0] == '\0')
		return ENGINE_NONE;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strncmp(word, words[i].word, strlen(words[i].word)) == 0)
			return words[i].engine;
	return ENGINE_OTHER;
}

static enum place_engine
engine_of_first_process(void)
{
	char text[8192];
	const char *at = read_text("/proc/1/environ", text, sizeof(text));

	if (strncmp(at, "container=", 10) == 0)
		return engine_of_word(at + 10);
	at = strstr(at, "\ncontainer=");
	return at == NULL ? ENGINE_NONE : engine_of_word(at + 11);
}

/* Version 1 shows it in most hierarchies; a cgroup namespace hides it. */
static enum place_engine
engine_of_groups(void)
{
	static const struct {
		const char *part;
		enum place_engine engine;
	} parts[] = { { "kubepods", ENGINE_KUBERNETES },
		{ "/docker/", ENGINE_DOCKER }, { "/docker-", ENGINE_DOCKER },
		{ "libpod-", ENGINE_PODMAN }, { "/lxc/", ENGINE_LXC },
		{ "lxc.payload", ENGINE_LXC } };
	char text[4096];

	read_text("/proc/self/cgroup", text, sizeof(text));
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (strstr(text, parts[i].part) != NULL)
			return parts[i].engine;
	return ENGINE_NONE;
}

/*
 * Virtual machines are made from Docker's images too: /.dockerenv alone is no
 * container.
 */
static enum place_engine
find_engine(const struct place *p)
{
	char text[64];
	enum place_engine found;

	if (getenv("KUBERNETES_SERVICE_HOST") != NULL ||
		access("/var/run/secrets/kubernetes.io", F_OK) == 0)
		return ENGINE_KUBERNETES;
	found = engine_of_groups();
	if (found == ENGINE_NONE && access("/run/.containerenv", F_OK) == 0)
		found = ENGINE_PODMAN;
	if (found == ENGINE_NONE)
		found = engine_of_first_process();
	if (found == ENGINE_NONE)
		found = engine_of_word(getenv("container"));
	if (found == ENGINE_NONE)
		found = engine_of_word(read_text(
			"/run/systemd/container", text, sizeof(text)));
	if (found == ENGINE_NONE && access("/.dockerenv", F_OK) == 0 &&
		(p->overlay || strncmp(p->profile, "docker", 6) == 0))
		found = ENGINE_DOCKER;
	return found;
}

const char *
place_engine_name(enum place_engine engine)
{
	switch (engine) {
	case ENGINE_NONE: break;
	case ENGINE_DOCKER: return "docker";
	case ENGINE_PODMAN: return "podman";
	case ENGINE_KUBERNETES: return "kubernetes";
	case ENGINE_LXC: return "lxc";
	case ENGINE_NSPAWN: return "systemd-nspawn";
	case ENGINE_OTHER: return "a container";
	}
	return "none is known";
}

/* --------------------------------------------------------------- the process */

/* By system calls: there may be no /proc.  PR_GET_SECCOMP, prctl(2). */
static void
ask_kernel(struct place *p)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct held[2] = { { 0, 0, 0 }, { 0, 0, 0 } };

	p->filtered = prctl(PR_GET_SECCOMP) > 0;
	if (syscall(SYS_capget, &head, held) == 0)
		p->admin = (held[0].effective >> CAP_SYS_ADMIN & 1) != 0;
}

/* SELinux's has colons, "system_u:system_r:container_t:s0". */
static void
read_profile(struct place *p)
{
	read_text("/proc/self/attr/current", p->profile, sizeof(p->profile));
	p->profile[strcspn(p->profile, "\n")] = '\0';
	p->selinux = strchr(p->profile, ':') != NULL;
}

static int
find_landlock(void)
{
	char text[512];

	read_text("/sys/kernel/security/lsm", text, sizeof(text));
	return text[0] == '\0' ? -1 : strstr(text, "landlock") != NULL;
}

static const char *
find_prefix(void)
{
	static const char *const prefixes[] = { "/usr", "/usr/local" };
	char path[PATH_MAX], bin[32];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		snprintf(bin, sizeof(bin), "%s/bin/", prefixes[i]);
		if (n > (ssize_t)strlen(bin) &&
			memcmp(path, bin, strlen(bin)) == 0)
			return prefixes[i];
	}
	return NULL;
}

/* As unshare(1) makes it without an option that maps. */
static bool
is_unmapped(void)
{
	static const char map[] = "/proc/self/uid_map";
	char text[32];

	return access(map, R_OK) == 0 &&
		read_text(map, text, sizeof(text))[0] == '\0';
}

void
place_read(struct place *p)
{
	struct statfs root;

	*p = (struct place){ .unit = getenv("INVOCATION_ID") != NULL,
		.unmapped = is_unmapped(),
		.prefix = find_prefix(),
		.overlay = statfs("/", &root) == 0 &&
			(unsigned long)root.f_type == OVERLAY_MAGIC,
		.max_user_namespaces =
			read_setting("/proc/sys/user/max_user_namespaces"),
		.userns_clone = read_setting(
			"/proc/sys/kernel/unprivileged_userns_clone"),
		.apparmor_userns =
			read_setting("/proc/sys/kernel/"
				     "apparmor_restrict_unprivileged_userns"),
		.landlock_listed = find_landlock() };
	ask_kernel(p);
	read_profile(p);
	p->engine = find_engine(p);
}
