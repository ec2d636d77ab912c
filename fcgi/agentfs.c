/* SPDX-License-Identifier: MIT */
/*
 * statespace-agentfs: keeps a session's changes as one SQLite file of AgentFS,
 * which is the truth; the upper directory of overlayfs is made from it and taken
 * back into it after each call.
 *
 *	statespace-agentfs load BASE     upper is what the file has
 *	statespace-agentfs begin BASE    the same, and a tool is about to run
 *	statespace-agentfs save BASE NAME PARAMETERS RETURNCODE STARTED MS
 *	                                 the tool ended: the file has what it did
 *
 * The current directory is the session's, descriptor 3 the folder, BASE what it
 * is called.  upper.stamp says which state of the file upper is; while a tool
 * runs there is none, so that what a killed process left in upper is not taken.
 */
#include "agentfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agentfs_db.h"
#include "helper.h"

#define STAMP "upper.stamp"

static void
say(const char *what)
{
	fprintf(stderr, "statespace-agentfs: %s: %s\n", what, strerror(errno));
}

/* The state of the file, as text. */
static void
stamp_of(char out[static 256])
{
	struct db_query *q = db_ask(
		"SELECT (SELECT count(*) || ':' || coalesce(max(id), 0) "
		"FROM fs_dentry) || '/' || (SELECT count(*) || ':' || "
		"sum(size) || ':' || sum(mtime) || ':' || sum(mtime_nsec) || "
		"':' || sum(ctime) || ':' || sum(mode) FROM fs_inode) || '/' "
		"|| (SELECT count(*) || ':' || coalesce(max(rowid), 0) "
		"FROM fs_whiteout)");

	out[0] = '\0';
	if (db_next(q)) {
		snprintf(out, 256, "%s", db_get_text(q, 0));
		db_end(q);
	}
}

static bool
is_fresh(struct agentfs *a)
{
	char now[256], then[256];
	int fd = openat(a->session, STAMP, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, then, sizeof(then)) : -1;

	fd_close(&fd);
	stamp_of(now);
	return n > 0 && (size_t)n == strlen(now) &&
		memcmp(now, then, (size_t)n) == 0;
}

static int
put_stamp(struct agentfs *a)
{
	char now[256];

	stamp_of(now);
	return db_failed() ? EIO
			   : state_put(a->session, STAMP, now, strlen(now));
}

/* An empty upper with the folder's mode. */
static int
empty(struct agentfs *a)
{
	struct stat st;

	fd_close(&a->upper);
	if (fstat(a->base, &st) < 0 || !own_remove(a->session, "upper") ||
		mkdirat(a->session, "upper", 0700) < 0)
		return errno;
	a->upper = openat(a->session, "upper", AT_DIRECTORY);
	return a->upper < 0 || fchmod(a->upper, st.st_mode & 07777) < 0 ? errno
									: 0;
}

/* The changes were committed: the next call begins with none. */
static int
clear(struct agentfs *a)
{
	int number;

	if (faccessat(a->session, OWN_CLEAR, F_OK, 0) < 0)
		return 0;
	unlinkat(a->session, STAMP, 0);
	db_exec("BEGIN IMMEDIATE; DELETE FROM fs_dentry; DELETE FROM fs_data;"
		"DELETE FROM fs_symlink; DELETE FROM fs_whiteout;"
		"DELETE FROM fs_origin; DELETE FROM ss_delta;"
		"DELETE FROM fs_inode WHERE ino <> 1; COMMIT");
	number = empty(a);
	if (number == 0)
		number = put_stamp(a);
	if (number == 0 && unlinkat(a->session, OWN_CLEAR, 0) < 0)
		number = errno;
	return number;
}

static int
do_load(struct agentfs *a)
{
	int number = clear(a);

	if (number == 0 && !is_fresh(a)) {
		unlinkat(a->session, STAMP, 0);
		number = empty(a);
		if (number == 0)
			number = agentfs_load(a);
		if (number == 0)
			number = agentfs_note(a);
		if (number == 0)
			number = put_stamp(a);
	}
	return number;
}

static int
do_begin(struct agentfs *a)
{
	int number = do_load(a);

	if (number == 0 && unlinkat(a->session, STAMP, 0) < 0)
		number = errno;
	return number == 0 ? state_sync(a->session) : number;
}

static int
do_save(struct agentfs *a, char **words)
{
	const struct call call = { .name = words[0],
		.parameters = words[1],
		.returncode = strtoll(words[2], NULL, 10),
		.started_s = strtoll(words[3], NULL, 10),
		.duration_ms = strtoll(words[4], NULL, 10) };
	int number = agentfs_save(a, &call);

	return number == 0 ? put_stamp(a) : number;
}

int
main(int argc, char **argv)
{
	struct agentfs a = { .upper = -1, .base = 3 };
	const char *verb = argc > 2 ? argv[1] : "";
	int number = EINVAL;

	a.session = open(".", AT_DIRECTORY);
	a.upper = openat(a.session, "upper", AT_DIRECTORY);
	if (a.session < 0 || !db_open(argc > 2 ? argv[2] : ""))
		return EXIT_FAILURE;
	if (strcmp(verb, "load") == 0)
		number = do_load(&a);
	else if (strcmp(verb, "begin") == 0)
		number = do_begin(&a);
	else if (strcmp(verb, "save") == 0 && argc == 8)
		number = do_save(&a, argv + 3);
	errno = number;
	if (number != 0)
		say(verb);
	db_close();
	return number == 0 && !db_failed() ? EXIT_SUCCESS : EXIT_FAILURE;
}
