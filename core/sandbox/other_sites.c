/* SPDX-License-Identifier: MIT */
#include "sandbox/other_sites.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "sandbox/grant_path.h"
#include "sandbox/sandbox.h"
#include "sandbox/sandbox_plan.h"

static const char *
place_of(const struct other_sites *o, size_t i)
{
	return o->inside ? o->sites[i].at : o->sites[i].root;
}

static bool
overlaps(const struct other_sites *o, const char *real, const char *place)
{
	return place[0] != '\0' && strcmp(place, o->own) != 0 &&
		(grant_path_is_below(real, place) ||
			grant_path_is_below(place, real));
}

static bool
is_same(const char *real, int fd)
{
	struct stat there, here;

	return stat(real, &there) == 0 && fstat(fd, &here) == 0 &&
		there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

bool
other_sites_have(const struct other_sites *o, const char *path, int fd)
{
	char *real;
	bool found;

	if (o->count == 0)
		return false;
	real = realpath(path, NULL);
	found = real == NULL || !is_same(real, fd) ||
		overlaps(o, real, o->main);
	for (size_t i = 0; i < o->count && !found; i++)
		found = overlaps(o, real, place_of(o, i));
	free(real);
	return found;
}

static bool
writes(const struct other_sites *o, const struct grant *g, const char *place)
{
	return g != NULL && g->write.count > 0 && strcmp(place, o->own) != 0;
}

bool
other_sites_write(const struct other_sites *o)
{
	bool found = o->count > 0 && writes(o, o->main_grant, o->main);

	for (size_t i = 0; i < o->count && !found; i++)
		found = writes(o, o->sites[i].grant, place_of(o, i));
	return found;
}

struct other_sites
other_sites_of_self(void)
{
	const struct sandbox *self = sandbox_self();
	const struct sandbox_plan *p = self->plan;
	bool inside = self->level == SANDBOX_STRICT;

	if (!self->shared)
		return (struct other_sites){ .count = 0 };
	return (struct other_sites){ .own = self->site,
		.main = inside ? VIEW_SITE : sandbox_plan_site(p),
		.main_grant = p->grant,
		.sites = p->sites,
		.count = p->site_count,
		.inside = inside };
}
