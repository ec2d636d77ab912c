/* SPDX-License-Identifier: MIT */
#include "http/workspaces.h"

#include <stdio.h>
#include <stdlib.h>

#include "http/origin.h"
#include "site/workspace_act.h"
#include "site/workspaces.h"
#include "wire/json_tree.h"
#include "wire/media.h"

#define PREFIX "/__workspaces"
#define MOST_ON_PAGE 1000 /* changes, unless the client says */

/* A path below the prefix, taken apart. */
struct target {
	char id[STATE_ID_CAP]; /* "": all sessions */
	const char *rest;      /* "", "diff", "commit", "files", "files/..." */
};

bool
http_workspaces_is_path(const struct exchange *x)
{
	const char *rest;

	if (!exchange_starts(x, PREFIX))
		return false;
	rest = exchange_path(x) + strlen(PREFIX);
	return rest[0] == '\0' || rest[0] == '/';
}

/* Also an id that is none is taken: it is an unknown session's. */
static enum ss_err
take_target(struct exchange *x, struct target *t)
{
	const char *path = exchange_path(x), *at;
	enum ss_err code = SS_OK;
	size_t n;

	if (x->req->request_uri != NULL)
		code = path_check_uri(x->req->request_uri, &x->err);
	if (code == SS_OK)
		code = ss_path_clean(
			path, strlen(path), x->path, sizeof(x->path), &x->err);
	if (code != SS_OK)
		return code;
	at = x->path + strlen(PREFIX) - 1;
	at += *at == '/';
	n = strcspn(at, "/");
	snprintf(t->id, sizeof(t->id), "%.*s", (int)n, at);
	t->rest = at + n + (at[n] == '/');
	return SS_OK;
}

/* ---------------------------------------------------------------- the query */

static int
digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = c == '\0'
		? NULL
		: strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);

	return found != NULL ? (int)(found - digits) : -1;
}

/* A parameter's value, decoded, in the arena; NULL: there is none. */
static const char *
query_value(struct exchange *x, const char *name)
{
	const char *uri = x->req->request_uri;
	const char *at = uri != NULL ? strchr(uri, '?') : NULL;
	size_t n = strlen(name), len;
	char *out, *end;

	for (; at != NULL; at = strchr(at, '&')) {
		at++;
		if (strncmp(at, name, n) != 0 || at[n] != '=')
			continue;
		at += n + 1;
		len = strcspn(at, "&#");
		out = end = arena_copy(&x->site->arena, at, len);
		for (size_t i = 0; out != NULL && i < len; i++) {
			bool coded = at[i] == '%' && i + 2 < len &&
				digit_of(at[i + 1]) >= 0 &&
				digit_of(at[i + 2]) >= 0;

			*end++ = coded ? (char)(digit_of(at[i + 1]) * 16 +
						 digit_of(at[i + 2]))
				       : at[i];
			i += coded ? 2 : 0;
		}
		if (out != NULL)
			*end = '\0';
		return out;
	}
	return NULL;
}

/* -------------------------------------------------------------- the acts */

static enum ss_err
refuse_method(struct exchange *x, const char *allowed)
{
	error_set(&x->err, SS_METHOD, "this takes %s", allowed);
	return SS_METHOD;
}

static void
begin_use(struct exchange *x, struct workspace_use *u, const struct target *t,
	enum workspace_act act)
{
	workspaces_fill(u, &x->site->config, NULL, "", x->req->remote_user);
	u->act = act;
	u->session = t->id;
}

static enum ss_err
run_act(struct exchange *x, const struct workspace_use *u, const char *page)
{
	return workspace_act(&x->site->calls, u, page, &x->result, &x->err);
}

static void
answer_json(struct exchange *x, int status)
{
	buf_add(&x->body, x->result.out.data, x->result.out.len);
	buf_char(&x->body, '\n');
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, status, "application/json");
}

/* The body of a POST, an object or nothing. */
static enum ss_err
read_body(struct exchange *x, struct json_value **root)
{
	const struct ss_request *req = x->req;
	enum ss_err code;

	*root = NULL;
	if (req->body_too_large)
		return error_set(
			&x->err, SS_BODY_TOO_LARGE, "the body is too large");
	if (req->body_len == 0)
		return SS_OK;
	if (!media_is_json(req->content_type))
		return error_set(&x->err, SS_CONTENT_TYPE,
			"a POST carries Content-Type: application/json");
	code = json_check(req->body, req->body_len, &x->err);
	if (code != SS_OK)
		return code;
	*root = json_tree(req->body, req->body_len);
	return *root != NULL ? SS_OK : error_memory(&x->err);
}

