/* SPDX-License-Identifier: MIT */
#include "http/openapi.h"

#include "base/error.h"
#include "http/content.h"
#include "mcp/schema.h"
#include "page/example.h"
#include "wire/escape.h"
#include "wire/json.h"

/* Bytes kept free for what follows the operations. */
#define TAIL_BYTES 8192

/*
 * Members of an answer that clients may rely on; others may come.  The
 * description of each is statespace-protocol(7).
 */
static const char components[] =
	"},\"components\":{\"schemas\":{\"Result\":{\"type\":\"object\","
	"\"description\":\"The tool ran to its end, whatever its exit code\","
	"\"properties\":{\"stdout\":{\"type\":\"string\"},"
	"\"stdout_base64\":{\"type\":\"string\",\"description\":\"Instead of "
	"stdout, of a type that is no text\"},"
	"\"stdout_json\":{\"description\":\"Instead of stdout, with parse\"},"
	"\"type\":{\"type\":\"string\"},"
	"\"stderr\":{\"type\":\"string\"},"
	"\"returncode\":{\"type\":\"integer\"},"
	"\"truncated\":{\"type\":\"boolean\"},"
	"\"next\":{\"type\":\"string\",\"description\":\"Sent in the "
	"arguments of the same call it gets the next part\"},"
	"\"sandbox\":{\"type\":\"object\"},"
	"\"workspace\":{\"type\":\"object\",\"description\":\"What the tool "
	"changed\"}},"
	"\"required\":[\"stderr\",\"returncode\"]},"
	"\"Error\":{\"type\":\"object\",\"properties\":{"
	"\"code\":{\"type\":\"string\"},\"message\":{\"type\":\"string\"},"
	"\"hint\":{\"type\":\"string\"},\"class\":{\"type\":\"string\","
	"\"enum\":[\"matching\",\"path\",\"capability\",\"limit\","
	"\"overload\",\"page\",\"server\"]},"
	"\"rule\":{\"type\":\"object\"},"
	"\"retryable\":{\"type\":\"boolean\"},"
	"\"retry_after\":{\"type\":\"integer\"},"
	"\"next\":{\"type\":\"object\",\"description\":\"One step that "
	"works\",\"properties\":{\"do\":{\"type\":\"string\",\"enum\":["
	"\"call\",\"get\",\"wait\",\"ask\"]},\"text\":{\"type\":"
	"\"string\"}},\"required\":[\"do\",\"text\"]}},"
	"\"required\":[\"code\",\"message\",\"hint\"]},"
	"\"Refusal\":{\"type\":\"object\",\"properties\":{"
	"\"stdout\":{\"type\":\"string\"},\"stderr\":{\"type\":\"string\"},"
	"\"returncode\":{\"type\":\"integer\"},"
	"\"error\":{\"$ref\":\"#/components/schemas/Error\"}},"
	"\"required\":[\"error\"]}},\"responses\":{"
	"\"Result\":{\"description\":\"It ran\",\"content\":{"
	"\"application/json\":{\"schema\":{\"$ref\":"
	"\"#/components/schemas/Result\"}}}},"
	"\"Refusal\":{\"description\":\"It was refused, or ended at a "
	"limit\",\"content\":{\"application/json\":{\"schema\":{\"$ref\":"
	"\"#/components/schemas/Refusal\"}}}}}}";

/* ------------------------------------------------------------ one operation -- */

/* One tool of a page that is open. */
struct operation {
	const struct page *page;
	const struct spec *spec;
	const char *path; /* of the page */
	const char *name;
};

static void
add_path(const struct operation *o, struct buf *out)
{
	struct buf path = BUF_INIT(8192);

	buf_char(&path, '/');
	escape_path(&path, o->path, strlen(o->path));
	buf_printf(&path, "#%s", o->name);
	json_string(out, path.data, path.len);
	out->failed |= path.failed;
	buf_release(&path);
}

/* The first line of its description, else its words. */
static void
add_summary(struct mcp *m, const struct operation *o)
{
	const char *text =
		o->spec->title != NULL ? o->spec->title : o->spec->description;
	struct buf words = BUF_INIT(4096);
	size_t len;

	if (text == NULL) {
		spec_outline(o->spec, &words);
		text = words.data;
	}
	len = strcspn(text, "\n");
	len = utf8_cut(text, len, len < 120 ? len : 120);
	mcp_key(m, "summary");
	json_string(m->out, text, len);
	if (o->spec->description != NULL)
		mcp_text(m, "description", o->spec->description);
	m->out->failed |= words.failed;
	buf_release(&words);
}

/* What the page's author lets a client send beside the call. */
static void
add_workspace(struct mcp *m, const struct operation *o)
{
	if (!workspace_is_wanted(&o->page->front.sandbox.workspace))
		return;
	buf_text(m->out,
		",\"workspace\":{\"type\":\"object\",\"properties\":{"
		"\"session\":{\"type\":\"string\",\"pattern\":"
		"\"^[0-9a-f]{32}$\",\"description\":\"One that POST "
		"/__workspaces/ made; without it the changes are lost\"},"
		"\"commit\":{\"type\":\"boolean\",\"description\":\"Apply "
		"the changes if the tool ends with 0\"}}}");
}

