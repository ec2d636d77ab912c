/* SPDX-License-Identifier: MIT */
#include "mcp/document.h"

enum ss_err
mcp_document_open(struct mcp *m, const char *path, struct ss_document *doc,
	struct page **page)
{
	const struct ss_resolver *resolver = &m->site->resolver;
	enum ss_err code;

	*doc = SS_INIT(ss_document);
	doc->fd = doc->dir_fd = -1;
	code = resolver->open(resolver->ctx, path, doc, &m->err);
	if (code != SS_OK || page == NULL)
		return code;
	code = page_get(m->site, doc, page, &m->err);
	if (code == SS_OK && (*page)->error.code != SS_OK) {
		m->err = (*page)->error;
		code = m->err.code;
	}
	if (code != SS_OK)
		mcp_document_close(m, doc);
	return code;
}

void
mcp_document_close(struct mcp *m, struct ss_document *doc)
{
	m->site->resolver.close(m->site->resolver.ctx, doc);
}
