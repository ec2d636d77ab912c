/* SPDX-License-Identifier: MIT */
#include "mcp/prompts.h"
#include "mcp/ask.h"
#include "mcp/document.h"
#include "mcp/list.h"
#include "mcp/resources.h"
#include "mcp/uri.h"
#include "page/prompt.h"
#include "wire/json.h"
#include "wire/media.h"
#include "wire/path.h"

/* Opens the page that declares the prompt; false: it does not. */
static bool
open_prompt(struct mcp *m, const char *path, const char *name,
	struct ss_document *doc, const struct page **page,
	const struct prompt **prompt)
{
	struct page *opened;

	if (mcp_document_open(m, path, doc, &opened) != SS_OK)
		return false;
	*page = opened;
	*prompt = prompt_find(
		opened->front.prompts, opened->front.prompt_count, name);
	if (*prompt == NULL)
		mcp_document_close(m, doc);
	return *prompt != NULL;
}

const struct catalog_page *
mcp_prompts_page(const struct catalog *c, const char *name)
{
	for (size_t i = 0; i < c->page_count; i++)
		for (size_t k = 0; k < c->pages[i].prompt_count; k++)
			if (strcmp(c->pages[i].prompts[k], name) == 0)
				return &c->pages[i];
	return NULL;
}

/* ------------------------------------------------------------------ list -- */

