/* SPDX-License-Identifier: MIT */
#include "mcp/large.h"

#include <stdlib.h>

#include "mcp/content.h"
#include "mcp/resources.h"
#include "mcp/schema.h"
#include "mcp/search.h"
#include "wire/json.h"
#include "wire/path.h"

/* Of a page in one answer of `read`. */
#define READ_BYTES 40000

bool
mcp_large(const struct mcp *m, const struct catalog *c)
{
	return c->tool_count > m->site->config.mcp.max_tools;
}

/* ------------------------------------------------------------------ list -- */

/* Every client loads these before its first call: short. */
static const char search_tool[] =
	"{\"name\":\"" MCP_LARGE_SEARCH "\",\"title\":\"Find tools and pages\","
	"\"description\":\"Finds tools and pages by words, with a request that "
	"works for each tool. Without words: lists the pages.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	"\"query\":{\"type\":\"string\"},\"skip\":{\"type\":\"integer\"}},"
	"\"additionalProperties\":false},"
	"\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}}";
static const char read_tool[] =
	",{\"name\":\"" MCP_LARGE_READ "\",\"title\":\"Read a page\","
	"\"description\":\"A page or file as text. A long one comes in parts.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	"\"page\":{\"type\":\"string\"},\"offset\":{\"type\":\"integer\"}},"
	"\"required\":[\"page\"],\"additionalProperties\":false}";
static const char run_tool[] =
	",{\"name\":\"" MCP_LARGE_RUN "\",\"title\":\"Run a tool of a page\","
	"\"description\":\"Runs a tool in the directory of its page, by command "
	"or by tool_call, as search or the page shows it.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	"\"page\":{\"type\":\"string\"},"
	"\"command\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
	"\"tool_call\":{\"type\":\"object\",\"properties\":{"
	"\"name\":{\"type\":\"string\"},\"arguments\":{\"type\":\"object\"}},"
	"\"required\":[\"name\"]},"
	"\"env\":{\"type\":\"object\",\"additionalProperties\":"
	"{\"type\":\"string\"}},"
	"\"stdin\":{\"type\":\"string\"},\"next\":{\"type\":\"string\"}},"
	"\"required\":[\"page\"],\"additionalProperties\":false}";

void
mcp_large_list(struct mcp *m)
{
	buf_text(m->out, search_tool);
	buf_text(m->out, read_tool);
	/* A page may have components, which run. */
	mcp_schema_hints(m, false, false);
	buf_char(m->out, '}');
	buf_text(m->out, run_tool);
	mcp_schema_hints(m, true,
		m->site->grant.network != NETWORK_OFF || m->site->grant.http);
	buf_char(m->out, '}');
}

void
mcp_large_pages(const struct catalog *c, struct buf *out, size_t most)
{
	size_t named = 0, count = 0, start = out->len;

	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];

		if (p->tool_count == 0)
			continue;
		count++;
		if (named + 1 < count ||
			out->len - start + strlen(p->path) > most)
			continue;
		buf_printf(out, "%s%s", named > 0 ? ", " : "", p->path);
		named = count;
	}
	if (count > named)
		buf_printf(out,
			" and %zu more (" MCP_LARGE_SEARCH " finds them)",
			count - named);
}

/* ----------------------------------------------------------------- calls -- */

static const struct rpc_value *
argument(const struct mcp *m, const char *name)
{
	return rpc_member(rpc_member(m->rpc.params, "arguments"), name);
}

/* False, with m->err filled: it is no whole number, also as a text. */
static bool
read_count(struct mcp *m, const char *name, size_t *out)
{
	const struct rpc_value *v = argument(m, name);
	struct buf text = BUF_INIT(32);
	char *end;
	bool good;

	*out = 0;
	if (v == NULL)
		return true;
	if (rpc_text(v) != NULL)
		buf_text(&text, rpc_text(v));
	else
		rpc_write(&text, v);
	good = buf_ok(&text) && text.len > 0 &&
		strspn(text.data, "0123456789") == text.len && text.len < 16;
	if (good)
		*out = strtoul(text.data, &end, 10);
	else
		error_set(&m->err, SS_BAD_REQUEST,
			"\"%s\" must be a whole number, 0 or more", name);
	buf_release(&text);
	return good;
}

/* False, with m->err filled: it is no text. */
static bool
read_text(struct mcp *m, const char *name, const char **out)
{
	const struct rpc_value *v = argument(m, name);

	*out = v != NULL ? rpc_text(v) : "";
	if (*out == NULL)
		error_set(
			&m->err, SS_BAD_REQUEST, "\"%s\" must be a text", name);
	return *out != NULL;
}

enum rpc_code
mcp_large_search(struct mcp *m)
{
	struct buf text = BUF_INIT(8 * SEARCH_BYTES + 65536);
	struct catalog *c;
	const char *query;
	enum rpc_code code;
	size_t skip;

	if (!read_text(m, "query", &query) || !read_count(m, "skip", &skip))
		return mcp_content_refused(m, TEXT(""));
	if (catalog_lists(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	mcp_search(c, query, skip, &text);
	code = mcp_content_text(m, buf_view(&text));
	m->out->failed |= text.failed;
	buf_release(&text);
	return code;
}

/* The part from offset on, in whole characters, and what follows it. */
static enum rpc_code
answer_part(struct mcp *m, struct ss_text whole, size_t offset)
{
	struct buf text = BUF_INIT(READ_BYTES + 256);
	enum rpc_code code;
	size_t n;

	offset = offset < whole.len ? offset : whole.len;
	while (offset < whole.len && (whole.data[offset] & 0xc0) == 0x80)
		offset++;
	n = utf8_cut(whole.data + offset, whole.len - offset, READ_BYTES);
	buf_add(&text, whole.data + offset, n);
	if (offset + n < whole.len)
		buf_printf(&text,
			"\n[bytes %zu to %zu of %zu; go on with \"offset\": "
			"%zu]",
			offset, offset + n, whole.len, offset + n);
	code = mcp_content_text(m, buf_view(&text));
	m->out->failed |= text.failed;
	buf_release(&text);
	return code;
}

static enum ss_err
get_page(struct mcp *m, const char *named, struct buf *bytes)
{
	char path[PATH_BYTES_MAX + 1];
	const char *resolved;
	enum ss_err code;

	code = ss_path_clean(named, strlen(named), path, sizeof(path), &m->err);
	if (code == SS_OK)
		code = mcp_resources_get(
			m, path, MCP_READ_AS_GET, &resolved, bytes);
	if (code == SS_NOT_FOUND)
		error_hint(&m->err,
			MCP_LARGE_SEARCH " without words lists the pages");
	if (code == SS_OK &&
		(!utf8_valid(bytes->data, bytes->len) ||
			memchr(bytes->data, '\0', bytes->len) != NULL))
		code = error_set(&m->err, SS_BAD_REQUEST,
			"%s is no text: it has %zu bytes", resolved,
			bytes->len);
	return code;
}

enum rpc_code
mcp_large_read(struct mcp *m)
{
	struct buf bytes = BUF_INIT(0);
	const char *named;
	enum rpc_code done;
	enum ss_err code;
	size_t offset;

	if (!read_text(m, "page", &named) || !read_count(m, "offset", &offset))
		return mcp_content_refused(m, TEXT(""));
	code = get_page(m, named, &bytes);
	if (code == SS_OK)
		done = answer_part(m, buf_view(&bytes), offset);
	else if (code == SS_GONE || code == SS_INTERNAL)
		done = RPC_INTERNAL;
	else
		done = mcp_content_refused(m, TEXT(""));
	buf_release(&bytes);
	return done;
}
