/* SPDX-License-Identifier: MIT */
#include "mcp/message.h"
#include "site/keyed_call.h"
#include "sandbox/workspace_use.h"
#include "mcp/call.h"
#include "mcp/complete.h"
#include "mcp/prompts.h"
#include "mcp/resources.h"
#include "mcp/server.h"
#include "mcp/skills.h"
#include "mcp/task_update.h"
#include "mcp/tasks.h"
#include "mcp/tools.h"
#include "wire/json.h"
#include "wire/trace.h"

#include <limits.h>

/* --------------------------------------------------------------- methods -- */

/*
 * Log levels and subscriptions would have to be kept between two messages.
 * Neither is advertised, and no log message or update is ever sent.
 */
static enum rpc_code
ignore_request(struct mcp *m)
{
	(void)m;
	return RPC_OK;
}

static enum rpc_code
update_task(struct mcp *m)
{
	return mcp_task_update(m, mcp_call);
}

/*
 * run      writes the members of the result to m->out; or fills m->err (and
 *          error_data) and returns another code than RPC_OK.
 * header   the parameter that the header Mcp-Name repeats; NULL: none.
 */
static const struct method {
	const char *name;
	enum rpc_code (*run)(struct mcp *m);
	enum mcp_methods group;
	bool runs; /* may run a program */
	const char *header;
} methods[] = {
	{ "initialize", mcp_server_initialize, MCP_METHODS_INITIALIZE, false,
		NULL },
	{ "ping", ignore_request, MCP_METHODS_INITIALIZE, false, NULL },
	{ "logging/setLevel", ignore_request, MCP_METHODS_INITIALIZE, false,
		NULL },
	{ "resources/subscribe", ignore_request, MCP_METHODS_INITIALIZE, false,
		NULL },
	{ "resources/unsubscribe", ignore_request, MCP_METHODS_INITIALIZE,
		false, NULL },
	{ "server/discover", mcp_server_discover, MCP_METHODS_DISCOVER, false,
		NULL },
	{ "tools/list", mcp_tools_list, MCP_METHODS_COMMON, false, NULL },
	{ "tools/call", mcp_call, MCP_METHODS_COMMON, true, "name" },
	{ "resources/list", mcp_resources_list, MCP_METHODS_COMMON, false,
		NULL },
	{ "resources/templates/list", mcp_resources_templates,
		MCP_METHODS_COMMON, false, NULL },
	{ "resources/read", mcp_resources_read, MCP_METHODS_COMMON, true,
		"uri" },
	{ "prompts/list", mcp_prompts_list, MCP_METHODS_COMMON, false, NULL },
	{ "prompts/get", mcp_prompts_get, MCP_METHODS_COMMON, true, "name" },
	{ "tasks/get", mcp_tasks_get, MCP_METHODS_DISCOVER, false, "taskId" },
	{ "tasks/update", update_task, MCP_METHODS_DISCOVER, true, "taskId" },
	{ "tasks/cancel", mcp_tasks_cancel, MCP_METHODS_DISCOVER, false,
		"taskId" },
	{ "skills/list", mcp_skills_list, MCP_METHODS_COMMON, false, NULL },
	{ "resources/directory/read", mcp_skills_directory, MCP_METHODS_COMMON,
		false, NULL },
	{ "skills/get", mcp_skills_get, MCP_METHODS_COMMON, false, NULL },
	{ "completion/complete", mcp_complete, MCP_METHODS_COMMON, false,
		NULL },
};

