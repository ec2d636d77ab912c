/* SPDX-License-Identifier: MIT */
#include "sandbox/remedy.h"

#include <errno.h>
#include <stdio.h>

#include "sandbox/landlock.h"

/* -------------------------------------------------------------- who refuses */

/* What takes away the refusals of a container's own filter and profile. */
static const char *
of_engine(const struct place *p, bool needs_user)
{
	switch (p->engine) {
	case ENGINE_NONE: break;
	case ENGINE_DOCKER:
		return needs_user
			? "docker run --user 65534 --security-opt "
			  "seccomp=unconfined --security-opt "
			  "apparmor=unconfined --security-opt "
			  "systempaths=unconfined"
			: "docker run --security-opt seccomp=unconfined "
			  "--security-opt apparmor=unconfined --security-opt "
			  "systempaths=unconfined";
	case ENGINE_PODMAN:
		return needs_user
			? "podman run --user 65534"
			: "podman run --security-opt seccomp=unconfined "
			  "--security-opt label=disable --security-opt "
			  "unmask=ALL";
	case ENGINE_KUBERNETES:
		return "hostUsers: false in the pod's spec, and in its "
		       "securityContext: seccompProfile: {type: Unconfined}, "
		       "appArmorProfile: {type: Unconfined}, procMount: "
		       "Unmasked, runAsUser: 65534";
	case ENGINE_LXC:
		return "security.nesting=true in the container's configuration "
		       "(lxc without a daemon: lxc.include = "
		       "/usr/share/lxc/config/nesting.conf)";
	case ENGINE_NSPAWN:
		return "SYSTEMD_SECCOMP=0 in the environment of systemd-nspawn";
	case ENGINE_OTHER: break;
	}
	return "start the container without its seccomp filter, and unconfined "
	       "by AppArmor and SELinux";
}

static const char *
of_filter(const struct place *p)
{
	if (p->unit)
		return "RestrictNamespaces=no and SystemCallFilter=@mount "
		       "@sandbox sethostname in the [Service] section of its "
		       "unit";
	return "start it without the seccomp filter that it inherits (Seccomp: "
	       "2 in /proc/self/status)";
}

/*
 * Ubuntu since 23.10: the namespaces are made, and what is in them is refused,
 * unless the program has a profile with the rule userns (conf/apparmor).
 */
static bool
apparmor_refuses(const struct account *a, const struct place *p)
{
	return !a->drop && p->apparmor_userns == 1 &&
		p->engine == ENGINE_NONE &&
		strncmp(p->profile, "statespace", 10) != 0;
}

static const char *
of_apparmor(const struct place *p)
{
	if (p->prefix == NULL)
		return "sysctl -w "
		       "kernel.apparmor_restrict_unprivileged_userns=0";
	if (strcmp(p->prefix, "/usr") == 0)
		return "ln -sf /usr/share/statespace/apparmor "
		       "/etc/apparmor.d/statespace && apparmor_parser -r "
		       "/etc/apparmor.d/statespace";
	return "cp /usr/local/share/statespace/apparmor "
	       "/etc/apparmor.d/statespace && apparmor_parser -r "
	       "/etc/apparmor.d/statespace";
}

/* EPERM and EACCES say nothing of who it was: the likeliest first. */
static const char *
of_refusal(const struct account *a, const struct place *p)
{
	if (!a->drop && p->max_user_namespaces == 0)
		return "sysctl -w user.max_user_namespaces=1024";
	if (!a->drop && p->userns_clone == 0)
		return "sysctl -w kernel.unprivileged_userns_clone=1";
	/* create_user_ns() of the kernel: EPERM for an account without map. */
	if (!a->drop && p->unmapped)
		return "map its account into the user namespace: unshare "
		       "--user --map-current-user COMMAND";
	if (apparmor_refuses(a, p))
		return of_apparmor(p);
	if (p->engine != ENGINE_NONE)
		return of_engine(p, a->drop && !p->admin);
	if (p->filtered)
		return of_filter(p);
	if (a->drop && !p->admin)
		return "start it as an account that is not 0, or with "
		       "CAP_SYS_ADMIN";
	if (p->selinux)
		return "SELinux refuses it: ausearch -m avc -ts recent | "
		       "audit2allow -M statespace && semodule -i statespace.pp";
	/* create_user_ns() of the kernel: what else gives EPERM. */
	return "enter the root directory by pivot_root(2), not by chroot(2): "
	       "bwrap --bind DIR / --dev /dev --proc /proc COMMAND";
}

