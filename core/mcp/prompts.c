/* SPDX-License-Identifier: MIT */
/*
 * Prompts: what a page declares under `prompts:`, a list of mappings with
 *
 *	name, title, description
 *	arguments	a list of names, or of mappings with name, description
 *			and required
 *	text		one message of the user's; {argument} is filled in
 *	messages	several: mappings with role, and text or file
 *	ask		forms for arguments that a call leaves out, see ask.h
 *
 * and without text and messages the page's own text.
 */
#include "mcp/ask.h"
#include "page/ask.h"
#include "site/listing.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/path.h"

#define VALUES_MAX 100

/* --------------------------------------------------------------- reading -- */

static const char *
text_at(const struct node *map, const char *key)
{
	const struct node *n = node_member(map, key);

	return n != NULL && n->kind == NODE_STRING && n->len > 0 ? n->text
								 : NULL;
}

/* YAML's scalars are all text. */
static bool
flag_at(const struct node *map, const char *key)
{
	const struct node *n = node_member(map, key);

	if (n == NULL)
		return false;
	return n->kind == NODE_BOOL
		? n->value.truth
		: n->kind == NODE_STRING && strcmp(n->text, "true") == 0;
}

static const char *
argument_name(const struct node *n)
{
	if (n->kind == NODE_STRING && n->len > 0)
		return n->text;
	return n->kind == NODE_MAP ? text_at(n, "name") : NULL;
}

static const struct node *
items_of(const struct node *map, const char *key)
{
	const struct node *list = node_member(map, key);

	return list != NULL && list->kind == NODE_LIST ? list->first : NULL;
}

static const struct node *
prompt_named(const struct frontmatter *front, const char *name)
{
	const struct node *n =
		front->prompts != NULL && front->prompts->kind == NODE_LIST
		? front->prompts->first
		: NULL;

	for (; n != NULL; n = n->next) {
		const char *own = text_at(n, "name");

		if (own != NULL && strcmp(own, name) == 0)
			return n;
	}
	return NULL;
}

/* The page that declares a prompt, opened; false: none does. */
static bool
open_prompt(struct mcp *m, const char *path, const char *name,
	struct ss_document *doc, struct page **page, const struct node **prompt)
{
	if (mcp_open(m, path, doc, page) != SS_OK)
		return false;
	*prompt = prompt_named(&(*page)->front, name);
	if (*prompt == NULL)
		mcp_close(m, doc);
	return *prompt != NULL;
}

/* The first page that has it; NULL: none. */
static const struct catalog_page *
page_of(const struct catalog *c, const char *name)
{
	for (size_t i = 0; i < c->page_count; i++)
		for (size_t k = 0; k < c->pages[i].prompt_count; k++)
			if (strcmp(c->pages[i].prompts[k], name) == 0)
				return &c->pages[i];
	return NULL;
}

/* ------------------------------------------------------------------ list -- */

/* Is there a form for it?  Read leniently: `statespace check` complains. */
static bool
is_asked(const struct mcp *m, const struct node *prompt, const char *name)
{
	for (const struct node *form = items_of(prompt, "ask");
		m->era == MCP_MODERN && form != NULL; form = form->next)
		for (const struct node *n = items_of(form, "arguments");
			n != NULL; n = n->next)
			if (n->kind == NODE_STRING &&
				strcmp(n->text, name) == 0)
				return true;
	return false;
}

static void
write_arguments(struct mcp *m, const struct node *prompt)
{
	mcp_key(m, "arguments");
	buf_char(m->out, '[');
	for (const struct node *n = items_of(prompt, "arguments"); n != NULL;
		n = n->next) {
		bool map = n->kind == NODE_MAP;

		if (argument_name(n) == NULL)
			continue;
		mcp_comma(m);
		buf_char(m->out, '{');
		mcp_text(m, "name", argument_name(n));
		if (map && text_at(n, "description") != NULL)
			mcp_text(m, "description", text_at(n, "description"));
		mcp_key(m, "required");
		buf_text(m->out,
			map && flag_at(n, "required") &&
					!is_asked(m, prompt, argument_name(n))
				? "true"
				: "false");
		buf_char(m->out, '}');
	}
	buf_char(m->out, ']');
}

static void
write_prompt(struct mcp *m, const struct catalog_page *listed, const char *name)
{
	struct ss_document doc;
	const struct node *prompt;
	const char *title, *description;
	struct page *page;

	if (!open_prompt(m, listed->path, name, &doc, &page, &prompt))
		return;
	title = text_at(prompt, "title");
	description = text_at(prompt, "description");
	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_text(m, "name", name);
	mcp_text(m, "title", title != NULL ? title : listed->title);
	mcp_text(m, "description",
		description != NULL ? description : listed->description);
	write_arguments(m, prompt);
	buf_char(m->out, '}');
	mcp_close(m, &doc);
}