static const char *
text_member(struct exchange *x, const struct json_value *root, const char *name)
{
	const struct json_value *m = json_member(root, name);

	return json_is(m, JSON_STRING)
		? arena_copy(&x->site->arena, m->text, strlen(m->text))
		: NULL;
}

/* The page's own want; the grants were checked when it was read. */
static enum ss_err
want_of_page(struct exchange *x, const char *page, struct workspace_use *u)
{
	struct ss_site *site = x->site;
	enum ss_err code = ss_path_clean(
		page, strlen(page), x->path, sizeof(x->path), &x->err);

	if (code == SS_OK)
		code = page_open(&site->pages, &site->documents, x->path,
			&x->doc, &x->parsed, &x->err);
	x->doc_open = code == SS_OK;
	if (code == SS_OK)
		code = workspace_of_page(&site->config, x->parsed, x->doc.path,
			x->req->remote_user, u, &x->err);
	return code;
}

static enum ss_err
create(struct exchange *x)
{
	struct json_value *root;
	struct workspace_use u;
	enum ss_err code = read_body(x, &root);
	const char *page = code == SS_OK ? text_member(x, root, "page") : NULL;

	json_tree_free(root);
	if (code != SS_OK)
		return code;
	if (page == NULL) {
		error_set(&x->err, SS_BAD_REQUEST,
			"\"page\" names the page whose tools are to run");
		error_hint(&x->err, "send {\"page\": \"/README.md\"}");
		return SS_BAD_REQUEST;
	}
	code = want_of_page(x, page, &u);
	if (code == SS_OK) {
		u.act = WORKSPACE_CREATE;
		code = run_act(x, &u, x->doc.path);
	}
	if (code == SS_OK)
		answer_json(x, 201);
	return code;
}

static enum ss_err
answer_all(struct exchange *x, const struct target *t)
{
	struct workspace_use u;
	enum ss_err code;

	if (exchange_is(x, "POST"))
		return create(x);
	if (!exchange_is(x, "GET"))
		return refuse_method(x, "GET and POST");
	begin_use(x, &u, t, WORKSPACE_LIST);
	code = run_act(x, &u, "");
	if (code == SS_OK)
		answer_json(x, 200);
	return code;
}

static enum ss_err
answer_diff(struct exchange *x, const struct target *t)
{
	const char *after = query_value(x, "after");
	const char *most = query_value(x, "limit");
	const char *format = query_value(x, "format");
	struct workspace_use u;
	enum ss_err code;

	if (!exchange_is(x, "GET"))
		return refuse_method(x, "GET");
	begin_use(x, &u, t, WORKSPACE_DIFF);
	u.after = after != NULL ? after : "";
	u.most = most != NULL ? strtoull(most, NULL, 10) : MOST_ON_PAGE;
	u.patch = format != NULL && strcmp(format, "patch") == 0;
	if (format != NULL && !u.patch && strcmp(format, "json") != 0)
		return error_set(
			&x->err, SS_BAD_REQUEST, "format is json or patch");
	code = run_act(x, &u, "");
	if (code != SS_OK)
		return code;
	answer_json(x, 200);
	if (u.patch) {
		x->body.len--; /* the patch as it is */
		x->header_count = 0;
		exchange_header(x, "Cache-Control", "no-store");
		exchange_header(x, "Content-Security-Policy", "sandbox");
		exchange_body(x, 200, "text/x-diff; charset=utf-8");
	}
	return SS_OK;
}

static enum ss_err
answer_commit(struct exchange *x, const struct target *t)
{
	struct json_value *root;
	struct workspace_use u;
	const char *digest;
	enum ss_err code;

	if (!exchange_is(x, "POST"))
		return refuse_method(x, "POST");
	code = read_body(x, &root);
	begin_use(x, &u, t, WORKSPACE_COMMIT);
	u.force = json_is(json_member(root, "force"), JSON_TRUE);
	digest = text_member(x, root, "digest");
	u.digest = digest != NULL ? digest : "";
	json_tree_free(root);
	if (code == SS_OK)
		code = run_act(x, &u, "");
	if (code == SS_OK)
		answer_json(x, 200);
	return code;
}

