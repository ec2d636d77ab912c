/* SPDX-License-Identifier: MIT */
#include "sandbox/account.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool
is_named(const char *name)
{
	return name != NULL && name[0] != '\0';
}

static enum ss_err
refuse_missing(struct ss_error *err, const char *name)
{
	error_set(err, SS_CONFIG, "there is no account named %s", name);
	error_hint(err, "make it, or set pool.user to another one");
	return SS_CONFIG;
}

static void
set_name(struct account *out, const struct passwd *found)
{
	snprintf(out->name, sizeof(out->name), "%s",
		found != NULL ? found->pw_name : "tool");
}

/* Started by an ordinary user: tools run as that user. */
static enum ss_err
find_own(const char *user, struct account *out, struct ss_error *err)
{
	const struct passwd *named;

	out->uid = geteuid();
	out->gid = getegid();
	set_name(out, getpwuid(out->uid));
	if (!is_named(user))
		return SS_OK;
	named = getpwnam(user);
	if (named == NULL)
		return refuse_missing(err, user);
	if (named->pw_uid != out->uid)
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
 * The first of these names that is there.  Looks in /etc/passwd, passwd(5), where packages put their accounts: asking
 * every service of nsswitch.conf(5) costs more than starting a tool.  By
 * getline, since fgetpwent(3) seeks once for each line.
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
	const struct passwd *named;

	if (!is_named(user))
		return find_local(usual, out);
	named = getpwnam(user);
	if (named == NULL)
		return false;
	out->uid = named->pw_uid;
	out->gid = named->pw_gid;
	set_name(out, named);
	return true;
}

/* Started by root: never uid 0, which RLIMIT_NPROC does not bind. */
static enum ss_err
find_for_root(const char *user, const char *group, struct account *out,
	struct ss_error *err)
{
	const struct group *named;

	if (!find_user(user, out))
		return refuse_missing(
			err, is_named(user) ? user : "statespace or nobody");
	if (is_named(group)) {
		named = getgrnam(group);
		if (named == NULL)
			return error_set(err, SS_CONFIG,
				"there is no group named %s", group);
		out->gid = named->gr_gid;
	}
	out->drop = true;
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
	*out = (struct account){ .drop = false };
	return geteuid() == 0 ? find_for_root(user, group, out, err)
			      : find_own(user, out, err);
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
