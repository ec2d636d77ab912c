/* SPDX-License-Identifier: MIT */
#include "mcp/document.h"

enum ss_err
mcp_document_open(struct mcp *m, const char *path, struct ss_document *doc,
	struct page **page)
{
	enum ss_err code =
		documents_open(&m->site->documents, path, doc, &m->err);

	if (code != SS_OK || page == NULL)
		return code;
	code = page_get(&m->site->pages, doc, page, &m->err);
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
	documents_close(&m->site->documents, doc);
}