/* -------------------------------------------------------- files of a session */

/* Of the site as it is: what readers are not shown there, here neither. */
static bool
is_hidden(struct exchange *x, const char *path)
{
	struct ss_site *site = x->site;
	struct ss_document doc = SS_INIT(ss_document);
	struct page *page;
	bool there;

	if (path[0] == '.' || strstr(path, "/.") != NULL ||
		hidden_has(&site->documents.hidden, path))
		return true;
	doc.fd = doc.dir_fd = -1;
	there = documents_open_any(&site->documents, path, &doc, NULL) == SS_OK;
	if (!there)
		return false;
	documents_close(&site->documents, &doc);
	doc = (struct ss_document){
		.size = sizeof(doc), .fd = -1, .dir_fd = -1
	};
	if (page_open(&site->pages, &site->documents, path, &doc, &page,
		    NULL) != SS_OK)
		return true;
	documents_close(&site->documents, &doc);
	return false;
}

/* The folder's list without what readers are not shown. */
static enum ss_err
answer_folder(struct exchange *x, const char *path)
{
	const struct ss_text out = x->result.out;
	struct json_value *root = json_tree(out.data, out.len);
	const struct json_value *entry;
	const char *name, *child;
	bool first = true;

	if (root == NULL)
		return error_memory(&x->err);
	buf_text(&x->body, "{\"entries\": [");
	JSON_EACH(entry, json_member(root, "entries"))
	{
		name = json_member(entry, "name")->text;
		child = path[0] == '\0'
			? name
			: arena_join(&x->site->arena, path, "/", name);
		if (child == NULL || is_hidden(x, child))
			continue;
		buf_text(&x->body, first ? "" : ", ");
		json_write(&x->body, entry);
		first = false;
	}
	buf_text(&x->body, "]}\n");
	json_tree_free(root);
	exchange_header(x, "Cache-Control", "no-store");
	exchange_body(x, 200, "application/json");
	return SS_OK;
}

static enum ss_err
answer_file(struct exchange *x, const struct target *t)
{
	const char *path = t->rest + (t->rest[0] != '\0' ? 5 : 0);
	struct workspace_use u;
	enum ss_err code;

	path += *path == '/';
	if (!exchange_is(x, "GET"))
		return refuse_method(x, "GET");
	if (path[0] != '\0' && is_hidden(x, path))
		return documents_refuse_hidden(path, &x->err);
	begin_use(x, &u, t, WORKSPACE_READ);
	u.path = path;
	code = run_act(x, &u, "");
	if (code != SS_OK)
		return code;
	if (text_is(x->result.workspace, "directory"))
		return answer_folder(x, path);
	buf_add(&x->body, x->result.out.data, x->result.out.len);
	exchange_header(x, "Cache-Control", "no-store");
	exchange_header(x, "Content-Security-Policy", "sandbox");
	exchange_body(x, 200, "application/octet-stream");
	return SS_OK;
}

static enum ss_err
answer_session(struct exchange *x, const struct target *t)
{
	struct workspace_use u;
	enum ss_err code;

	if (!exchange_is(x, "DELETE"))
		return answer_file(x, t);
	begin_use(x, &u, t, WORKSPACE_DISCARD);
	code = run_act(x, &u, "");
	if (code == SS_OK)
		answer_json(x, 200);
	return code;
}

enum ss_err
http_workspaces_answer(struct exchange *x)
{
	const struct ss_request *req = x->req;
	struct target t;
	enum ss_err code = take_target(x, &t);

	x->json_errors = true;
	if (code == SS_OK && !exchange_is(x, "GET"))
		code = origin_check(
			&x->site->config, req->origin, req->host, &x->err);
	if (code != SS_OK)
		return code;
	if (x->site->config.grant.workspace.count == 0)
		return error_set(&x->err, SS_NOT_FOUND, "no such file");
	if (t.id[0] == '\0')
		return answer_all(x, &t);
	if (strcmp(t.rest, "diff") == 0)
		return answer_diff(x, &t);
	if (strcmp(t.rest, "commit") == 0)
		return answer_commit(x, &t);
	if (t.rest[0] == '\0')
		return answer_session(x, &t);
	if (strcmp(t.rest, "files") == 0 || strncmp(t.rest, "files/", 6) == 0)
		return answer_file(x, &t);
	return error_set(&x->err, SS_NOT_FOUND, "no such file");
}
