/* SPDX-License-Identifier: MIT */
#include "mcp/workspace.h"

#include <errno.h>
#include <stdlib.h>

#include "mcp/content.h"
#include "mcp/document.h"
#include "site/workspace_act.h"
#include "site/workspaces.h"
#include "wire/path.h"

#define MOST_IN_DIFF 1000 /* changes, unless the client says */
#define NAMES_MAX 5

struct session_tool {
	const char *name, *title, *description, *properties;
	bool reads, destroys;
	enum workspace_act act;
	const char *takes[NAMES_MAX]; /* the first one is required */
};

#define SESSION "\"session\":{\"type\":\"string\"}"

static const struct session_tool tools[] = {
	{ "workspace_create", "New workspace session",
		"A copy-on-write session of a page's workspace. Tools of the "
		"page run in it with params._meta[\\\"" WORKSPACE_META
		"\\\"] = {\\\"session\\\": ID}",
		"\"page\":{\"type\":\"string\"}", false, false,
		WORKSPACE_CREATE, { "page" } },
	{ "workspace_diff", "Changes of a workspace session",
		"What the session changed, sorted by path, in parts: after is "
		"next of the part before",
		SESSION ",\"after\":{\"type\":\"string\"},"
			"\"limit\":{\"type\":\"integer\",\"minimum\":0},"
			"\"format\":{\"enum\":[\"json\",\"patch\"]}",
		true, false, WORKSPACE_DIFF,
		{ "session", "after", "limit", "format" } },
	{ "workspace_commit", "Commit a workspace session",
		"Applies all changes of the session to the site, or none. "
		"digest: that of the diff that was looked at; force: also over "
		"what changed in the site",
		SESSION ",\"digest\":{\"type\":\"string\"},"
			"\"force\":{\"type\":\"boolean\"}",
		false, true, WORKSPACE_COMMIT,
		{ "session", "digest", "force" } },
	{ "workspace_discard", "Discard a workspace session",
		"Removes the session with all that it changed", SESSION, false,
		true, WORKSPACE_DISCARD, { "session" } },
};

static const struct session_tool *
find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (strcmp(tools[i].name, name) == 0)
			return &tools[i];
	return NULL;
}

bool
mcp_workspace_is_name(const char *name)
{
	return find(name) != NULL;
}

bool
mcp_workspace_has(const struct catalog *c, const char *name)
{
	const struct catalog_page *page;

	if (catalog_tool_find(c, name, &page) != NULL)
		return false;
	for (size_t i = 0; i < c->page_count; i++)
		if (c->pages[i].has_workspace)
			return true;
	return false;
}

void
mcp_workspace_list(struct mcp *m, const struct catalog *c)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		const struct session_tool *t = &tools[i];

		if (!mcp_workspace_has(c, t->name))
			continue;
		mcp_comma(m);
		buf_printf(m->out,
			"{\"name\":\"%s\",\"title\":\"%s\","
			"\"description\":\"%s.\",\"inputSchema\":{"
			"\"type\":\"object\",\"properties\":{%s},"
			"\"required\":[\"%s\"],\"additionalProperties\":false},"
			"\"annotations\":{\"readOnlyHint\":%s,"
			"\"destructiveHint\":%s,\"openWorldHint\":false}}",
			t->name, t->title, t->description, t->properties,
			t->takes[0], t->reads ? "true" : "false",
			t->destroys ? "true" : "false");
	}
}

/* ------------------------------------------------------------ the arguments */

static enum ss_err
refuse(struct mcp *m, const struct session_tool *t, const char *name,
	const char *what)
{
	error_set(&m->err, SS_BAD_REQUEST, "\"%.100s\" %s", name, what);
	error_hint(&m->err, "the inputSchema of %s has its arguments", t->name);
	return SS_BAD_REQUEST;
}

static bool
takes(const struct session_tool *t, const char *name)
{
	for (size_t i = 0; i < NAMES_MAX && t->takes[i] != NULL; i++)
		if (strcmp(t->takes[i], name) == 0)
			return true;
	return false;
}

