/* SPDX-License-Identifier: MIT */
#include "fixed.h"

#include <stdlib.h>
#include <string.h>

#include "say.h"

static const char *const keys[FIXED_KEYS] = { "pool.socket", "pool.socket_mode",
	"pool.socket_owner", "pool.socket_group", "pool.backlog" };

void
fixed_note(struct fixed *f, const struct ss_site *site)
{
	for (size_t i = 0; i < FIXED_KEYS; i++) {
		const char *value = ss_site_option(site, keys[i]);

		f->values[i] = value != NULL ? strdup(value) : NULL;
	}
}

void
fixed_tell(const struct fixed *f, const struct ss_site *site)
{
	for (size_t i = 0; i < FIXED_KEYS; i++) {
		const char *value = ss_site_option(site, keys[i]);

		if (f->values[i] != NULL && value != NULL &&
			strcmp(f->values[i], value) != 0)
			say("%s stays \"%s\": \"%s\" is in force after a "
			    "restart",
				keys[i], f->values[i], value);
	}
}

void
fixed_release(struct fixed *f)
{
	for (size_t i = 0; i < FIXED_KEYS; i++) {
		free(f->values[i]);
		f->values[i] = NULL;
	}
}
