/* SPDX-License-Identifier: MIT */
#include "files/resolver.h"

static enum ss_err
resolver_open(void *ctx, const char *path, struct ss_document *doc,
	struct ss_error *err)
{
	const struct root *root = ctx;

	return root_resolve(root, path, ROOT_FILE_AND_DIR, doc, err);
}

static void
resolver_close(void *ctx, struct ss_document *doc)
{
	(void)ctx;
	root_close_document(doc);
}

struct ss_resolver
resolver_of_root(struct root *root)
{
	struct ss_resolver r = SS_INIT(ss_resolver);

	r.ctx = root;
	r.open = resolver_open;
	r.close = resolver_close;
	return r;
}
