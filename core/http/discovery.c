/* SPDX-License-Identifier: MIT */
#include "http/discovery.h"

#include "http/content.h"
#include "http/mcp.h"
#include "mcp/revision.h"
#include "site/catalog.h"
#include "wire/json.h"

#define CARD_PATH "/mcp/server-card"
#define CATALOG_PATH "/.well-known/ai-catalog.json"
#define CARD_TYPE "application/mcp-server-card+json"
#define SCHEMA                                                                 \
	"https://static.modelcontextprotocol.io/schemas/v1/"                   \
	"server-card.schema.json"
#define DESCRIPTION_MAX 100 /* characters: of the card's schema */

bool
discovery_wanted(const struct exchange *x)
{
	return (exchange_starts(x, CARD_PATH) ||
		       exchange_starts(x, CATALOG_PATH)) &&
		(strcmp(exchange_path(x), CARD_PATH) == 0 ||
			strcmp(exchange_path(x), CATALOG_PATH) == 0) &&
		http_mcp_is_on(x->site);
}

/* --------------------------------------------------------------- address -- */

/* The host without its port. */
static struct ss_text
host_of(const struct exchange *x)
{
	const char *host = x->req->host != NULL ? x->req->host : "localhost";
	const char *end = host[0] == '[' ? strchr(host, ']') : NULL;
	size_t n = end != NULL ? (size_t)(end + 1 - host) : strcspn(host, ":");

	return (struct ss_text){ host, n };
}

/* No certificate names these: plain HTTP. */
static bool
is_local(struct ss_text host)
{
	return text_is(host, "localhost") || text_is(host, "[::1]") ||
		(text_starts(host, "127.") &&
			strspn(host.data, "0123456789.") >= host.len);
}

/*
 * The address of the site, without a last slash: [mcp] uri where that is one,
 * else that of the request.
 */
static void
add_address(const struct exchange *x, struct buf *out)
{
	const struct config *config = &x->site->config;
	const char *uri = config->mcp.uri;
	size_t n = strlen(uri);

	if (strncmp(uri, "http://", 7) == 0 ||
		strncmp(uri, "https://", 8) == 0) {
		buf_add(out, uri, n - text_ends(text_of(uri), "/"));
		return;
	}
	buf_printf(out, "http%s://%s%s", is_local(host_of(x)) ? "" : "s",
		x->req->host != NULL ? x->req->host : "localhost",
		config->http.prefix);
}

/* The labels of the host, the last one first, with sep between them. */
static void
add_reversed(const struct exchange *x, char sep, struct buf *out)
{
	struct ss_text host = host_of(x);
	size_t end = host.len;

	if (is_local(host) || host.len == 0) {
		buf_text(out, "localhost");
		return;
	}
	while (end > 0) {
		size_t start = end;

		while (start > 0 && host.data[start - 1] != '.')
			start--;
		if (end < host.len)
			buf_char(out, sep);
		buf_add(out, host.data + start, end - start);
		end = start > 0 ? start - 1 : 0;
	}
}

/* A name of letters, digits and dashes: [mcp] name, or "site". */
static void
add_short_name(const struct exchange *x, struct buf *out)
{
	const char *name = x->site->config.mcp.name;
	size_t before = out->len;

	for (; *name != '\0'; name++) {
		char low = (char)(*name | 0x20);

		if ((low >= 'a' && low <= 'z') ||
			(*name >= '0' && *name <= '9'))
			buf_char(out, *name);
		else if (out->len > before && out->data[out->len - 1] != '-')
			buf_char(out, '-');
	}
	if (out->len == before)
		buf_text(out, "site");
}

/* ------------------------------------------------------------------ text -- */

static void
add_string(struct buf *out, const char *key, const struct buf *value)
{
	buf_printf(out, "\"%s\":", key);
	json_string(out, value->data, value->len);
	out->failed |= value->failed;
}

