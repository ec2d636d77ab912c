/* SPDX-License-Identifier: MIT */
/*
 * Copies whose original is gone: overlayfs notes in user.overlay.origin which
 * file of the base a copy was made of.  Where that file is not at the copy's
 * path the tool renamed it, or the base lost it meanwhile; its file handle tells
 * which, name_to_handle_at(2).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "workspace/scan.h"

/* fs/overlayfs/overlayfs.h, struct ovl_fb: its head is type and UUID. */
#define ORIGIN_HEAD 21
#define ORIGIN_MAGIC_AT 1
#define ORIGIN_MAGIC ((char)0xfb)
#define ORIGIN_TYPE_AT 4

struct handle {
	struct file_handle head;
	unsigned char bytes[MAX_HANDLE_SZ];
};

static bool
is_handle(const struct change *c, const struct handle *h)
{
	return c->origin_len > ORIGIN_HEAD &&
		c->origin[ORIGIN_MAGIC_AT] == ORIGIN_MAGIC &&
		(unsigned char)c->origin[ORIGIN_TYPE_AT] ==
		(unsigned char)h->head.handle_type &&
		c->origin_len - ORIGIN_HEAD == h->head.handle_bytes &&
		memcmp(c->origin + ORIGIN_HEAD, h->bytes,
			h->head.handle_bytes) == 0;
}

/* Is it a copy of something that the base has, and the session touched? */
static bool
is_renamed(struct scan *s, const struct change *copy)
{
	const struct changes *all = s->out;
	struct handle h;
	int mount;

	for (size_t i = 0; i < all->count; i++) {
		if (all->items[i].was.kind == CHANGE_NONE)
			continue;
		h.head.handle_bytes = MAX_HANDLE_SZ;
		if (name_to_handle_at(s->w->base, all->items[i].path, &h.head,
			    &mount, 0) == 0 &&
			is_handle(copy, &h))
			return true;
	}
	return false;
}

void
scan_origins(struct scan *s)
{
	for (size_t i = 0; i < s->out->count; i++) {
		struct change *c = &s->out->items[i];

		if (c->origin != NULL && c->conflict == NULL &&
			!is_renamed(s, c))
			c->conflict = "its original is gone";
	}
}
