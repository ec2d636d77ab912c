/* SPDX-License-Identifier: MIT */
#include "state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/fd.h"
#include "base/text.h"

#define SYSTEM_DIRECTORY "/var/lib/statespace"
#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* ---------------------------------------------------------- which one -- */

static bool
fill_path(struct state *s, const char *first, const char *rest)
{
	int n = snprintf(s->path, sizeof(s->path), "%s%s", first, rest);

	return n > 0 && (size_t)n < sizeof(s->path) && s->path[0] == '/';
}

static bool
is_own_directory(const char *path, uid_t uid)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid;
}

static const char *
home_directory(void)
{
	const char *home = getenv("HOME");
	const struct passwd *account;

	if (home != NULL && home[0] == '/')
		return home;
	account = getpwuid(geteuid());
	return account != NULL ? account->pw_dir : "";
}

/* False: there is no place for it. */
static bool
choose(struct state *s, uid_t uid)
{
	const char *named = getenv("STATE_DIRECTORY");
	const char *base = getenv("XDG_STATE_HOME");

	if (named != NULL && named[0] == '/') {
		/* systemd.exec(5): several names have colons between them. */
		if (!fill_path(s, named, ""))
			return false;
		s->path[strcspn(s->path, ":")] = '\0';
		return true;
	}
	if (geteuid() == 0 || is_own_directory(SYSTEM_DIRECTORY, uid))
		return fill_path(s, SYSTEM_DIRECTORY, "");
	if (base != NULL && base[0] == '/')
		return fill_path(s, base, "/statespace");
	return fill_path(s, home_directory(), "/.local/state/statespace");
}

/* -------------------------------------------------------------- open it -- */

/* Its last parents, too: a new home has no ~/.local. */
static bool
make_directory(char *path)
{
	char *slash = path;

	while ((slash = strchr(slash + 1, '/')) != NULL) {
		int made;

		*slash = '\0';
		made = mkdir(path, 0700);
		*slash = '/';
		if (made < 0 && errno != EEXIST && errno != EACCES &&
			errno != EROFS)
			return false;
	}
	return mkdir(path, 0700) == 0;
}

/* Is what fd has open the account's alone?  Else says why not. */
static bool
is_private(struct state *s, int fd, uid_t uid)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		snprintf(s->why, sizeof(s->why), "fstat: %s", strerror(errno));
	else if (st.st_uid != uid)
		snprintf(s->why, sizeof(s->why),
			"it belongs to the account %u, and tools run as %u",
			(unsigned)st.st_uid, (unsigned)uid);
	else if ((st.st_mode & 0022) != 0)
		snprintf(s->why, sizeof(s->why),
			"other accounts may write to it: chmod 700");
	else
		return true;
	return false;
}

static bool
open_path(struct state *s, uid_t uid, gid_t gid)
{
	int fd = open(s->path, DIR_FLAGS);

	if (fd < 0 && errno == ENOENT && make_directory(s->path)) {
		fd = open(s->path, DIR_FLAGS | O_NOFOLLOW);
		if (fd >= 0 && geteuid() == 0 && fchown(fd, uid, gid) < 0) {
			snprintf(s->why, sizeof(s->why), "chown: %s",
				strerror(errno));
			fd_close(&fd);
			return false;
		}
	}
	if (fd < 0) {
		snprintf(s->why, sizeof(s->why), "%s", strerror(errno));
		return false;
	}
	if (!is_private(s, fd, uid)) {
		fd_close(&fd);
		return false;
	}
	s->fd = fd;
	return true;
}

enum ss_err
state_open(struct state *s, const char *directory, uid_t uid, gid_t gid,
	struct ss_error *err)
{
	bool chosen = strcmp(directory, "auto") == 0;

