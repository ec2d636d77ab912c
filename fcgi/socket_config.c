/* SPDX-License-Identifier: MIT */
#include "socket_config.h"

#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "say.h"

static const char *
key(const struct ss_site *site, const char *name)
{
	const char *value = ss_site_option(site, name);

	return value != NULL ? value : "";
}

/* Mode, owner and group of the socket. */
static enum ss_err
read_access(const struct ss_site *site, struct listen_access *a,
	struct ss_error *err)
{
	const char *mode = key(site, "pool.socket_mode");
	const char *owner = key(site, "pool.socket_owner");
	const char *group = key(site, "pool.socket_group");
	const struct passwd *pw = *owner ? getpwnam(owner) : NULL;
	const struct group *gr = *group ? getgrnam(group) : NULL;

	*a = (struct listen_access){
		.mode = 0660, .owner = (uid_t)-1, .group = (gid_t)-1
	};
	if (*mode)
		a->mode = (mode_t)strtoul(mode, NULL, 8) & 0777;
	if (*owner && pw == NULL)
		return say_refusal(err, SS_CONFIG,
			"[pool] socket_owner: there is no account \"%s\"",
			owner);
	if (*group && gr == NULL)
		return say_refusal(err, SS_CONFIG,
			"[pool] socket_group: there is no group \"%s\"", group);
	if (pw != NULL)
		a->owner = pw->pw_uid;
	if (gr != NULL)
		a->group = gr->gr_gid;
	return SS_OK;
}

static enum ss_err
check_path(const char *path, struct ss_error *err)
{
	const char *slash = strrchr(path, '/');
	char directory[LISTEN_PATH_MAX] = ".";
	struct stat st;

	if (strlen(path) >= LISTEN_PATH_MAX)
		return say_refusal(err, SS_CONFIG,
			"the socket's path is longer than %d bytes",
			LISTEN_PATH_MAX - 1);
	if (slash != NULL) {
		memcpy(directory, path, (size_t)(slash - path) + 1);
		directory[slash - path + 1] = '\0';
	}
	if (stat(directory, &st) < 0 || !S_ISDIR(st.st_mode))
		return say_refusal(err, SS_CONFIG,
			"cannot make the socket %s: there is no directory %s",
			path, directory);
	return SS_OK;
}

enum ss_err
socket_config_read(const struct ss_site *site, struct socket_config *out,
	struct ss_error *err)
{
	double backlog = ss_site_option_number(site, "pool.backlog");
	enum ss_err code = read_access(site, &out->access, err);

	out->path = key(site, "pool.socket");
	out->backlog = backlog > 0 ? (int)backlog : 511;
	if (code == SS_OK && out->path[0] != '\0')
		code = check_path(out->path, err);
	return code;
}
