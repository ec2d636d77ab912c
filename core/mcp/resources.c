/* SPDX-License-Identifier: MIT */
/*
 * Pages as resources: their list, one template for every file, what they
 * hold.  A page is read as GET answers it, its components run.
 */
#include "mcp/parts.h"
#include "site/component.h"
#include "site/listing.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/path.h"

#include <stdio.h>
#include <time.h>

/* ------------------------------------------------------------------- uri -- */

static bool
is_unreserved(char c)
{
	char lower = (char)(c | 0x20);

	return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
		strchr("-._~/", c) != NULL;
}

void
mcp_uri_path_add(struct mcp *m, const char *path)
{
	for (const char *c = path; *c != '\0'; c++)
		if (is_unreserved(*c))
			buf_char(m->out, *c);
		else
			buf_printf(m->out, "%%%02X", (unsigned char)*c);
}

/* An address of a site may be written without its last slash. */
static const char *
slash_behind(const char *base)
{
	return text_ends(text_of(base), "/") ? "" : "/";
}

/* A quote and the base, which config holds to need no escape. */
static void
open_uri(struct mcp *m)
{
	const char *base = m->site->config.mcp.uri;

	buf_printf(m->out, "\"%s%s", base, slash_behind(base));
}

void
mcp_uri(struct mcp *m, const char *path)
{
	open_uri(m);
	mcp_uri_path_add(m, path);
	buf_char(m->out, '"');
}

static int
hex(char c)
{
	char lower = (char)(c | 0x20);

	if (c >= '0' && c <= '9')
		return c - '0';
	return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

const char *
mcp_uri_path(struct mcp *m, const char *uri)
{
	const char *base = m->site->config.mcp.uri;
	const char *slash = slash_behind(base);
	size_t n = strlen(base);

	if (strncmp(uri, base, n) != 0 ||
		strncmp(uri + n, slash, strlen(slash)) != 0)
		return NULL;
	return mcp_uri_decode(m, uri + n + strlen(slash));
}

const char *
mcp_uri_decode(struct mcp *m, const char *uri)
{
	char *plain, *path;
	size_t len = 0;

	plain = arena_alloc(&m->site->arena, strlen(uri) + 1);
	path = arena_alloc(&m->site->arena, PATH_BYTES_MAX + 1);
	if (plain == NULL || path == NULL)
		return NULL;
	for (; *uri != '\0'; uri++) {
		if (*uri == '?' || *uri == '#')
			return NULL;
		plain[len] = *uri;
		if (*uri == '%') {
			int high = hex(uri[1]);
			int low = high >= 0 ? hex(uri[2]) : -1;

			if (low < 0)
				return NULL;
			plain[len] = (char)(high << 4 | low);
			uri += 2;
		}
		len++;
	}
	if (len > 0 && plain[0] == '/') /* the base ends with the one slash */
		return NULL;
	return ss_path_clean(plain, len, path, PATH_BYTES_MAX + 1, NULL) ==
			SS_OK
		? path
		: NULL;
}

/* ------------------------------------------------------------------ list -- */

/* A skill is called as its directory is. */
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
		mcp_skill_uri(m, p->path);
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
		mcp_list_begin(m, &l, "resources", MCP_PAGE_SIZE, &c);

	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < c->page_count; i++)
		if (mcp_list_takes(&l, c->pages[i].path))
			write_resource(m, &c->pages[i]);
	return mcp_list_end(m, &l);
}

enum rpc_code
mcp_resources_templates(struct mcp *m)
{
	mcp_key(m, "resourceTemplates");
	buf_text(m->out, "[{\"uriTemplate\":");
	open_uri(m);
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
	return mcp_refuse(m,
		m->era == MCP_MODERN ? RPC_BAD_PARAMS : RPC_NOT_FOUND,
		"there is no such resource");
}

/* The document as GET answers it. */
static enum ss_err
read_document(
	struct mcp *m, const struct ss_document *doc, bool raw, struct buf *out)
{
	struct component_job job = { .executor = &m->site->exec_state,
		.doc = doc,
		.request_id = m->request_id,
		.client_fd = m->client_fd };
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
type_of(const char *path)
{
	struct ss_text type =
		text_of(path_is_page(path) ? MEDIA_MARKDOWN : media_type(path));
	const char *end = memchr(type.data, ';', type.len);

	if (end != NULL)
		type.len = (size_t)(end - type.data);
	return type;
}

void
mcp_contents(struct mcp *m, const char *path, struct ss_text bytes)
{
	struct ss_text type = type_of(path);

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

static enum ss_err
read_path(struct mcp *m, const char *path, bool raw, char resolved[static 4097],
	struct buf *out)
{
	struct ss_document doc;
	enum ss_err code = mcp_open(m, path, &doc, NULL);

	*out = BUF_INIT((size_t)m->site->config.limits.max_output_bytes);
	if (code != SS_OK)
		return code;
	if (listing_has(&m->site->catalog.source, doc.path))
		code = read_document(m, &doc, raw, out);
	else
		code = error_set(&m->err, SS_NOT_FOUND, "no such file");
	snprintf(resolved, 4097, "%s", doc.path);
	mcp_close(m, &doc);
	return code;
}

enum ss_err
mcp_read_path(struct mcp *m, const char *path, char resolved[static 4097],
	struct buf *out)
{
	return read_path(m, path, false, resolved, out);
}

enum rpc_code
mcp_resources_read(struct mcp *m)
{
	const char *uri = mcp_param(m, "uri");
	struct buf bytes = BUF_INIT(0);
	char resolved[4097];
	const char *path;
	enum ss_err code;
	bool raw; /* a skill's digests are of its files as they are */

	if (uri == NULL)
		return RPC_BAD_PARAMS;
	path = mcp_skill_file(m, uri);
	raw = path != NULL;
	if (path == NULL)
		path = mcp_uri_path(m, uri);
	if (path == NULL)
		return not_found(m, uri);
	code = read_path(m, path, raw, resolved, &bytes);
	if (code == SS_OK) {
		mcp_key(m, "contents");
		buf_text(m->out, "[{\"uri\":");
		mcp_string(m, uri);
		mcp_contents(m, resolved, buf_view(&bytes));
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
