/* SPDX-License-Identifier: MIT */
/* What a view is made of, and where things are inside of it. */
#ifndef SS_SANDBOX_VIEW_PLAN_H
#define SS_SANDBOX_VIEW_PLAN_H

#include "files/dotfiles.h"
#include "sandbox/account.h"
#include "sandbox/grant.h"
#include "sandbox/keeps.h"

#define VIEW_SITE "/site"
#define VIEW_SITES "/sites" /* of several: see struct view_site */
#define VIEW_AT_MAX 48
#define VIEW_SCRATCH "/tmp"
#define VIEW_LAYERS "/layers" /* of workspaces; covered: see overlay.h */
#define VIEW_LIBEXEC "/libexec"

/* What lies at a path of a view (view_find.h). */
enum view_place {
	VIEW_NOTHING, /* no tool sees anything there */
	VIEW_ITS_OWN, /* made for the view: "/", /tmp, /etc/passwd, /proc */
	VIEW_OF_HOST  /* a file or directory of the host, if the host has it */
};

/*
 * One of several sites of a process.  Landlock cannot refuse stat(2): in a view
 * each lies at a path that nobody can guess, so that the tools of one site
 * cannot ask for names of another one.
 */
struct view_site {
	const char *root;          /* absolute */
	const struct grant *grant; /* its own */
	char at[VIEW_AT_MAX];      /* "/sites/" and 32 random digits */
};

struct view_plan {
	const char *root;          /* the site; "": none */
	struct dotfiles *dotfiles; /* of it: what may be known, and then is */
	const char *libexec;       /* NULL: none */
	const struct grant *grant; /* NULL: nothing is granted */
	const struct view_site *sites; /* besides root */
	size_t site_count;
	const char *store; /* of workspaces: its path, and open; NULL: none */
	int store_fd;
	bool writes;  /* bind [grant] write writable: Landlock is there */
	bool watches; /* make a /proc for view_take_proc */
	uint64_t scratch_bytes, scratch_files;
	const struct account *account; /* owner of the scratch, in passwd(5) */
};

#endif
