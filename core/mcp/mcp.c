/* SPDX-License-Identifier: MIT */
/*
 * One message: which era it belongs to, which method it names, and the
 * envelope of its answer.  How it came is mcp_http's and mcp_line's.
 */
#include "mcp/message.h"
#include "wire/json.h"

#include <stdarg.h>
#include <stdio.h>

#define CACHE_MS 5000
#define ERRORS_TOLD 5
#define INSTRUCTIONS_MAX 32768

static const char *const legacy_versions[] = { "2025-11-25", "2025-06-18" };

/* --------------------------------------------------------------- writing -- */

void
mcp_comma(struct mcp *m)
{
	const struct buf *b = m->out;

	if (b->len > 0 && strchr("{[:", b->data[b->len - 1]) == NULL)
		buf_char(m->out, ',');
}

void
mcp_key(struct mcp *m, const char *name)
{
	mcp_comma(m);
	mcp_string(m, name);
	buf_char(m->out, ':');
}

void
mcp_string(struct mcp *m, const char *text)
{
	json_string(m->out, text, strlen(text));
}

void
mcp_text(struct mcp *m, const char *key, const char *text)
{
	mcp_key(m, key);
	mcp_string(m, text);
}

void
mcp_cacheable(struct mcp *m)
{
	if (m->era != MCP_MODERN)
		return;
	mcp_key(m, "ttlMs");
	buf_printf(m->out, "%d", CACHE_MS);
	mcp_text(m, "cacheScope", "private");
}

enum rpc_code
mcp_refuse(struct mcp *m, enum rpc_code code, const char *message, ...)
{
	char text[512];
	va_list args;

	va_start(args, message);
	vsnprintf(text, sizeof(text), message, args);
	va_end(args);
	error_set(&m->err, SS_BAD_REQUEST, "%s", text);
	return code;
}

enum rpc_code
mcp_failed(struct mcp *m)
{
	return m->err.code == SS_INTERNAL ? RPC_INTERNAL : RPC_BAD_PARAMS;
}

const char *
mcp_param(struct mcp *m, const char *name)
{
	const char *text = rpc_text(rpc_member(m->rpc.params, name));

	if (text == NULL)
		mcp_refuse(m, RPC_BAD_PARAMS,
			"\"params\" needs \"%s\", a string", name);
	return text;
}

/* --------------------------------------------------------- small methods -- */

static void
server_info(struct mcp *m)
{
	buf_text(m->out,
		"{\"name\":\"statespace\",\"version\":\"" SS_VERSION "\"}");
}

/* The model reads the instructions: it can tell people what is missing. */
static void
instruct_errors(struct mcp *m, struct buf *text)
{
	const struct catalog_page *page;
	struct catalog *c;
	size_t at = 0, count = 0;

	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK) {
		error_clear(&m->err);
		return;
	}
	while ((page = catalog_next_error(c, &at)) != NULL &&
		count++ < ERRORS_TOLD)
		buf_printf(text, "%s /%s (%s)",
			count == 1 ? " These pages have an error and offer no "
				     "tools:"
				   : ",",
			page->path, page->error);
	if (page != NULL)
		buf_text(text, " and more");
	if (count > 0)
		buf_char(text, '.');
}

static void
capabilities(struct mcp *m)
{
	struct buf text = BUF_INIT(INSTRUCTIONS_MAX);

	mcp_key(m, "capabilities");
	buf_text(m->out,
		"{\"tools\":{},\"resources\":{},\"prompts\":{},"
		"\"completions\":{},\"extensions\":{\"" MCP_NAMESPACE
		"skills\":{}}}");
	buf_text(&text,
		"A site of Markdown pages. Its pages are the resources: read "
		"the page of a tool before you call it. Each tool runs one "
		"command, in a sandbox, in the directory of its page.");
	instruct_errors(m, &text);
	mcp_key(m, "instructions");
	json_string(m->out, text.data, text.len);
	buf_release(&text);
}