static void
write_arguments(struct mcp *m, const struct prompt *prompt)
{
	mcp_key(m, "arguments");
	buf_char(m->out, '[');
	for (size_t i = 0; i < prompt->argument_count; i++) {
		const struct prompt_argument *a = &prompt->arguments[i];

		mcp_comma(m);
		buf_char(m->out, '{');
		mcp_text(m, "name", a->name);
		if (a->description != NULL)
			mcp_text(m, "description", a->description);
		mcp_key(m, "required");
		buf_text(m->out,
			a->required &&
					!mcp_ask_may_omit(m, prompt->asks,
						prompt->ask_count, a->name)
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
	const struct prompt *p;
	const struct page *page;

	if (!open_prompt(m, listed->path, name, &doc, &page, &p))
		return;
	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_text(m, "name", name);
	mcp_text(m, "title", p->title != NULL ? p->title : listed->title);
	mcp_text(m, "description",
		p->description != NULL ? p->description : listed->description);
	write_arguments(m, p);
	buf_char(m->out, '}');
	mcp_document_close(m, &doc);
}

enum rpc_code
mcp_prompts_list(struct mcp *m)
{
	struct mcp_list l;
	struct catalog *c;
	enum rpc_code code =
		mcp_list_begin(m, &l, "prompts", MCP_LIST_PIECE, &c);

	if (code != RPC_OK)
		return code;
	for (size_t i = 0; i < c->page_count; i++) {
		const struct catalog_page *p = &c->pages[i];

		for (size_t k = 0; k < p->prompt_count; k++)
			if (mcp_prompts_page(c, p->prompts[k]) == p &&
				mcp_list_includes(&l, p->prompts[k]))
				write_prompt(m, p, p->prompts[k]);
	}
	error_clear(&m->err);
	return mcp_list_end(m, &l);
}

/* ------------------------------------------------------------- arguments -- */

/* A value for each argument of the prompt; NULL: the call left it out. */
struct prompt_given {
	const struct prompt *prompt;
	struct ss_pair *args;
};

static enum rpc_code
read_arguments(struct mcp *m, struct prompt_given *g)
{
	size_t count = g->prompt->argument_count;
	const struct rpc_value *given;
	enum rpc_code code = mcp_arguments(m, &given);

	if (code != RPC_OK)
		return code;
	g->args = arena_array(&m->site->arena, count + 1, sizeof(*g->args));
	if (g->args == NULL)
		return mcp_no_memory(m);
	for (size_t i = 0; i < count; i++) {
		const char *name = g->prompt->arguments[i].name;
		const struct rpc_value *v = rpc_member(given, name);

		if (v != NULL && rpc_text(v) == NULL)
			return mcp_refuse(m, RPC_BAD_PARAMS,
				"the argument \"%.100s\" must be a string",
				name);
		g->args[i] =
			(struct ss_pair){ .name = name, .value = rpc_text(v) };
	}
	return RPC_OK;
}

/* Fills in "" for what is missing and not required. */
static enum rpc_code
fill_missing(struct mcp *m, struct prompt_given *g)
{
	for (size_t i = 0; i < g->prompt->argument_count; i++) {
		struct ss_pair *p = &g->args[i];

		if (p->value == NULL && g->prompt->arguments[i].required)
			return mcp_refuse(m, RPC_BAD_PARAMS,
				"the argument \"%.100s\" is missing", p->name);
		if (p->value == NULL)
			p->value = "";
	}
	return RPC_OK;
}

static struct ss_pair *
find_pair(const struct prompt_given *g, const char *name)
{
	const struct prompt_argument *a =
		prompt_argument_find(g->prompt, text_of(name));

	return a != NULL ? &g->args[a - g->prompt->arguments] : NULL;
}

static bool
has_argument(void *ctx, const char *name)
{
	const struct ss_pair *p = find_pair(ctx, name);

	return p == NULL || p->value != NULL;
}

static bool
take_argument(void *ctx, const char *name, const char *value)
{
	struct ss_pair *p = find_pair(ctx, name);

	if (p != NULL)
		p->value = value;
	return p != NULL;
}

static void
describe_argument(void *ctx, struct mcp *m, const char *name)
{
	const struct prompt_given *g = ctx;
	const struct prompt_argument *a =
		prompt_argument_find(g->prompt, text_of(name));

	mcp_text(m, "type", "string");
	if (a != NULL && a->description != NULL)
		mcp_text(m, "description", a->description);
}

/*
 * A person fills in what the call left out.  RPC_OK also when the result is the
 * question: then *answered is MCP_ASKED.
 */
static enum rpc_code
ask_arguments(struct mcp *m, struct prompt_given *g, const char *path,
	enum mcp_answered *answered)
{
	const struct prompt *p = g->prompt;
	const struct mcp_ask a = { .forms = p->asks,
		.form_count = p->ask_count,
		.has = has_argument,
		.take = take_argument,
		.describe = describe_argument,
		.ctx = g };
	struct mcp_round round;
	enum rpc_code code;

	if (p->ask_error != NULL) {
		m->err = *p->ask_error;
		return RPC_INTERNAL;
	}
	if (p->ask_count == 0)
		return RPC_OK;
	code = mcp_round_begin(m, &round, path, TEXT(""),
		mcp_ask_count(a.forms, a.form_count));
	if (code != RPC_OK)
		return code;
	*answered = mcp_ask(m, &round, &a);
	if (*answered == MCP_CANNOT_ASK)
		return RPC_NO_CAPABILITY;
	return *answered == MCP_DECLINED ? mcp_failed(m) : RPC_OK;
}

/* -------------------------------------------------------------- messages -- */

/* What the messages are written from, in the arena of the request. */
struct filling {
	const struct ss_pair *args;
	size_t arg_count;
	struct prompt_message *messages;
	size_t count;
};

static enum rpc_code
fill_text(struct mcp *m, const struct filling *f, struct ss_text *text)
{
	if (proto_fill(&m->site->arena, text, 1, f->args, f->arg_count,
		    &m->err) == SS_OK)
		return RPC_OK;
	return mcp_failed(m);
}

static void
begin_message(struct mcp *m, const char *role)
{
	mcp_comma(m);
	buf_char(m->out, '{');
	mcp_text(m, "role", role);
	mcp_key(m, "content");
}

static enum rpc_code
write_text(struct mcp *m, const struct filling *f, const char *role,
	struct ss_text text)
{
	enum rpc_code code = fill_text(m, f, &text);

	if (code != RPC_OK)
		return code;
	begin_message(m, role);
	buf_text(m->out, "{\"type\":\"text\",\"text\":");
	json_string(m->out, text.data, text.len);
	buf_text(m->out, "}}");
	return RPC_OK;
}

static void
write_bytes(struct mcp *m, const char *path, struct ss_text bytes)
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
		mcp_resources_contents(m, path, bytes);
		buf_char(m->out, '}');
	}
	buf_text(m->out, "}}");
}

/* A file of the site, by its path or by the URI of its resource. */
static enum rpc_code
write_file(struct mcp *m, const struct filling *f, const char *role,
	struct ss_text file)
{
	/* A client's argument may not choose a hidden one. */
	enum mcp_reading how = memchr(file.data, '{', file.len) == NULL
		? MCP_READ_AUTHORS
		: MCP_READ_AS_GET;
	enum rpc_code code = fill_text(m, f, &file);
	struct buf bytes = BUF_INIT(0);
	char clean[PATH_BYTES_MAX + 1];
	const char *path, *resolved;
	enum ss_err read;