static enum ss_err
read_number(const struct proto_argument *a, uint64_t *out)
{
	const char *text = a->text.data;
	char *end;

	errno = 0;
	*out = a->kind == PROTO_NUMBER && text[0] != '-'
		? strtoull(text, &end, 10)
		: 0;
	return a->kind == PROTO_NUMBER && text[0] != '-' && *end == '\0' &&
			errno == 0
		? SS_OK
		: SS_BAD_REQUEST;
}

/* One that the tool takes, into use; page: of workspace_create. */
static enum ss_err
take(struct mcp *m, const struct session_tool *t,
	const struct proto_argument *a, struct workspace_use *u,
	const char **page)
{
	const char *text = a->text.data;

	if (!takes(t, a->name))
		return refuse(m, t, a->name, "is no argument of this tool");
	if (strcmp(a->name, "limit") == 0)
		return read_number(a, &u->most) == SS_OK
			? SS_OK
			: refuse(m, t, a->name,
				  "must be a whole number, 0 or more");
	if (strcmp(a->name, "force") == 0) {
		u->force = a->kind == PROTO_BOOL && strcmp(text, "true") == 0;
		return a->kind == PROTO_BOOL
			? SS_OK
			: refuse(m, t, a->name, "must be true or false");
	}
	if (a->kind != PROTO_TEXT)
		return refuse(m, t, a->name, "must be a text");
	if (strcmp(a->name, "page") == 0)
		*page = text;
	else if (strcmp(a->name, "session") == 0)
		u->session = text;
	else if (strcmp(a->name, "after") == 0)
		u->after = text;
	else if (strcmp(a->name, "digest") == 0)
		u->digest = text;
	else if (strcmp(text, "json") != 0 && strcmp(text, "patch") != 0)
		return refuse(m, t, a->name, "is json or patch");
	else
		u->patch = strcmp(text, "patch") == 0;
	return SS_OK;
}

static enum ss_err
take_all(struct mcp *m, const struct session_tool *t, struct workspace_use *u,
	const char **page)
{
	struct proto_argument *args;
	size_t count;
	enum ss_err code = SS_OK;

	if (!rpc_arguments(&m->site->arena,
		    rpc_member(m->rpc.params, "arguments"), 0, &args, &count))
		return error_memory(&m->err);
	for (size_t i = 0; code == SS_OK && i < count; i++)
		code = take(m, t, &args[i], u, page);
	if (code == SS_OK &&
		(t->act == WORKSPACE_CREATE ? *page : u->session)[0] == '\0')
		code = refuse(m, t, t->takes[0], "is missing");
	return code;
}

/* ----------------------------------------------------------------- the acts */

static enum ss_err
run(struct mcp *m, const struct workspace_use *u, const char *page)
{
	return workspace_act(
		&m->site->calls, u, page, &m->record.result, &m->err);
}

static enum ss_err
create(struct mcp *m, const char *named)
{
	char path[PATH_BYTES_MAX + 1];
	struct ss_document doc;
	struct workspace_use u;
	struct page *page;
	enum ss_err code = ss_path_clean(
		named, strlen(named), path, sizeof(path), &m->err);

	if (code == SS_OK)
		code = mcp_document_open(m, path, &doc, &page);
	if (code != SS_OK)
		return code;
	code = workspace_of_page(
		&m->site->config, page, doc.path, m->client.user, &u, &m->err);
	u.act = WORKSPACE_CREATE;
	if (code == SS_OK)
		code = run(m, &u, doc.path);
	mcp_document_close(m, &doc);
	return code;
}

enum rpc_code
mcp_workspace_call(struct mcp *m, const char *name)
{
	const struct session_tool *t = find(name);
	const char *page = "";
	struct workspace_use u;
	enum ss_err code;

	workspaces_fill(&u, &m->site->config, NULL, "", m->client.user);
	u.act = t->act;
	u.most = MOST_IN_DIFF;
	code = take_all(m, t, &u, &page);
	if (code == SS_OK)
		code = t->act == WORKSPACE_CREATE ? create(m, page)
						  : run(m, &u, "");
	if (code == SS_INTERNAL || code == SS_GONE)
		return RPC_INTERNAL;
	if (code != SS_OK)
		return mcp_content_refused(m, TEXT(""));
	return mcp_content_ran(
		m, u.patch ? TEXT("") : TEXT("application/json"), "");
}