enum rpc_code
mcp_prompts_list(struct mcp *m)
{
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code =
		mcp_list_begin(m, &l, "prompts", MCP_PAGE_SIZE, &c);

	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];

		for (size_t k = 0; k < p->prompt_count; k++)
			if (page_of(c, p->prompts[k]) == p &&
				mcp_list_takes(&l, p->prompts[k]))
				write_prompt(m, p, p->prompts[k]);
	}
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}

/* ------------------------------------------------------------------- get -- */

/* The arguments of a call; those that it leaves out have no value. */
struct given {
	const struct node *prompt;
	struct ss_pair *args; /* all that the prompt has */
	size_t count;
};

static enum rpc_code
read_arguments(struct mcp *m, struct given *g)
{
	const struct rpc_value *given = rpc_member(m->rpc.params, "arguments");
	const struct node *list = node_member(g->prompt, "arguments");

	if (given != NULL && !rpc_is_object(given))
		return mcp_refuse(
			m, RPC_BAD_PARAMS, "\"arguments\" must be an object");
	g->args = arena_array(&m->site->arena,
		(list != NULL ? list->count : 0) + 1, sizeof(*g->args));
	if (g->args == NULL) {
		error_memory(&m->err);
		return RPC_INTERNAL;
	}
	for (const struct node *n = items_of(g->prompt, "arguments"); n != NULL;
		n = n->next) {
		const char *name = argument_name(n);
		const struct rpc_value *v =
			name != NULL ? rpc_member(given, name) : NULL;

		if (name == NULL)
			continue;
		if (v != NULL && rpc_text(v) == NULL)
			return mcp_refuse(m, RPC_BAD_PARAMS,
				"the argument \"%.100s\" must be a string",
				name);
		g->args[g->count++] =
			(struct ss_pair){ .name = name, .value = rpc_text(v) };
	}
	return RPC_OK;
}

/* What is still missing is an error where it is required, else empty. */
static enum rpc_code
complete(struct mcp *m, struct given *g)
{
	const struct node *n = items_of(g->prompt, "arguments");

	for (size_t i = 0; n != NULL && i < g->count; n = n->next) {
		struct ss_pair *p = &g->args[i];

		if (argument_name(n) == NULL)
			continue;
		if (p->value == NULL && n->kind == NODE_MAP &&
			flag_at(n, "required"))
			return mcp_refuse(m, RPC_BAD_PARAMS,
				"the argument \"%.100s\" is missing", p->name);
		if (p->value == NULL)
			p->value = "";
		i++;
	}
	return RPC_OK;
}

static struct ss_pair *
find(const struct given *g, const char *name)
{
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->args[i].name, name) == 0)
			return &g->args[i];
	return NULL;
}

static bool
has_argument(void *ctx, const char *name)
{
	const struct ss_pair *p = find(ctx, name);

	return p == NULL || p->value != NULL;
}

static bool
take_argument(void *ctx, const char *name, const char *value)
{
	find(ctx, name)->value = value;
	return true;
}

static void
describe_argument(void *ctx, struct mcp *m, const char *name)
{
	const struct given *g = ctx;

	for (const struct node *n = items_of(g->prompt, "arguments"); n != NULL;
		n = n->next)
		if (n->kind == NODE_MAP && argument_name(n) != NULL &&
			strcmp(argument_name(n), name) == 0 &&
			text_at(n, "description") != NULL)
			mcp_text(m, "description", text_at(n, "description"));
}

/*
 * A person fills in what the call leaves out.  RPC_OK also for a question, with
 * *answered saying so, which is left alone where there is none.
 */
static enum rpc_code
ask_arguments(struct mcp *m, struct given *g, const char *path,
	enum mcp_answered *answered)
{
	const struct reading reading = { .arena = &m->site->arena,
		.err = &m->err };
	const struct node *forms = node_member(g->prompt, "ask");
	struct mcp_arguments a = { .has = has_argument,
		.take = take_argument,
		.describe = describe_argument,
		.ctx = g };
	struct mcp_round round;
	enum rpc_code code;

	if (forms == NULL)
		return RPC_OK;
	if (ask_parse(&reading, forms, &a.asks, &a.ask_count) != SS_OK)
		return RPC_INTERNAL;
	code = mcp_round_begin(
		m, &round, path, TEXT(""), mcp_ask_count(a.asks, a.ask_count));
	if (code != RPC_OK)
		return code;
	*answered = mcp_ask(m, &round, &a);
	return *answered == MCP_DECLINED ? mcp_failed(m) : RPC_OK;
}