	if (code != RPC_OK)
		return code;
	path = mcp_uri_path(m, file.data);
	if (path == NULL &&
		ss_path_clean(file.data, file.len, clean, sizeof(clean),
			NULL) == SS_OK)
		path = clean;
	read = path != NULL ? mcp_resources_get(m, path, how, &resolved, &bytes)
			    : SS_NOT_FOUND;
	if (read == SS_OK) {
		begin_message(m, role);
		write_bytes(m, resolved, buf_view(&bytes));
	} else if (read == SS_INTERNAL) {
		code = RPC_INTERNAL;
	} else {
		code = mcp_refuse(m, RPC_BAD_PARAMS, "there is no file %.200s",
			file.data);
	}
	buf_release(&bytes);
	return code;
}

static enum rpc_code
write_body(struct mcp *m, const struct filling *f,
	const struct ss_document *doc, size_t from)
{
	struct buf text = BUF_INIT(PROTO_WORD_MAX);
	enum rpc_code code = RPC_INTERNAL;

	if (page_read(doc, &text, &m->err) == SS_OK)
		code = write_text(m, f, "user",
			(struct ss_text){ text.data + from,
				text.len > from ? text.len - from : 0 });
	buf_release(&text);
	return code;
}

static enum rpc_code
write_list(struct mcp *m, const struct filling *f)
{
	enum rpc_code code = RPC_OK;

	for (size_t i = 0; code == RPC_OK && i < f->count; i++) {
		const struct prompt_message *p = &f->messages[i];

		code = p->text != NULL
			? write_text(m, f, p->role, text_of(p->text))
			: write_file(m, f, p->role, text_of(p->file));
	}
	return code;
}

/* ------------------------------------------------------------------- get -- */

/* False: *text could not be copied. */
static bool
copy_text(struct mcp *m, const char **text)
{
	if (*text != NULL)
		*text = arena_copy(&m->site->arena, *text, strlen(*text));
	else
		return true;
	return *text != NULL;
}

/* Copies it: the page may be freed when another file is read. */
static bool
keep_prompt(struct mcp *m, const struct prompt_given *g, struct filling *out)
{
	const struct prompt *p = g->prompt;
	bool kept = true;

	*out = (struct filling){ .args = g->args,
		.arg_count = p->argument_count,
		.messages = arena_array(&m->site->arena, p->message_count + 1,
			sizeof(*out->messages)),
		.count = p->message_count };
	if (out->messages == NULL)
		return false;
	for (size_t i = 0; kept && i < out->arg_count; i++)
		kept = copy_text(m, &g->args[i].name);
	for (size_t i = 0; kept && i < out->count; i++) {
		out->messages[i] = p->messages[i];
		kept = copy_text(m, &out->messages[i].text) &&
			copy_text(m, &out->messages[i].file);
	}
	return kept;
}

static enum rpc_code
write_messages(struct mcp *m, const struct ss_document *doc,
	const struct page *page, const struct prompt *prompt)
{
	struct prompt_given g = { .prompt = prompt };
	enum mcp_answered answered = MCP_AGREED;
	bool is_page = prompt->is_page;
	struct filling f;
	enum rpc_code code = read_arguments(m, &g);

	if (code == RPC_OK)
		code = ask_arguments(m, &g, doc->path, &answered);
	if (code != RPC_OK || answered == MCP_ASKED)
		return code;
	code = fill_missing(m, &g);
	if (code != RPC_OK)
		return code;
	if (!keep_prompt(m, &g, &f))
		return mcp_no_memory(m);
	if (prompt->description != NULL)
		mcp_text(m, "description", prompt->description);
	mcp_key(m, "messages");
	buf_char(m->out, '[');
	code = is_page ? write_body(m, &f, doc, page->front.body)
		       : write_list(m, &f);
	buf_char(m->out, ']');
	return code;
}

enum rpc_code
mcp_prompts_get(struct mcp *m)
{
	const char *name = mcp_param(m, "name");
	const struct catalog_page *listed;
	const struct prompt *prompt;
	struct ss_document doc;
	const struct page *page;
	struct catalog *c;
	enum rpc_code code;

	if (name == NULL)
		return RPC_BAD_PARAMS;
	if (catalog_refresh(&m->site->catalog, &c, &m->err) != SS_OK)
		return RPC_INTERNAL;
	listed = mcp_prompts_page(c, name);
	if (listed == NULL ||
		!open_prompt(m, listed->path, name, &doc, &page, &prompt))
		return mcp_refuse(m, RPC_BAD_PARAMS,
			"there is no prompt \"%.100s\"", name);
	code = write_messages(m, &doc, page, prompt);
	mcp_document_close(m, &doc);
	return code;
}
