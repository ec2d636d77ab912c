/* SPDX-License-Identifier: MIT */
#include "sandbox/account.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"

static bool
is_named(const char *name)
{
	return name != NULL && name[0] != '\0';
}

static enum ss_err
refuse_missing(struct ss_error *err, const char *name)
{
	error_set(err, SS_CONFIG, "there is no account named %s", name);
	error_hint(err,
		"make it, or name another one, or a number, in [pool] user: "
		"STATESPACE_POOL_USER=65534 in the environment is that, too");
	return SS_CONFIG;
}

static void
set_name(struct account *out, const struct passwd *found)
{
	snprintf(out->name, sizeof(out->name), "%s",
		found != NULL ? found->pw_name : "tool");
}

/* A number is an account without a line in passwd(5), as in chown(1). */
static bool
is_number(const char *text, unsigned *out)
{
	char *end;
	unsigned long n;

	if (*text < '0' || *text > '9')
		return false;
	n = strtoul(text, &end, 10);
	if (*end != '\0' || n >= UINT32_MAX)
		return false;
	*out = (unsigned)n;
	return true;
}

static bool
find_named(const char *user, struct account *out)
{
	const struct passwd *named = getpwnam(user);
	unsigned number;

	if (named == NULL && is_number(user, &number)) {
		named = getpwuid(number);
		out->uid = out->gid = number;
	} else if (named == NULL) {
		return false;
	}
	if (named != NULL) {
		out->uid = named->pw_uid;
		out->gid = named->pw_gid;
	}
	set_name(out, named);
	return true;
}

static bool
find_group(const char *group, gid_t *out)
{
	const struct group *named = getgrnam(group);
	unsigned number;

	if (named == NULL && !is_number(group, &number))
		return false;
	*out = named != NULL ? named->gr_gid : number;
	return true;
}

/* Started by an ordinary user: tools run as that user. */
static enum ss_err
find_own(const char *user, struct account *out, struct ss_error *err)
{
	struct account named = { .drop = false };

	out->uid = geteuid();
	out->gid = getegid();
	set_name(out, getpwuid(out->uid));
	if (!is_named(user))
		return SS_OK;
	if (!find_named(user, &named))
		return refuse_missing(err, user);
	if (named.uid != out->uid)
		return error_set(
			err, SS_CONFIG, "only root can run tools as %s", user);
	return SS_OK;
}

/* Reads uid and gid from a line of passwd(5), if it is this account's. */
static bool
is_line_of(const char *line, const char *name, struct account *out)
{
	size_t len = strlen(name);
	unsigned uid, gid;
	const char *ids;

	if (strncmp(line, name, len) != 0 || line[len] != ':')
		return false;
	ids = strchr(line + len + 1, ':');
	if (ids == NULL || sscanf(ids, ":%u:%u:", &uid, &gid) != 2)
		return false;
	out->uid = uid;
	out->gid = gid;
	return true;
}

/*
 * The first of these names that is there.  Looks in /etc/passwd, passwd(5),
 * where packages put their accounts: asking every service of nsswitch.conf(5)
 * costs more than starting a tool.  By getline, since fgetpwent(3) seeks once
 * for each line.
 */
static bool
find_local(const char *const *names, struct account *out)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL;
	size_t cap = 0, best = SIZE_MAX;

	while (file != NULL && best > 0 && getline(&line, &cap, file) > 0)
		for (size_t i = 0; i < best && names[i] != NULL; i++)
			if (is_line_of(line, names[i], out))
				best = i;
	free(line);
	if (file != NULL)
		fclose(file);
	if (best != SIZE_MAX)
		snprintf(out->name, sizeof(out->name), "%s", names[best]);
	return best != SIZE_MAX;
}

static bool
find_user(const char *user, struct account *out)
{
	static const char *const usual[] = { "statespace", "nobody", NULL };

	return is_named(user) ? find_named(user, out) : find_local(usual, out);
}

/*
 * uid_map of user_namespaces(7): first number here, first outside, how many.
 * Does this namespace have numbers besides 0?
 */
static bool
has_more_users(void)
{
	int fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	unsigned first, outside, count;
	char text[64] = "";
	ssize_t n;

	if (fd < 0)
		return true;
	n = read(fd, text, sizeof(text) - 1);
	fd_close(&fd);
	text[n > 0 ? n : 0] = '\0';
	/* A second line cannot be for 0 too. */
	return sscanf(text, "%u %u %u", &first, &outside, &count) != 3 ||
		first != 0 || count > 1 || strchr(text, '\n') == NULL ||
		strchr(text, '\n')[1] != '\0';
}

/* Started by root: never uid 0, which RLIMIT_NPROC does not bind. */
static enum ss_err
find_for_root(const char *user, const char *group, struct account *out,
	struct ss_error *err)
{
	if (!find_user(user, out))
		return refuse_missing(
			err, is_named(user) ? user : "statespace or nobody");
	if (is_named(group) && !find_group(group, &out->gid))
		return error_set(
			err, SS_CONFIG, "there is no group named %s", group);
	out->alias = !has_more_users();
	out->drop = !out->alias;
	if (out->uid != 0 && out->gid != 0)
		return SS_OK;
	error_set(err, SS_CONFIG, "tools cannot run as root");
	error_hint(err,
		"set pool.user and pool.group to an account without "
		"privileges");
	return SS_CONFIG;
}

enum ss_err
account_find(const char *user, const char *group, struct account *out,
	struct ss_error *err)
{
	enum ss_err code;

	*out = (struct account){ .drop = false };
	code = geteuid() == 0 ? find_for_root(user, group, out, err)
			      : find_own(user, out, err);
	out->own_uid = out->alias ? geteuid() : out->uid;
	out->own_gid = out->alias ? getegid() : out->gid;
	return code;
}

/* setuid(2), setgid(2). */
bool
account_can_become(const struct account *a)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct held[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	uint32_t both = 1u << CAP_SETUID | 1u << CAP_SETGID;

	return !a->drop || syscall(SYS_capget, &head, held) < 0 ||
		(held[0].effective & both) == both;
}

/* Groups first: setgroups(2) and setresgid(2) need the root that goes last. */
bool
account_become(const struct account *a)
{
	return !a->drop ||
		(syscall(SYS_setgroups, 0, NULL) == 0 &&
			setresgid(a->gid, a->gid, a->gid) == 0 &&
			setresuid(a->uid, a->uid, a->uid) == 0);
}
