/* SPDX-License-Identifier: MIT */
#include "site/documents.h"

#include "base/error.h"
#include "files/resolver.h"
#include "sandbox/sandbox.h"

void
documents_init(struct documents *d, const struct grant *grant)
{
	d->root = ROOT_INIT;
	d->builtin = resolver_of_root(&d->root);
	d->resolver = d->builtin;
	d->grant = grant;
	d->hidden = (struct hidden){ .count = 0 };
}

/* The struct is 8 KiB of paths: its members are reset, it is not zeroed. */
enum ss_err
documents_open_any(const struct documents *d, const char *path,
	struct ss_document *out, struct ss_error *err)
{
	out->size = sizeof(*out);
	out->path[0] = out->real[0] = '\0';
	out->linked = false;
	out->fd = out->dir_fd = -1;
	out->data = NULL;
	out->handle = NULL;
	out->length = out->device = out->inode = 0;
	out->mtime_ns = out->ctime_ns = 0;
	return d->resolver.open(d->resolver.ctx, path, out, err);
}

/* Like the refusal of root_resolve for no file. */
enum ss_err
documents_refuse_hidden(const char *path, struct ss_error *err)
{
	error_set(err, SS_NOT_FOUND, "no such page or file");
	error_detail(err, "\"%s\" is hidden", path);
	return SS_NOT_FOUND;
}

bool
documents_hides(const struct documents *d, const struct ss_document *doc)
{
	return d->hidden.count > 0 &&
		(hidden_has(&d->hidden, doc->path) ||
			(doc->real[0] != '\0' &&
				hidden_has(&d->hidden, doc->real)));
}

static enum ss_err
open_shown(const struct documents *d, const char *path, struct ss_document *out,
	struct ss_error *err)
{
	enum ss_err code;

	out->fd = out->dir_fd = -1;
	if (hidden_has(&d->hidden, path))
		return documents_refuse_hidden(path, err);
	code = documents_open_any(d, path, out, err);
	/* A link out of the site would tell of a name that is hidden. */
	if (code == SS_PATH_REFUSED)
		return documents_refuse_hidden(path, err);
	if (code != SS_OK || !documents_hides(d, out))
		return code;
	documents_close(d, out);
	out->fd = out->dir_fd = -1;
	return documents_refuse_hidden(path, err);
}

enum ss_err
documents_open(const struct documents *d, const char *path,
	struct ss_document *out, struct ss_error *err)
{
	return d->hidden.count == 0 ? documents_open_any(d, path, out, err)
				    : open_shown(d, path, out, err);
}

void
documents_close(const struct documents *d, struct ss_document *doc)
{
	d->resolver.close(d->resolver.ctx, doc);
}

bool
documents_are_files(const struct documents *d)
{
	return d->root.fd >= 0 && d->resolver.open == d->builtin.open;
}

bool
documents_writable(const struct documents *d, const struct ss_document *doc)
{
	return policy_is_writable(d->grant, doc->path) ||
		policy_is_writable(d->grant, doc->real) ||
		(doc->fd >= 0 && d->root.fd >= 0 &&
			policy_leads_to(d->grant, d->root.fd, doc->real));
}

enum ss_err
documents_enter_view(struct documents *d, struct ss_error *err)
{
	const struct sandbox *self = sandbox_self();

	if (self->site == NULL || d->root.fd < 0)
		return SS_OK;
	/* The old descriptor stays open: it is self->site_fd. */
	if (self->site_fd >= 0)
		return root_reopen(&d->root, self->site_fd, self->site, err);
	root_close(&d->root);
	return root_open(&d->root, self->site, err);
}