/* Title and description of the site: those of its first page. */
static enum ss_err
find_words(struct exchange *x, const char **title, const char **description)
{
	const struct catalog_page *first = NULL;
	struct catalog *c;
	enum ss_err code = catalog_refresh(&x->site->catalog, &c, &x->err);

	if (code == SS_OK)
		first = catalog_page_find(c, "README.md");
	*title = first != NULL ? first->title : "";
	*description = first != NULL ? first->description : "";
	if (x->site->config.mcp.name[0] != '\0')
		*title = x->site->config.mcp.name;
	if ((*description)[0] == '\0')
		*description = "Markdown pages, and the tools that they allow";
	return code;
}

/* So many bytes at most are so many characters at most. */
static void
add_short(struct buf *out, const char *key, const char *text)
{
	buf_printf(out, ",\"%s\":", key);
	json_string(out, text, utf8_cut(text, strlen(text), DESCRIPTION_MAX));
}

static enum ss_err
write_card(struct exchange *x, const char *title, const char *description)
{
	struct buf *out = &x->body, name = BUF_INIT(1024), url = BUF_INIT(8192);
	const char *icon = x->site->config.mcp.icon;

	add_reversed(x, '.', &name);
	buf_char(&name, '/');
	add_short_name(x, &name);
	add_address(x, &url);
	buf_text(out, "{\"$schema\":\"" SCHEMA "\",");
	add_string(out, "name", &name);
	buf_text(out, ",\"version\":\"" SS_VERSION "\"");
	add_short(out, "description", description);
	if (title[0] != '\0')
		add_short(out, "title", title);
	buf_char(out, ',');
	add_string(out, "websiteUrl", &url);
	if (icon[0] != '\0') {
		buf_text(out, ",\"icons\":[{\"src\":");
		json_string(out, icon, strlen(icon));
		buf_text(out, "}]");
	}
	buf_text(&url, "/mcp");
	buf_text(out, ",\"remotes\":[{\"type\":\"streamable-http\",");
	add_string(out, "url", &url);
	buf_text(out, ",\"supportedProtocolVersions\":");
	mcp_revision_all(out);
	buf_text(out, "}]}\n");
	out->failed |= !buf_ok(&name) || !buf_ok(&url);
	buf_release(&name);
	buf_release(&url);
	return out->failed ? error_memory(&x->err) : SS_OK;
}

static enum ss_err
write_catalog(struct exchange *x, const char *title, const char *description)
{
	struct buf *out = &x->body, name = BUF_INIT(1024), url = BUF_INIT(8192);
	struct ss_text host = host_of(x);

	buf_text(&name, "urn:air:");
	buf_add(&name, host.data, host.len);
	buf_text(&name, ":mcp:");
	add_short_name(x, &name);
	add_address(x, &url);
	buf_text(&url, CARD_PATH);
	buf_text(out, "{\"specVersion\":\"1.0\",\"entries\":[{");
	add_string(out, "identifier", &name);
	add_short(out, "displayName", title[0] != '\0' ? title : "statespace");
	add_short(out, "description", description);
	buf_text(out, ",\"type\":\"" CARD_TYPE "\",");
	add_string(out, "url", &url);
	buf_text(out, "}]}\n");
	out->failed |= !buf_ok(&name) || !buf_ok(&url);
	buf_release(&name);
	buf_release(&url);
	return out->failed ? error_memory(&x->err) : SS_OK;
}

enum ss_err
discovery_answer(struct exchange *x)
{
	bool card = strcmp(exchange_path(x), CARD_PATH) == 0;
	const char *title, *description;
	enum ss_err code;

	if (!exchange_is(x, "GET") && !exchange_is(x, "HEAD")) {
		exchange_header(x, "Allow", "GET, HEAD");
		return error_set(&x->err, SS_METHOD, "it is only read");
	}
	code = find_words(x, &title, &description);
	if (code == SS_OK)
		code = card ? write_card(x, title, description)
			    : write_catalog(x, title, description);
	if (code != SS_OK)
		return code;
	/* Pages of any site may look for it. */
	if (!x->site->config.http.cors)
		exchange_header(x, "Access-Control-Allow-Origin", "*");
	content_made(x, card ? CARD_TYPE : "application/ai-catalog+json",
		"public, max-age=3600");
	return SS_OK;
}
