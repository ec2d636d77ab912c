/* SPDX-License-Identifier: MIT */
/*
 * The style and the script of the browser's view and the icon, compiled in.
 * Sources in core/http/assets/.
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
 * 16 hexadecimal digits and a NUL, FNV-1a of the bytes: a tag for caches, no
 * protection.
 */
void assets_tag(struct ss_text bytes, char out[static 17]);
/* The tags of style and script together: the version in their addresses. */
const char *assets_version(void);

#endif