static void
add_body(struct mcp *m, const struct operation *o)
{
	struct buf example = BUF_INIT((size_t)1 << 16);

	mcp_key(m, "requestBody");
	buf_text(m->out,
		"{\"required\":true,\"content\":{\"application/json\":"
		"{\"schema\":{\"type\":\"object\",\"properties\":{"
		"\"tool_call\":{\"type\":\"object\",\"properties\":{"
		"\"name\":{\"type\":\"string\",\"const\":");
	mcp_string(m, o->name);
	buf_text(m->out, "},\"arguments\":");
	mcp_schema_arguments(m, o->page, o->spec);
	buf_text(m->out,
		"},\"required\":[\"name\",\"arguments\"],"
		"\"additionalProperties\":false},"
		"\"parse\":{\"type\":\"boolean\"}");
	if (o->spec->confirm)
		buf_text(m->out,
			",\"confirm\":{\"type\":\"string\","
			"\"description\":\"error.confirm of a 428, "
			"once a person has agreed\"}");
	add_workspace(m, o);
	buf_text(m->out, "},\"required\":[\"tool_call\"]}");
	example_arguments(o->spec, o->name, &example);
	if (buf_ok(&example)) {
		mcp_key(m, "example");
		buf_add(m->out, example.data, example.len);
	}
	buf_text(m->out, "}}}");
	m->out->failed |= example.failed;
	buf_release(&example);
}

static void
add_operation(struct mcp *m, const struct operation *o)
{
	mcp_comma(m);
	add_path(o, m->out);
	buf_text(m->out, ":{\"post\":{\"operationId\":");
	mcp_string(m, o->name);
	add_summary(m, o);
	add_body(m, o);
	if (o->spec->once || o->page->front.once)
		buf_text(m->out,
			",\"parameters\":[{\"name\":\"Idempotency-Key\","
			"\"in\":\"header\",\"required\":true,\"schema\":"
			"{\"type\":\"string\"}}]");
	buf_text(m->out,
		",\"responses\":{\"200\":{\"$ref\":"
		"\"#/components/responses/Result\"},\"4XX\":{"
		"\"$ref\":\"#/components/responses/Refusal\"},"
		"\"5XX\":{\"$ref\":"
		"\"#/components/responses/Refusal\"}}}}");
}

/* ---------------------------------------------------------------- the pages -- */

/* False: this and what follows does not fit. */
static bool
add_page_tools(struct mcp *m, const struct catalog_page *listed,
	const struct page *page)
{
	struct operation o = { .page = page, .path = listed->path };

	for (size_t i = 0; i < listed->tool_count; i++) {
		const struct catalog_tool *t = &listed->tools[i];
		size_t len = m->out->len;

		if (t->hidden || t->index >= page->front.spec_count)
			continue;
		o.spec = &page->front.specs[t->index];
		o.name = t->name;
		add_operation(m, &o);
		if (m->out->len + TAIL_BYTES < OPENAPI_BYTES_MAX)
			continue;
		m->out->len = len;
		m->out->full = false;
		return false;
	}
	return true;
}

/* A page that changed since it was listed is left out. */
static enum ss_err
add_page(struct mcp *m, const struct catalog_page *listed, bool *fits)
{
	struct ss_site *site = m->site;
	struct ss_document doc;
	struct page *page;
	enum ss_err code = page_open(&site->pages, &site->documents,
		listed->path, &doc, &page, &m->err);
	struct file_id id;

	if (code != SS_OK)
		return code == SS_INTERNAL ? code : SS_OK;
	id = file_id_of(&doc);
	if (page != NULL && page->error.code == SS_OK &&
		file_id_same(&id, &listed->id))
		*fits = add_page_tools(m, listed, page);
	documents_close(&site->documents, &doc);
	return SS_OK;
}

static void
add_info(struct mcp *m, bool cut)
{
	const char *name = m->site->config.mcp.name;

	buf_text(m->out, "\"openapi\":\"3.1.0\",\"info\":{\"title\":");
	mcp_string(m, name[0] != '\0' ? name : "statespace");
	mcp_text(m, "version", SS_VERSION);
	mcp_text(m, "description",
		cut ? "The tools of this site's pages; there are more, which "
		      "/AGENTS.md and the pages list"
		    : "The tools of this site's pages");
	buf_text(m->out, "},\"servers\":[{\"url\":\".\"}],\"security\":[]");
}

enum ss_err
openapi_write(struct ss_site *site, struct buf *out, struct ss_error *err)
{
	static const struct mcp_revision none;
	struct mcp m = { .site = site, .revision = &none, .out = out };
	struct catalog *c;
	bool fits = true;
	enum ss_err code = catalog_lists(&site->catalog, &c, &m.err);

	buf_text(out, "{\"paths\":{");
	for (size_t i = 0; code == SS_OK && fits && i < c->page_count; i++)
		if (c->pages[i].tool_count > 0)
			code = add_page(&m, &c->pages[i], &fits);
	buf_text(out, components);
	buf_char(out, ',');
	if (code == SS_OK)
		add_info(&m, !fits || c->cut);
	buf_text(out, "}\n");
	if (code == SS_OK && !buf_ok(out))
		return error_memory(err);
	if (code != SS_OK && err != NULL)
		*err = m.err;
	return code;
}

enum ss_err
openapi_answer(struct exchange *x)
{
	enum ss_err code;

	x->body.max = OPENAPI_BYTES_MAX;
	code = openapi_write(x->site, &x->body, &x->err);
	if (code == SS_OK)
		content_made(x, "application/json", "no-cache");
	return code;
}