/* -------------------------------------------------------------- by its part */

static const char *
of_namespaces(int error, const struct account *a, const struct place *p)
{
	switch (error) {
	case ENOSPC:
	case EUSERS:
		return p->max_user_namespaces > 0
			? "raise the limit of `sysctl user` that is reached"
			: "sysctl -w user.max_user_namespaces=1024";
	case ENOSYS:
		/* Filters of containers answer so, too. */
		if (p->engine != ENGINE_NONE || p->filtered)
			return of_refusal(a, p);
		return "Linux 5.12 or newer";
	case EINVAL: return "a kernel with CONFIG_USER_NS=y";
	case ENOENT: return "mount -t proc proc /proc";
	case EROFS: return "mount -o remount,rw /proc";
	default: return of_refusal(a, p);
	}
}

/* pivot_root(2): EINVAL where the root is no mount of this namespace. */
static const char *
of_view(int error, const struct account *a, const struct place *p)
{
	static const struct place nothing = { .admin = true,
		.max_user_namespaces = -1,
		.userns_clone = -1,
		.apparmor_userns = -1 };

	if (error == EINVAL)
		return of_refusal(a, &nothing);
	return of_namespaces(error, a, p);
}

static const char *
of_landlock(int error, const struct place *p)
{
	if (landlock_abi(0) > 0)
		return "Linux 6.2 or newer";
	if (error == EOPNOTSUPP && p->landlock_listed != 1)
		return "lsm=landlock before the other names of "
		       "/sys/kernel/security/lsm on the kernel's command line "
		       "(GRUB_CMDLINE_LINUX in /etc/default/grub)";
	if (p->engine != ENGINE_NONE && p->filtered)
		return of_engine(p, false);
	if (p->filtered)
		return of_filter(p);
	return "Linux 6.2 or newer with CONFIG_SECURITY_LANDLOCK=y";
}

/* Root that may not become the tools' account, or has no other one. */
static const char *
of_account(const struct account *a, const struct place *p)
{
	if (p->engine == ENGINE_DOCKER || p->engine == ENGINE_PODMAN ||
		p->engine == ENGINE_KUBERNETES)
		return of_engine(p, true);
	if (a->alias)
		return "start it as an account that is not 0, or map a second "
		       "account into the user namespace (newuidmap, "
		       "/etc/subuid)";
	return "start it as an account that is not 0, or with CAP_SETUID and "
	       "CAP_SETGID";
}

static const char *
of_scratch(int error, const struct place *p)
{
	if (error == ENOENT)
		return "mkdir -m 1777 /tmp";
	if (error == ENOSPC || error == EDQUOT)
		return "free space and file numbers (df -i) in /tmp";
	if (p->engine == ENGINE_DOCKER || p->engine == ENGINE_PODMAN)
		return "--tmpfs /tmp:mode=1777 when the container is run";
	if (p->engine == ENGINE_KUBERNETES)
		return "a volume emptyDir: {medium: Memory} at mountPath: /tmp";
	if (p->unit)
		return "PrivateTmp=yes in the [Service] section of its unit";
	return "mount -t tmpfs -o mode=1777 tmpfs /tmp";
}

const char *
remedy_of(const struct step *failed, const struct account *account,
	const struct place *place)
{
	switch (failed->part) {
	case PART_NAMESPACES:
		return of_namespaces(failed->number, account, place);
	case PART_VIEW: return of_view(failed->number, account, place);
	case PART_PROC: return "mount -t proc proc /proc";
	case PART_DEVICES: return "mknod -m 666 /dev/null c 1 3";
	case PART_ACCOUNT: return of_account(account, place);
	case PART_SITE:
		return "let the account that tools run as read the site: chmod "
		       "-R o+rX it, and chmod o+x each directory above it";
	case PART_BOUNDS:
		return "start it as an account that is not the machine's root, "
		       "whose processes no limit counts";
	case PART_FILTER: return "a kernel with CONFIG_SECCOMP_FILTER=y";
	case PART_LANDLOCK: return of_landlock(failed->number, place);
	case PART_SCRATCH: return of_scratch(failed->number, place);
	}
	return "";
}

void
remedy_add(char *list, size_t cap, const char *remedy)
{
	size_t len = strlen(list), more = strlen(remedy);

	if (more == 0 || strstr(list, remedy) != NULL ||
		len + more + sizeof("; and ") > cap)
		return;
	snprintf(
		list + len, cap - len, "%s%s", len > 0 ? "; and " : "", remedy);
}
