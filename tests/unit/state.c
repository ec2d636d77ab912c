/* SPDX-License-Identifier: MIT */
/* state: which directory it is, who may own it, files that are whole. */
#include "state/state.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "tap.h"

static char top[] = "/tmp/statespace-state-XXXXXX";
static struct state state;
static struct ss_error err;

static int
drop(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static enum ss_err
try(const char *directory)
{
	state_close(&state);
	return state_open(&state, directory, geteuid(), getegid(), &err);
}

static const char *
below(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", top, name);
	return path;
}

static void
check_choice(void)
{
	struct stat st;

	setenv("STATE_DIRECTORY", below("a/b:/nowhere"), 1);
	is_int(SS_OK, try("auto"), "auto opens");
	is_str(below("a/b"), state.path, "... the first of systemd's names");
	ok(fstat(state.fd, &st) == 0 && (st.st_mode & 07777) == 0700,
		"... which was made for its owner alone");
	is_int(SS_OK, state_needed(&state, &err), "... and is there");
	unsetenv("STATE_DIRECTORY");
	setenv("XDG_STATE_HOME", top, 1);
	if (geteuid() == 0 || access("/var/lib/statespace", F_OK) == 0) {
		skip(1, "there is /var/lib/statespace");
	} else {
		try("auto");
		is_str(below("statespace"), state.path,
			"without systemd it is that of the XDG directories");
	}
	is_int(SS_OK, try(""), "none is no error");
	is_int(SS_STATE, state_needed(&state, &err),
		"... but what needs it is refused");
	ok(strstr(err.hint, "[state] directory") != NULL,
		"... with the remedy");
}

static void
check_refusals(void)
{
	const char *path = below("open");

	mkdir(path, 0700);
	is_int(SS_OK, try(path), "a directory that is there");
	chmod(path, 0755);
	is_int(SS_OK, try(path), "... others may look at it");
	chmod(path, 0720);
	is_int(SS_CONFIG, try(path), "... but not write to it");
	chmod(path, 0700);
	is_int(SS_CONFIG,
		state_open(&state, path, geteuid() + 1, getegid(), &err),
		"another account's is refused");
	ok(state.fd == -1 && strstr(err.message, "belongs to") != NULL,
		"... with the reason: %s", err.message);
	setenv("STATE_DIRECTORY", path, 1);
	is_int(SS_OK,
		state_open(&state, "auto", geteuid() + 1, getegid(), &err),
		"with auto it is as if there were none");
	is_int(-1, state.fd, "... and not used");
	is_int(SS_CONFIG, try("/proc/no/such"), "one that cannot be made");
}

static void
check_file(int dir, const char *name, const char *expected)
{
	char text[64] = "";
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	is_str(expected, text, "%s holds %s", name, expected);
}

static void
check_files(void)
{
	int dir;
	struct stat st;

	try(below("open"));
	dir = state_folder(state.fd, "jobs");
	ok(dir >= 0 && fstat(dir, &st) == 0 && (st.st_mode & 07777) == 0700,
		"a folder is made for its owner alone");
	close(dir);
	dir = state_folder(state.fd, "jobs");
	ok(dir >= 0, "... and found again");
	is_int(0, state_put_new(dir, "one", "first", 5), "a new file");
	is_int(EEXIST, state_put_new(dir, "one", "other", 5),
		"... is new once");
	check_file(dir, "one", "first");
	is_int(0, state_put(dir, "one", "second", 6), "... and replaced");
	check_file(dir, "one", "second");
	ok(symlinkat("/etc", state.fd, "link") == 0 &&
			state_folder(state.fd, "link") < 0,
		"a folder is no link");
	mkdirat(dir, "full", 0700);
	ok(state_put(dir, "full", "x", 1) != 0 && fstat(dir, &st) == 0 &&
			st.st_nlink == 3,
		"a name that cannot be replaced is told");
	unlinkat(dir, "full", AT_REMOVEDIR);
	unlinkat(dir, "one", 0);
	ok(unlinkat(state.fd, "jobs", AT_REMOVEDIR) == 0,
		"no part of a file is left behind");
	close(dir);
}

static void
check_ids(void)
{
	char one[STATE_ID_CAP], two[STATE_ID_CAP];

	ok(state_make_id(one) && state_make_id(two) && strcmp(one, two) != 0,
		"two ids differ");
	ok(state_is_id(text_of(one)), "an id is one");
	ok(!state_is_id((struct ss_text){ one, 31 }),
		"... not without its end");
	one[5] = 'G';
	ok(!state_is_id(text_of(one)), "... nor with another letter");
	two[7] = '/';
	ok(!state_is_id(text_of(two)), "... nor with a slash");
	two[7] = '\0';
	ok(!state_is_id((struct ss_text){ two, 32 }), "... nor with a NUL");
}

int
main(void)
{
	state = STATE_INIT;
	if (mkdtemp(top) == NULL)
		return 1;
	check_choice();
	check_refusals();
	check_files();
	check_ids();
	state_close(&state);
	nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
