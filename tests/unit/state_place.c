/* SPDX-License-Identifier: MIT */
/* state_place: a state directory that tools have a way to is none. */
#include "site/state_place.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static char top[PATH_MAX];
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

static const char *
below(const char *name)
{
	static char paths[8][PATH_MAX + 64];
	static size_t n;
	char *path = paths[n++ % ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static enum ss_err
try(const char *directory, const char *root, const char *read,
	const struct view_site *other)
{
	const struct grant grant = { .root = root,
		.read = { &read, read != NULL } };
	struct sandbox_plan plan = SANDBOX_PLAN_INIT;

	plan.root = root;
	plan.grant = &grant;
	plan.sites = other;
	plan.site_count = other != NULL;
	plan.account.own_uid = geteuid();
	plan.account.own_gid = getegid();
	state_close(&state);
	return state_place_open(&state, &plan, directory, &err);
}

static bool
is_taken(const char *directory, const char *root, const char *read)
{
	return try(directory, root, read, NULL) == SS_OK && state.fd >= 0;
}

static void
check_grants(void)
{
	const char *dir = below("var/state"), *site = below("site");
	char optional[PATH_MAX + 2];

	ok(is_taken(dir, site, NULL), "a directory that nothing shows");
	ok(is_taken(dir, site, below("var/sta")), "a grant with a like name");
	ok(is_taken(dir, site, below("var/state/site")),
		"a grant beside its folders");
	is_int(SS_CONFIG, try(dir, site, below("var/state"), NULL),
		"a grant of it");
	ok(state.fd < 0 && state.looked, "... leaves none");
	is_int(SS_CONFIG, try(dir, site, top, NULL), "a grant above it");
	is_int(SS_CONFIG, try(dir, site, below("var/state/jobs/x"), NULL),
		"a grant in one of its folders");
	is_int(SS_CONFIG, try(dir, site, below("link"), NULL),
		"a link that leads above it");
	snprintf(optional, sizeof(optional), "%s?", top);
	is_int(SS_CONFIG, try(dir, site, optional, NULL), "an optional one");
}

static void
check_sites(void)
{
	const char *site = below("site"), *inside = below("site/state");
	const char *dot = below("site/.state"), *deep = below("site/a/.state");
	const char *root = below("var");
	const struct grant none = { .root = root };
	struct view_site other = { .root = root, .grant = &none };

	is_int(SS_CONFIG, try(inside, site, NULL, NULL), "in the site");
	is_int(SS_CONFIG, try(deep, site, NULL, NULL),
		"in a dot entry that is not masked");
	ok(is_taken(dot, site, NULL), "in a dot entry of the root");
	ok(is_taken(dot, site, "."), "... also where the root is granted");
	is_int(SS_CONFIG, try(dot, site, ".state", NULL),
		"... but not the entry");
	is_int(SS_CONFIG, try(below("var/state"), site, NULL, &other),
		"in another site of the pool");
	setenv("STATE_DIRECTORY", inside, 1);
	is_int(SS_OK, try("auto", site, NULL, NULL), "auto is no error");
	ok(state.fd < 0 && strstr(state.why, "tools reach it") != NULL,
		"... and there is none, with the reason");
}

int
main(void)
{
	char made[] = "/tmp/statespace-place-XXXXXX";

	state = STATE_INIT;
	if (mkdtemp(made) == NULL || realpath(made, top) == NULL)
		return 1;
	mkdir(below("site"), 0700);
	mkdir(below("site/a"), 0700);
	mkdir(below("var"), 0700);
	if (symlink("var", below("link")) < 0)
		return 1;
	check_grants();
	check_sites();
	state_close(&state);
	nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
	return done();
}