	*s = STATE_INIT;
	s->looked = true;
	if (directory[0] == '\0') {
		snprintf(s->why, sizeof(s->why), "[state] directory is \"\"");
		return SS_OK;
	}
	if (chosen ? !choose(s, uid) : !fill_path(s, directory, "")) {
		snprintf(s->why, sizeof(s->why), "no directory is known");
		s->path[0] = '\0';
	} else if (open_path(s, uid, gid)) {
		return SS_OK;
	}
	if (chosen)
		return SS_OK;
	return error_set(
		err, SS_CONFIG, "[state] directory %s: %s", directory, s->why);
}

void
state_close(struct state *s)
{
	fd_close(&s->fd);
	s->looked = false;
}

enum ss_err
state_needed(const struct state *s, struct ss_error *err)
{
	if (s->fd >= 0)
		return SS_OK;
	error_set(err, SS_STATE, "this server has no state directory");
	error_hint(err,
		"the operator can name one: [state] directory = \"/DIR\" in "
		"statespace.toml(5), or STATESPACE_STATE_DIRECTORY=/DIR");
	error_detail(
		err, "%s%s%s", s->path, s->path[0] != '\0' ? ": " : "", s->why);
	error_setting(err, "state.directory", "%s", "");
	return SS_STATE;
}

/* -------------------------------------------------------- files in there -- */

/* What root makes belongs to the directory's owner, whose workers read it. */
static int
give_to_owner(int fd, int dir)
{
	struct stat st;

	if (geteuid() != 0)
		return 0;
	return fstat(dir, &st) < 0 || fchown(fd, st.st_uid, st.st_gid) < 0
		? errno
		: 0;
}

int
state_folder(int dir, const char *name)
{
	int fd = openat(dir, name, DIR_FLAGS | O_NOFOLLOW), number;

	if (fd >= 0 || errno != ENOENT)
		return fd;
	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return -1;
	fd = openat(dir, name, DIR_FLAGS | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	number = give_to_owner(fd, dir);
	if (number == 0)
		number = state_sync(dir);
	if (number != 0) {
		fd_close(&fd);
		errno = number;
	}
	return fd;
}

int
state_sync(int dir)
{
	return fsync(dir) == 0 || errno == EINVAL ? 0 : errno;
}

/* Writes the bytes to a file with a new name; 0 or errno, and no file. */
static int
write_part(int dir, const char *part, const char *data, size_t len)
{
	int fd = openat(dir, part,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int number;

	if (fd < 0)
		return errno;
	number = give_to_owner(fd, dir);
	if (number == 0)
		number = fd_write_all(fd, data, len);
	if (number == 0 && fsync(fd) < 0)
		number = errno;
	fd_close(&fd);
	if (number != 0)
		unlinkat(dir, part, 0);
	return number;
}

/*
 * link(2) gives a second name only where none is, on every file system that
 * has links; renameat2(2) with RENAME_NOREPLACE is missing on NFS.
 */
static int
put(int dir, const char *name, const char *data, size_t len, bool is_new)
{
	char id[STATE_ID_CAP], part[STATE_ID_CAP + 1];
	int number;

	if (!state_make_id(id))
		return errno;
	snprintf(part, sizeof(part), ".%s", id);
	number = write_part(dir, part, data, len);
	if (number != 0)
		return number;
	if (is_new ? linkat(dir, part, dir, name, 0) < 0
		   : renameat(dir, part, dir, name) < 0)
		number = errno;
	if (is_new || number != 0)
		unlinkat(dir, part, 0);
	return number == 0 ? state_sync(dir) : number;
}

int
state_put(int dir, const char *name, const char *data, size_t len)
{
	return put(dir, name, data, len, false);
}

int
state_put_new(int dir, const char *name, const char *data, size_t len)
{
	return put(dir, name, data, len, true);
}

/* ------------------------------------------------------------------ ids -- */

bool
state_make_id(char out[static STATE_ID_CAP])
{
	uint8_t bytes[STATE_ID_LEN / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	digest_hex(bytes, sizeof(bytes), out);
	return true;
}

bool
state_is_id(struct ss_text text)
{
	if (text.len != STATE_ID_LEN)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr("0123456789abcdef", text.data[i]) == NULL ||
			text.data[i] == '\0')
			return false;
	return true;
}
