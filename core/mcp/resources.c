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

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

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
	buf_text(m->out, "},{\"uriTemplate\":");
	mcp_uri_begin(m);
	buf_text(m->out, "{+path}{?offset,length}\"");
	mcp_text(m, "name", "part");
	mcp_text(m, "title", "Bytes of a file");
	mcp_text(m, "description",
		"A part of a large file, from offset on, at most length bytes");
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

/* ----------------------------------------------------------------- parts -- */

#define PART_BYTES 65536 /* without a length */

/* The part of a file that a query asks for. */
struct part_range {
	uint64_t offset, length, size;
};

static bool
read_number(const char **at, const char *key, uint64_t *out)
{
	size_t n = strlen(key), digits;

	if (strncmp(*at, key, n) != 0)
		return false;
	digits = strspn(*at + n, "0123456789");
	if (digits == 0 || digits > 15)
		return false;
	*out = strtoull(*at + n, NULL, 10);
	*at += n + digits;
	return true;
}

/* offset=N&length=N, in any order, each at most once.  False: no such query. */
static bool
read_range(const char *query, struct part_range *out)
{
	bool offset = false, length = false;

	*out = (struct part_range){ .length = PART_BYTES };
	for (; *query != '\0'; query++) {
		if (!offset && read_number(&query, "offset=", &out->offset))
			offset = true;
		else if (!length &&
			read_number(&query, "length=", &out->length))
			length = true;
		else
			return false;
		if (*query == '\0')
			break;
		if (*query != '&' || query[1] == '\0')
			return false;
	}
	return (offset || length) && out->length > 0;
}

/* Bytes of the file, without what is half a character at either end. */
static enum ss_err
read_part(struct mcp *m, const struct ss_document *doc, struct part_range *r,
	struct buf *out)
{
	size_t most = out->max, n = 0, skip = 0;
	char *to;
	ssize_t got = 0;

	r->size = doc->length;
	if (r->length < most)
		most = (size_t)r->length;
	if (r->offset >= doc->length || doc->fd < 0)
		return SS_OK;
	to = buf_reserve(out, most);
	if (to == NULL)
		return error_memory(&m->err);
	while (n < most &&
		(got = pread(doc->fd, to + n, most - n,
			 (off_t)(r->offset + n))) > 0)
		n += (size_t)got;
	if (got < 0)
		return error_internal(&m->err, errno, "read %s", doc->path);
	out->len = n;
	out->data[n] = '\0';
	while (skip < n && skip < 3 && ((unsigned char)to[skip] & 0xc0) == 0x80)
		skip++;
	if (r->offset + n < doc->length)
		n -= utf8_unfinished(out->data, n);
	if (n <= skip || !utf8_valid(out->data + skip, n - skip))
		return SS_OK; /* no text: the bytes as they are */
	memmove(out->data, out->data + skip, n - skip);
	out->len = n - skip;
	out->data[out->len] = '\0';
	r->offset += skip;
	return SS_OK;
}

static enum ss_err
get_part(struct mcp *m, const char *path, const char **resolved,
	struct part_range *r, struct buf *out)
{
	struct ss_document doc;
	enum ss_err code = mcp_document_open(m, path, &doc, NULL);

	*out = BUF_INIT((size_t)m->site->config.limits.max_output_bytes);
	if (code != SS_OK)
		return code;
	*resolved = arena_copy(&m->site->arena, doc.path, strlen(doc.path));
	if (*resolved == NULL)
		code = error_memory(&m->err);
	else if (listing_has(&m->site->catalog.source, doc.path))
		code = read_part(m, &doc, r, out);
	else
		code = error_set(&m->err, SS_NOT_FOUND, "no such file");
	mcp_document_close(m, &doc);
	if (code != SS_OK)
		return code;
	buf_printf(&m->result_meta, ",\"" MCP_OWN "size\":%" PRIu64, r->size);
	if (r->offset + out->len < r->size)
		buf_printf(&m->result_meta, ",\"" MCP_OWN "offset\":%" PRIu64,
			r->offset + out->len);
	return SS_OK;
}

/* The URI without a query that asks for a part; *r tells whether there was. */
static const char *
split_range(struct mcp *m, const char *uri, bool *part, struct part_range *r)
{
	const char *query = strrchr(uri, '?');

	*part = query != NULL && read_range(query + 1, r);
	return *part ? arena_copy(&m->site->arena, uri, (size_t)(query - uri))
		     : uri;
}

enum rpc_code
mcp_resources_read(struct mcp *m)
{
	const char *uri = mcp_param(m, "uri"), *whole;
	struct buf bytes = BUF_INIT(0);
	const char *path, *resolved;
	struct part_range range;
	enum ss_err code;
	enum mcp_reading how = MCP_READ_AS_GET;
	bool part;

	if (uri == NULL)
		return RPC_BAD_PARAMS;
	whole = split_range(m, uri, &part, &range);
	if (whole == NULL)
		return mcp_no_memory(m);
	path = mcp_skills_file(m, whole);
	if (path != NULL)
		how = MCP_READ_RAW;
	else
		path = mcp_uri_path(m, whole);
	if (path == NULL)
		return not_found(m, uri);
	code = part ? get_part(m, path, &resolved, &range, &bytes)
		    : mcp_resources_get(m, path, how, &resolved, &bytes);
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
