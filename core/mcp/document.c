/* SPDX-License-Identifier: MIT */
#include "mcp/document.h"

enum ss_err
mcp_document_open(struct mcp *m, const char *path, struct ss_document *doc,
	struct page **page)
{
	struct page *parsed;
	enum ss_err code = page_open(&m->site->pages, &m->site->documents, path,
		doc, &parsed, &m->err);

	if (code != SS_OK || page == NULL)
		return code;
	*page = parsed;
	if (parsed == NULL)
		code = page_get(&m->site->pages, doc, page, &m->err);
	if (code == SS_OK && (*page)->error.code != SS_OK) {
		m->err = (*page)->error;
		code = m->err.code;
	}
	if (code != SS_OK)
		mcp_document_close(m, doc);
	return code;
}

enum ss_err
mcp_document_open_any(struct mcp *m, const char *path, struct ss_document *doc)
{
	return documents_open_any(&m->site->documents, path, doc, &m->err);
}

void
mcp_document_close(struct mcp *m, struct ss_document *doc)
{
	documents_close(&m->site->documents, doc);
}