static enum rpc_code
fill(struct mcp *m, struct ss_text *text, const struct ss_pair *args,
	size_t count)
{
	if (proto_fill(&m->site->arena, text, 1, args, count, &m->err) == SS_OK)
		return RPC_OK;
	return mcp_failed(m);
}

static void
begin_message(struct mcp *m, const char *role)
{
	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_text(m, "role",
		role != NULL && strcmp(role, "assistant") == 0 ? "assistant"
							       : "user");
	mcp_key(m, "content");
}

static enum rpc_code
text_message(struct mcp *m, const char *role, struct ss_text text,
	const struct ss_pair *args, size_t count)
{
	enum rpc_code code = fill(m, &text, args, count);

	if (code != RPC_OK)
		return code;
	begin_message(m, role);
	buf_text(m->out, "{\"type\":\"text\",\"text\":");
	json_string(m->out, text.data, text.len);
	buf_text(m->out, "}}");
	return RPC_OK;
}

static void
write_file(struct mcp *m, const char *path, struct ss_text bytes)
{
	const char *type = media_type(path);

	if (strncmp(type, "image/", 6) == 0) {
		buf_text(m->out, "{\"type\":\"image\",\"data\":");
		mcp_base64(m, bytes);
		mcp_text(m, "mimeType", type);
	} else {
		buf_text(m->out, "{\"type\":\"resource\",\"resource\":{");
		mcp_key(m, "uri");
		mcp_uri(m, path);
		mcp_contents(m, path, bytes);
		buf_char(m->out, '}');
	}
	buf_text(m->out, "}}");
}

/* A file of the site, by its path or by the URI of its resource. */
static enum rpc_code
file_message(struct mcp *m, const char *role, struct ss_text file,
	const struct ss_pair *args, size_t count)
{
	enum rpc_code code = fill(m, &file, args, count);
	struct buf bytes = BUF_INIT(0);
	char resolved[4097], clean[PATH_BYTES_MAX + 1];
	const char *path;
	enum ss_err read;

	if (code != RPC_OK)
		return code;
	path = mcp_uri_path(m, file.data);
	if (path == NULL &&
		ss_path_clean(file.data, file.len, clean, sizeof(clean),
			NULL) == SS_OK)
		path = clean;
	read = path != NULL ? mcp_read_path(m, path, resolved, &bytes)
			    : SS_NOT_FOUND;
	if (read == SS_OK) {
		begin_message(m, role);
		write_file(m, resolved, buf_view(&bytes));
	} else {
		code = mcp_refuse(m, RPC_BAD_PARAMS, "there is no file %.200s",
			file.data);
	}
	buf_release(&bytes);
	return code;
}

static enum rpc_code
body_message(struct mcp *m, const struct ss_document *doc,
	const struct page *page, const struct ss_pair *args, size_t count)
{
	struct buf text = BUF_INIT(PROTO_WORD_MAX);
	enum rpc_code code = RPC_INTERNAL;
	size_t from = page->front.body;

	if (page_read(doc, &text, &m->err) == SS_OK)
		code = text_message(m, NULL,
			(struct ss_text){ text.data + from,
				text.len > from ? text.len - from : 0 },
			args, count);
	buf_release(&text);
	return code;
}

/* Copied first: to read a file is to give the page's memory away. */
struct message {
	const char *role;
	struct ss_text text, file;
};

static bool
copy(struct mcp *m, const struct node *map, const char *key,
	struct ss_text *out)
{
	const char *text = map->kind == NODE_MAP ? text_at(map, key) : NULL;

	if (text == NULL)
		return true;
	out->len = strlen(text);
	out->data = arena_copy(&m->site->arena, text, out->len);
	return out->data != NULL;
}

static enum rpc_code
messages(struct mcp *m, const struct node *list, const struct ss_pair *args,
	size_t count)
{
	struct message *all =
		arena_array(&m->site->arena, list->count + 1, sizeof(*all));
	enum rpc_code code = RPC_OK;
	size_t n = 0;

	for (const struct node *i = list->first; all != NULL && i != NULL;
		i = i->next) {
		struct ss_text role = { 0 };

		if (!copy(m, i, "role", &role) ||
			!copy(m, i, "text", &all[n].text) ||
			!copy(m, i, "file", &all[n].file))
			all = NULL;
		else
			all[n++].role = role.data;
	}
	if (all == NULL) {
		error_memory(&m->err);
		return RPC_INTERNAL;
	}
	for (size_t i = 0; code == RPC_OK && i < n; i++)
		if (all[i].text.data != NULL)
			code = text_message(
				m, all[i].role, all[i].text, args, count);
		else if (all[i].file.data != NULL)
			code = file_message(
				m, all[i].role, all[i].file, args, count);
	return code;
}

