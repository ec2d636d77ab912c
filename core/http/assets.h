/* SPDX-License-Identifier: MIT */
/*
 * The few files that are ours and not the site's, compiled in: style and
 * script of the browser's view, and the icon.  Sources in core/assets/.
 */
#ifndef SS_HTTP_ASSETS_H
#define SS_HTTP_ASSETS_H

#include "base/base.h"

struct asset {
	const char *type;
	struct ss_text bytes;
};

/* By name, "view.css"; false: there is none. */
bool assets_find(const char *name, struct asset *out);
/*
 * 16 hexadecimal digits and a NUL that change with the bytes: a tag for
 * caches, no proof of anything (FNV-1a).
 */
void assets_tag(struct ss_text bytes, char out[static 17]);
/* The same of style and script together: the version in their addresses. */
const char *assets_version(void);

#endif
