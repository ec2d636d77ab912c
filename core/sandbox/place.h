/* SPDX-License-Identifier: MIT */
/*
 * What this process was started in, as far as that decides what it can
 * confine: the container, what refuses system calls to it, the settings of the
 * kernel.  Read, not tried: sandbox_probe.h tries.
 */
#ifndef SS_SANDBOX_PLACE_H
#define SS_SANDBOX_PLACE_H

#include "base/base.h"

enum place_engine {
	ENGINE_NONE, /* none is known */
	ENGINE_DOCKER,
	ENGINE_PODMAN,
	ENGINE_KUBERNETES,
	ENGINE_LXC,
	ENGINE_NSPAWN,
	ENGINE_OTHER
};

struct place {
	enum place_engine engine;
	bool filtered; /* a seccomp filter is in force, seccomp(2) */
	bool unit;     /* started by systemd: INVOCATION_ID */
	bool admin;    /* CAP_SYS_ADMIN */
	/* The user namespace maps no account: user_namespaces(7), uid_map. */
	bool unmapped;
	/* Where this program is installed: "/usr", "/usr/local"; NULL. */
	const char *prefix;
	bool overlay; /* the root file system is overlayfs */
	/* Of /proc/self/attr/current; "": none. */
	char profile[80];
	bool selinux; /* the profile is SELinux's, else AppArmor's */
	/* Settings; -1: this kernel has none. */
	long max_user_namespaces, userns_clone, apparmor_userns;
	/* Is "landlock" in /sys/kernel/security/lsm?  -1: not known. */
	int landlock_listed;
};

void place_read(struct place *p);
/* "docker", "kubernetes", ..., "none is known". */
const char *place_engine_name(enum place_engine engine);

#endif