static bool
copy_names(struct mcp *m, struct ss_pair *args, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		args[i].name = arena_copy(
			&m->site->arena, args[i].name, strlen(args[i].name));
		if (args[i].name == NULL)
			return false;
	}
	return true;
}

static enum rpc_code
write_messages(struct mcp *m, const struct ss_document *doc,
	const struct page *page, const struct node *prompt)
{
	const struct node *list = node_member(prompt, "messages");
	const char *text = text_at(prompt, "text");
	const char *description = text_at(prompt, "description");
	struct given g = { .prompt = prompt };
	enum mcp_answered answered = MCP_AGREED;
	enum rpc_code code;

	code = read_arguments(m, &g);
	if (code == RPC_OK)
		code = ask_arguments(m, &g, doc->path, &answered);
	if (code != RPC_OK || answered == MCP_ASKED)
		return code;
	code = complete(m, &g);
	if (code != RPC_OK)
		return code;
	if (!copy_names(m, g.args, g.count)) {
		error_memory(&m->err);
		return RPC_INTERNAL;
	}
	if (description != NULL)
		mcp_text(m, "description", description);
	mcp_key(m, "messages");
	buf_char(m->out, '[');
	if (list != NULL && list->kind == NODE_LIST)
		code = messages(m, list, g.args, g.count);
	else if (text != NULL)
		code = text_message(m, NULL, text_of(text), g.args, g.count);
	else
		code = body_message(m, doc, page, g.args, g.count);
	buf_char(m->out, ']');
	return code;
}

enum rpc_code
mcp_prompts_get(struct mcp *m)
{
	const char *name = mcp_param(m, "name");
	const struct catalog_page *listed;
	const struct node *prompt;
	struct ss_document doc;
	struct page *page;
	struct catalog *c;
	enum rpc_code code;

	if (name == NULL)
		return RPC_BAD_PARAMS;
	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	listed = page_of(c, name);
	if (listed == NULL ||
		!open_prompt(m, listed->path, name, &doc, &page, &prompt))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"there is no prompt \"%.100s\"", name);
	code = write_messages(m, &doc, page, prompt);
	mcp_close(m, &doc);
	return code;
}

/* ------------------------------------------------------------ completion -- */

/* Arguments of these names are paths of pages. */
static bool
is_path_argument(const char *name)
{
	return strcmp(name, "path") == 0 || strcmp(name, "page") == 0 ||
		strcmp(name, "file") == 0;
}

static void
complete_paths(struct mcp *m, const struct catalog *c, const char *start)
{
	size_t total = 0;

	for (size_t i = 0; i < c->page_count; i++) {
		const char *path = c->pages[i].path;

		if (strncmp(path, start, strlen(start)) != 0 ||
			total++ >= VALUES_MAX)
			continue;
		mcp_comma(m);
		mcp_string(m, path);
	}
	buf_printf(m->out, "],\"total\":%zu,\"hasMore\":%s}", total,
		total > VALUES_MAX ? "true" : "false");
}

enum rpc_code
mcp_complete(struct mcp *m)
{
	const struct rpc_value *ref = rpc_member(m->rpc.params, "ref");
	const struct rpc_value *argument =
		rpc_member(m->rpc.params, "argument");
	const char *type = rpc_text(rpc_member(ref, "type"));
	const char *prompt = rpc_text(rpc_member(ref, "name"));
	const char *name = rpc_text(rpc_member(argument, "name"));
	const char *value = rpc_text(rpc_member(argument, "value"));
	bool is_prompt = type != NULL && strcmp(type, "ref/prompt") == 0;
	struct catalog *c;

	if (type == NULL || name == NULL || value == NULL ||
		(is_prompt ? prompt == NULL
			   : strcmp(type, "ref/resource") != 0))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"\"params\" needs \"ref\" and \"argument\"");
	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	if (is_prompt && page_of(c, prompt) == NULL)
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"there is no prompt \"%.100s\"", prompt);
	mcp_key(m, "completion");
	buf_text(m->out, "{\"values\":[");
	if (is_path_argument(name))
		complete_paths(m, c, value);
	else
		buf_text(m->out, "],\"total\":0,\"hasMore\":false}");
	return RPC_OK;
}