static const struct method *
method_find(const char *name, unsigned groups)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if ((methods[i].group & groups) != 0 &&
			strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

const char *
mcp_message_header_name(const struct mcp *m)
{
	const struct method *method =
		method_find(m->rpc.method, m->revision->methods);

	return method != NULL && method->header != NULL
		? rpc_text(rpc_member(m->rpc.params, method->header))
		: NULL;
}

bool
mcp_message_runs(const char *name)
{
	const struct method *method = method_find(name, UINT_MAX);

	return method != NULL && method->runs;
}

/* ----------------------------------------------------------- one message -- */

void
mcp_message_init(struct mcp *m, struct ss_site *site, struct buf *out)
{
	*m = (struct mcp){ .site = site,
		.out = out,
		.revision = mcp_revision_newest(false),
		.client = { .fd = -1 },
		.elicitation = { .text = BUF_INIT(65536) },
		.result_type = "complete",
		.error_data = BUF_INIT(65536),
		.result_meta = BUF_INIT(WORKSPACE_ANSWER_MAX),
		.record = { .tool = -1, .result = SS_INIT(ss_result) } };
}

void
mcp_message_release(struct mcp *m)
{
	rpc_release(&m->rpc);
	rpc_release(&m->elicitation.response);
	buf_release(&m->elicitation.text);
	buf_release(&m->error_data);
	buf_release(&m->result_meta);
}

enum rpc_code
mcp_message_read(struct mcp *m, const char *text, size_t len)
{
	enum rpc_code code = rpc_parse(text, len, &m->rpc, &m->err);
	const struct rpc_value *named;

	m->meta = rpc_member(m->rpc.params, "_meta");
	m->record.trace =
		trace_parent(rpc_text(rpc_member(m->meta, "traceparent")));
	if (m->record.trace == NULL)
		m->record.trace = m->client.trace;
	else
		m->record.trace =
			arena_copy(&m->site->arena, m->record.trace, 55);
	named = rpc_member(m->meta, MCP_NAMESPACE "protocolVersion");
	m->revision = mcp_revision_newest(named != NULL);
	return code;
}

const char *
mcp_message_key(const struct mcp *m)
{
	return rpc_text(rpc_member(m->meta, KEYED_META));
}

const char *
mcp_message_version(const struct mcp *m)
{
	return rpc_text(rpc_member(m->meta, MCP_NAMESPACE "protocolVersion"));
}

enum rpc_code
mcp_message_no_version(struct mcp *m, const char *asked)
{
	buf_text(&m->error_data, "{\"supported\":");
	mcp_revision_list(&m->error_data);
	buf_text(&m->error_data, ",\"requested\":");
	json_string(&m->error_data, asked, strlen(asked));
	buf_char(&m->error_data, '}');
	return mcp_refuse(m, RPC_NO_VERSION,
		"this version of the protocol is not spoken here");
}

enum rpc_code
mcp_message_check(struct mcp *m)
{
	const char *version = mcp_message_version(m);
	const struct mcp_revision *named;

	if (!m->revision->in_message)
		return RPC_OK;
	if (version == NULL)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"_meta\" needs \"" MCP_NAMESPACE "protocolVersion\"");
	named = mcp_revision_find(version);
	if (named == NULL || !named->in_message)
		return mcp_message_no_version(m, version);
	m->revision = named;
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
	/* The schema has an absent id, not null, where none could be read. */
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

static void
write_meta(struct mcp *m)
{
	const char *own = m->result_meta.data; /* begins with a comma */
	bool typed = m->revision->typed_results;

	if (typed)
		mcp_text(m, "resultType", m->result_type);
	if (!typed && m->result_meta.len == 0)
		return;
	mcp_key(m, "_meta");
	buf_char(m->out, '{');
	if (typed) {
		mcp_key(m, MCP_NAMESPACE "serverInfo");
		mcp_server_info(
			m, strcmp(m->record.method, "server/discover") == 0);
	}
	if (m->result_meta.len > 0)
		buf_text(m->out, typed ? own : own + 1);
	buf_char(m->out, '}');
	m->out->failed |= m->result_meta.failed;
}

static enum rpc_code
run_method(struct mcp *m)
{
	const struct method *method =
		method_find(m->rpc.method, m->revision->methods);
	enum rpc_code code;

	if (method == NULL)
		return mcp_refuse(m, RPC_NO_METHOD, "there is no method %.100s",
			m->rpc.method);
	m->record.method = method->name;
	begin_answer(m);
	buf_text(m->out, ",\"result\":{");
	code = method->run(m);
	if (code != RPC_OK)
		return code;
	write_meta(m);
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
	enum rpc_code code = run_method(m);

	if (code != RPC_OK && m->err.code != SS_GONE)
		mcp_message_error(m, code);
	return code;
}