static enum rpc_code
method_initialize(struct mcp *m)
{
	const char *asked = mcp_param(m, "protocolVersion");
	const char *version = legacy_versions[0];

	if (asked == NULL)
		return RPC_BAD_PARAMS;
	for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
		if (strcmp(asked, legacy_versions[i]) == 0)
			version = legacy_versions[i];
	mcp_text(m, "protocolVersion", version);
	mcp_key(m, "serverInfo");
	server_info(m);
	capabilities(m);
	return RPC_OK;
}

static enum rpc_code
method_discover(struct mcp *m)
{
	mcp_key(m, "supportedVersions");
	buf_text(m->out, "[\"" MCP_MODERN_VERSION "\"]");
	capabilities(m);
	mcp_cacheable(m);
	return RPC_OK;
}

/*
 * What a server without memory cannot keep: a level, a subscription.  Neither
 * is advertised, and nothing is ever sent that they would govern.
 */
static enum rpc_code
method_nothing(struct mcp *m)
{
	(void)m;
	return RPC_OK;
}

/* ------------------------------------------------------------- the table -- */

static const struct method {
	const char *name;
	mcp_method_fn run;
	unsigned eras;
	const char *header; /* the parameter that Mcp-Name repeats */
	bool runs;          /* may run a program */
} methods[] = {
	{ "initialize", method_initialize, MCP_LEGACY, NULL, false },
	{ "ping", method_nothing, MCP_LEGACY, NULL, false },
	{ "logging/setLevel", method_nothing, MCP_LEGACY, NULL, false },
	{ "resources/subscribe", method_nothing, MCP_LEGACY, NULL, false },
	{ "resources/unsubscribe", method_nothing, MCP_LEGACY, NULL, false },
	{ "server/discover", method_discover, MCP_MODERN, NULL, false },
	{ "tools/list", mcp_tools_list, MCP_LEGACY | MCP_MODERN, NULL, false },
	{ "tools/call", mcp_tools_call, MCP_LEGACY | MCP_MODERN, "name", true },
	{ "resources/list", mcp_resources_list, MCP_LEGACY | MCP_MODERN, NULL,
		false },
	{ "resources/templates/list", mcp_resources_templates,
		MCP_LEGACY | MCP_MODERN, NULL, false },
	{ "resources/read", mcp_resources_read, MCP_LEGACY | MCP_MODERN, "uri",
		true },
	{ "prompts/list", mcp_prompts_list, MCP_LEGACY | MCP_MODERN, NULL,
		false },
	{ "prompts/get", mcp_prompts_get, MCP_LEGACY | MCP_MODERN, "name",
		true },
	{ "skills/list", mcp_skills_list, MCP_LEGACY | MCP_MODERN, NULL,
		false },
	{ "skills/get", mcp_skills_get, MCP_LEGACY | MCP_MODERN, NULL, false },
	{ "completion/complete", mcp_complete, MCP_LEGACY | MCP_MODERN, NULL,
		false },
};

