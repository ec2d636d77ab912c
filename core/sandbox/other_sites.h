/* SPDX-License-Identifier: MIT */
/*
 * The other sites of a pool: what lies in their roots is not of this site, by
 * whatever name.  The configuration was checked when it was read
 * (site/sites_check.h); names may lead elsewhere since then.
 */
#ifndef SS_SANDBOX_OTHER_SITES_H
#define SS_SANDBOX_OTHER_SITES_H

#include "sandbox/view_plan.h"

struct other_sites {
	const char *own;  /* where the site itself lies */
	const char *main; /* the site without a table; "": none */
	const struct grant *main_grant;
	const struct view_site *sites; /* all of the pool */
	size_t count;
	bool inside; /* where they lie in the view, not on the host */
};

/*
 * Does the path, or do its links, lead into the root of one of them, or to a
 * directory above?  fd is open at that path.  Also true when the path leads to
 * another file meanwhile.
 */
bool other_sites_have(const struct other_sites *o, const char *path, int fd);
/* May tools of one of them write to files of the host? */
bool other_sites_write(const struct other_sites *o);
/* Of the site that sandbox_self() is about, as this process sees them. */
struct other_sites other_sites_of_self(void);

#endif
