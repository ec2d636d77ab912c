/* SPDX-License-Identifier: MIT */
#include "mcp/resources.h"
#include "mcp/document.h"
#include "mcp/list.h"
#include "mcp/skills.h"
#include "mcp/uri.h"
#include "site/component.h"
#include "site/listing.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/path.h"

#include <time.h>

/* ------------------------------------------------------------------ list -- */

/* A skill has the name of its directory. */
static void
skill_name(struct mcp *m, const char *path)
{
	size_t end = path_dir_len(path), start = end;

	while (start > 0 && path[start - 1] != '/')
		start--;
	mcp_key(m, "name");
	json_string(m->out, path + start, end - start);
}

static void
write_resource(struct mcp *m, const struct catalog_page *p)
{
	time_t t = (time_t)(p->id.mtime_ns / 1000000000);
	char stamp[32];
	struct tm tm;

	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_key(m, "uri");
	if (p->is_skill) {
		mcp_skills_uri(m, p->path);
		skill_name(m, p->path);
		mcp_text(m, "description", p->skill_description);
	} else {
		mcp_uri(m, p->path);
		mcp_text(m, "name", p->path);
		mcp_text(m, "title", p->title);
		mcp_text(m, "description",
			p->description[0] != '\0' ? p->description : p->title);
	}
	mcp_text(m, "mimeType", "text/markdown");
	mcp_key(m, "size");
	buf_printf(m->out, "%llu", (unsigned long long)p->id.length);
	if (p->id.mtime_ns > 0 && gmtime_r(&t, &tm) != NULL &&
		strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%SZ", &tm) > 0) {
		mcp_key(m, "annotations");
		buf_printf(m->out, "{\"lastModified\":\"%s\"}", stamp);
	}
	buf_char(m->out, '}');
}

enum rpc_code
mcp_resources_list(struct mcp *m)
{
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code =
		mcp_list_begin(m, &l, "resources", MCP_LIST_PIECE, &c);

	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < c->page_count; i++)
		if (mcp_list_includes(&l, c->pages[i].path))
			write_resource(m, &c->pages[i]);
	return mcp_list_end(m, &l);
}

enum rpc_code
mcp_resources_templates(struct mcp *m)
{
	mcp_key(m, "resourceTemplates");
	buf_text(m->out, "[{\"uriTemplate\":");
	mcp_uri_begin(m);
	buf_text(m->out, "{+path}\"");
	mcp_text(m, "name", "file");
	mcp_text(m, "title", "A file of the site");
	mcp_text(m, "description",
		"A page, with or without its .md, or a data file; a directory "
		"stands for its README.md");
	buf_text(m->out, "}]");
	mcp_cacheable(m);
	return RPC_OK;
}

/* ------------------------------------------------------------------ read -- */

static enum rpc_code
not_found(struct mcp *m, const char *uri)
{
	buf_text(&m->error_data, "{\"uri\":");
	json_string(&m->error_data, uri, strlen(uri));
	buf_char(&m->error_data, '}');
	return mcp_refuse(
		m, m->revision->no_resource, "there is no such resource");
}

/* The document as GET answers it. */
static enum ss_err
read_document(
	struct mcp *m, const struct ss_document *doc, bool raw, struct buf *out)
{
	struct component_job job = { .executor = &m->site->exec_state,
		.doc = doc,
		.request_id = m->request_id,
		.client_fd = m->client.fd };
	enum ss_err code = SS_OK;

	if (path_is_page(doc->path) && !raw)
		code = page_get(&m->site->pages, doc, &job.page, &m->err);
	if (code != SS_OK)
		return code;
	if (job.page != NULL &&
		component_applies(&m->site->exec_state, doc, job.page))
		return component_render(&job, out, &m->err);
	code = page_read(doc, out, &m->err);
	if (code == SS_OK && out->full)
		return error_set(&m->err, SS_OUTPUT_TOO_LARGE,
			"the file is larger than %zu bytes; get it over HTTP",
			out->max);
	return code;
}

/* "text/markdown", without the charset. */
static struct ss_text
plain_type(const char *path)
{
	struct ss_text type =
		text_of(path_is_page(path) ? MEDIA_MARKDOWN : media_type(path));
	const char *end = memchr(type.data, ';', type.len);

	if (end != NULL)
		type.len = (size_t)(end - type.data);
	return type;
}

void
mcp_resources_contents(struct mcp *m, const char *path, struct ss_text bytes)
{
	struct ss_text type = plain_type(path);

	mcp_key(m, "mimeType");
	json_string(m->out, type.data, type.len);
	if (utf8_valid(bytes.data, bytes.len) &&
		memchr(bytes.data, '\0', bytes.len) == NULL) {
		mcp_key(m, "text");
		json_string(m->out, bytes.data, bytes.len);
		return;
	}
	mcp_key(m, "blob");
	mcp_base64(m, bytes);
}

enum ss_err
mcp_resources_get(struct mcp *m, const char *path, enum mcp_reading how,
	const char **resolved, struct buf *out)
{
	bool authors = how == MCP_READ_AUTHORS;
	struct ss_document doc;
	enum ss_err code = authors ? mcp_document_open_any(m, path, &doc)
				   : mcp_document_open(m, path, &doc, NULL);

	*out = BUF_INIT((size_t)m->site->config.limits.max_output_bytes);
	if (code != SS_OK)
		return code;
	*resolved = arena_copy(&m->site->arena, doc.path, strlen(doc.path));
	if (*resolved == NULL)
		code = error_memory(&m->err);
	else if (authors ? listing_names(&m->site->catalog.source, doc.path)
			 : listing_has(&m->site->catalog.source, doc.path))
		code = read_document(m, &doc, how == MCP_READ_RAW, out);
	else
		code = error_set(&m->err, SS_NOT_FOUND, "no such file");
	mcp_document_close(m, &doc);
	return code;
}

enum rpc_code
mcp_resources_read(struct mcp *m)
{
	const char *uri = mcp_param(m, "uri");
	struct buf bytes = BUF_INIT(0);
	const char *path, *resolved;
	enum ss_err code;
	enum mcp_reading how = MCP_READ_AS_GET;

	if (uri == NULL)
		return RPC_BAD_PARAMS;
	path = mcp_skills_file(m, uri);
	if (path != NULL)
		how = MCP_READ_RAW;
	else
		path = mcp_uri_path(m, uri);
	if (path == NULL)
		return not_found(m, uri);
	code = mcp_resources_get(m, path, how, &resolved, &bytes);
	if (code == SS_OK) {
		mcp_key(m, "contents");
		buf_text(m->out, "[{\"uri\":");
		mcp_string(m, uri);
		mcp_resources_contents(m, resolved, buf_view(&bytes));
		buf_text(m->out, "}]");
		mcp_cacheable(m);
	}
	buf_release(&bytes);
	switch (code) {
	case SS_OK: return RPC_OK;
	case SS_GONE:
	case SS_INTERNAL:
	case SS_OUTPUT_TOO_LARGE: return RPC_INTERNAL;
	default: return not_found(m, uri);
	}
}