static const struct method *
method_of(const char *name, unsigned era)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if ((methods[i].eras & era) != 0 &&
			strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

const char *
mcp_message_named(const struct mcp *m)
{
	const struct method *method = method_of(m->rpc.method, m->era);

	return method != NULL && method->header != NULL
		? rpc_text(rpc_member(m->rpc.params, method->header))
		: NULL;
}

bool
mcp_message_runs(const char *name)
{
	const struct method *method = method_of(name, MCP_LEGACY | MCP_MODERN);

	return method != NULL && method->runs;
}

bool
mcp_is_legacy_version(const char *version)
{
	for (size_t i = 0; i < ARRAY_LEN(legacy_versions); i++)
		if (strcmp(version, legacy_versions[i]) == 0)
			return true;
	return false;
}

/* ----------------------------------------------------------- one message -- */

void
mcp_message_init(struct mcp *m, struct ss_site *site, struct buf *out)
{
	*m = (struct mcp){ .site = site,
		.out = out,
		.client_fd = -1,
		.tool = -1,
		.result_type = "complete",
		.error_data = BUF_INIT(65536),
		.question = BUF_INIT(65536),
		.result = SS_INIT(ss_result) };
}

void
mcp_message_release(struct mcp *m)
{
	rpc_release(&m->rpc);
	rpc_release(&m->response);
	buf_release(&m->question);
	buf_release(&m->error_data);
}

enum rpc_code
mcp_message_read(struct mcp *m, const char *text, size_t len)
{
	enum rpc_code code = rpc_parse(text, len, &m->rpc, &m->err);

	m->meta = rpc_member(m->rpc.params, "_meta");
	m->era = rpc_member(m->meta, MCP_NAMESPACE "protocolVersion") != NULL
		? MCP_MODERN
		: MCP_LEGACY;
	return code;
}

enum rpc_code
mcp_no_version(struct mcp *m, const char *asked)
{
	buf_text(&m->error_data,
		"{\"supported\":[\"" MCP_MODERN_VERSION "\"],\"requested\":");
	json_string(&m->error_data, asked, strlen(asked));
	buf_char(&m->error_data, '}');
	return mcp_refuse(m, RPC_NO_VERSION,
		"this version of the protocol is not spoken here");
}

/* What 2026-07-28 wants to stand in every request. */
enum rpc_code
mcp_message_check(struct mcp *m)
{
	const struct rpc_value *v =
		rpc_member(m->meta, MCP_NAMESPACE "protocolVersion");
	const char *version = rpc_text(v);

	if (m->era != MCP_MODERN)
		return RPC_OK;
	if (version == NULL)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"_meta\" needs \"" MCP_NAMESPACE "protocolVersion\"");
	if (strcmp(version, MCP_MODERN_VERSION) != 0)
		return mcp_no_version(m, version);
	if (!rpc_is_object(
		    rpc_member(m->meta, MCP_NAMESPACE "clientCapabilities")))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"_meta\" needs \"" MCP_NAMESPACE
			"clientCapabilities\", an object");
	return RPC_OK;
}

static void
begin_answer(struct mcp *m)
{
	buf_clear(m->out);
	buf_text(m->out, "{\"jsonrpc\":\"2.0\"");
	/* Absent, and not null, where none could be read: so the schema. */
	if (m->rpc.id != NULL) {
		buf_text(m->out, ",\"id\":");
		rpc_write(m->out, m->rpc.id);
	}
}

void
mcp_message_error(struct mcp *m, enum rpc_code code)
{
	begin_answer(m);
	buf_printf(m->out, ",\"error\":{\"code\":%d", (int)code);
	mcp_text(m, "message", m->err.message);
	if (m->error_data.len > 0 && buf_ok(&m->error_data)) {
		mcp_key(m, "data");
		buf_text(m->out, m->error_data.data);
	} else if (m->err.hint[0] != '\0') {
		mcp_key(m, "data");
		buf_text(m->out, "{\"hint\":");
		mcp_string(m, m->err.hint);
		buf_char(m->out, '}');
	}
	buf_text(m->out, "}}");
}

static enum rpc_code
run(struct mcp *m)
{
	const struct method *method = method_of(m->rpc.method, m->era);
	enum rpc_code code;

	if (method == NULL)
		return mcp_refuse(m, RPC_NO_METHOD, "there is no method %.100s",
			m->rpc.method);
	m->method = method->name;
	begin_answer(m);
	buf_text(m->out, ",\"result\":{");
	code = method->run(m);
	if (code != RPC_OK)
		return code;
	if (m->era == MCP_MODERN) {
		mcp_text(m, "resultType", m->result_type);
		mcp_key(m, "_meta");
		buf_text(m->out, "{\"" MCP_NAMESPACE "serverInfo\":");
		server_info(m);
		buf_char(m->out, '}');
	}
	buf_text(m->out, "}}");
	if (buf_ok(m->out))
		return RPC_OK;
	if (m->out->failed)
		error_memory(&m->err);
	else
		error_set(&m->err, SS_OUTPUT_TOO_LARGE,
			"the answer is too large");
	m->out->failed = m->out->full = false;
	return RPC_INTERNAL;
}

enum rpc_code
mcp_message_run(struct mcp *m)
{
	enum rpc_code code = run(m);

	if (code != RPC_OK && m->err.code != SS_GONE)
		mcp_message_error(m, code);
	return code;
}
