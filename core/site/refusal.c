/* SPDX-License-Identifier: MIT */
#include "site/refusal.h"

#include "page/env.h"
#include "page/form.h"
#include "site/exists.h"
#include "site/meant.h"
#include "state/state.h"
#include "wire/json.h"
#include "wire/path.h"

#define EXAMPLES_MAX 8  /* tools whose examples are tried */
#define KEPT_BYTES 2048 /* of stdin that is repeated */
#define STEP_BYTES (64 << 10)

/* One refusal, while a request that runs is looked for. */
struct search {
	const struct refusal *r;
	struct call call;             /* a dry run */
	struct proto_request request; /* what it asks */
	struct form_page page;
	struct ss_pair *env;
	size_t env_count;
	bool keyed;   /* only the key is wrong */
	bool lost;    /* only the workspace session is */
	ssize_t tool; /* that would run */
	char key[STATE_ID_CAP];
	struct ss_result *result;
};

void
refusal_set(
	struct arena *arena, const struct step *step, struct ss_result *result)
{
	struct buf json = BUF_INIT(STEP_BYTES), line = BUF_INIT(STEP_BYTES);
	const char *copies[2] = { NULL, NULL };

	step_json(step, &json);
	step_line(step, &line);
	if (buf_ok(&json) && buf_ok(&line)) {
		copies[0] = arena_copy(arena, json.data, json.len);
		copies[1] = arena_copy(arena, line.data, line.len);
	}
	if (copies[0] != NULL && copies[1] != NULL) {
		result->step = copies[0];
		result->step_line = copies[1];
	}
	buf_release(&json);
	buf_release(&line);
}

void
refusal_print(const struct ss_error *err, const struct ss_result *result,
	struct buf *out)
{
	struct step step;

	if (result != NULL && result->step_line != NULL) {
		buf_text(out, result->step_line);
		return;
	}
	step = step_of(err, result != NULL ? result->page : NULL);
	step_line(&step, out);
}

/* ---------------------------------------------------------- does it run? -- */

static bool
runs(struct search *s)
{
	const char *stage;
	struct ss_result result = SS_INIT(ss_result);

	if (call_try(s->r->parts, &s->call, &stage, &result, NULL) != SS_OK)
		return false;
	s->tool = result.tool;
	return true;
}

static bool
form_runs(struct search *s, const struct form *form)
{
	const struct proto_request *asked = s->r->request;
	const struct spec *spec = &s->page.specs[form->tool];

	s->request = (struct proto_request){ .words = form->words,
		.word_count = form->word_count,
		.call_name = form->name,
		.call_args = form->args,
		.call_arg_count = form->arg_count,
		.env = s->env,
		.env_count = s->env_count,
		.parse = asked->parse };
	if (spec->takes_stdin && asked->has_stdin) {
		s->request.has_stdin = true;
		s->request.stdin_text = asked->stdin_text;
	}
	return runs(s);
}

/* --------------------------------------------------------------- variables -- */

/* Those of the request that any tool of the page may be sent. */
static bool
keep_open_names(struct search *s)
{
	const struct proto_request *asked = s->r->request;
	const struct frontmatter *front = &s->r->page->front;
	const struct env_scope scope = { .server = s->r->parts->config->env,
		.server_count = s->r->parts->config->env_count,
		.page = &front->env,
		.tool = &(const struct name_list){ 0 } };

	s->env = arena_array(s->r->parts->arena,
		asked->env_count + front->env.count + 1, sizeof(*s->env));
	for (size_t i = 0; s->env != NULL && i < asked->env_count; i++)
		if (env_is_open(&scope, asked->env[i].name))
			s->env[s->env_count++] = asked->env[i];
	return s->env != NULL;
}

/* The same with a value for each name that is open and was not sent. */
static void
add_open_names(struct search *s)
{
	const struct frontmatter *front = &s->r->page->front;
	const struct env_scope scope = { .server = s->r->parts->config->env,
		.server_count = s->r->parts->config->env_count,
		.page = &front->env,
		.tool = &(const struct name_list){ 0 },
		.request = s->env,
		.request_count = s->env_count };

	for (size_t i = 0; i < front->env.count; i++)
		if (env_is_open(&scope, front->env.names[i]) &&
			env_sent_value(&scope, text_of(front->env.names[i])) ==
				NULL)
			s->env[s->env_count++] =
				(struct ss_pair){ .name = front->env.names[i],
					.value = "text" };
}

/* --------------------------------------------------------------- the request -- */

static void
print_env(const struct search *s, struct buf *out)
{
	const struct proto_request *q = &s->request;

	if (q->env_count == 0)
		return;
	buf_text(out, ", \"env\": {");
	for (size_t i = 0; i < q->env_count; i++) {
		buf_text(out, i > 0 ? ", " : "");
		json_string(out, q->env[i].name, strlen(q->env[i].name));
		buf_text(out, ": ");
		json_string(out, q->env[i].value, strlen(q->env[i].value));
	}
	buf_char(out, '}');
}

/* The whole request; *keep is a member to take over from the refused one. */
static bool
print_request(const struct search *s, const struct form *form,
	const char *token, struct buf *out, const char **keep)
{
	const struct proto_request *q = &s->request;
	bool good;

	buf_char(out, '{');
	good = form_print(&s->page, form, s->r->name, out);
	print_env(s, out);
	*keep = NULL;
	if (q->has_stdin && q->stdin_text.len > KEPT_BYTES) {
		*keep = "stdin";
	} else if (q->has_stdin) {
		buf_text(out, ", \"stdin\": ");
		json_string(out, q->stdin_text.data, q->stdin_text.len);
	}
	if (q->parse)
		buf_text(out, ", \"parse\": true");
	if (token != NULL) {
		buf_text(out, ", \"confirm\": ");
		json_string(out, token, strlen(token));
	}
	buf_char(out, '}');
	return good && buf_ok(out);
}

/* A tool that runs once for a key, or whose key was wrong, is sent a new one. */
static void
add_key(struct search *s, struct step *step)
{
	const struct frontmatter *front = &s->r->page->front;
	bool once = s->tool >= 0 && front->specs[s->tool].once;

	if ((!once && !front->once && !s->keyed) || !state_make_id(s->key))
		return;
	step->header = "Idempotency-Key";
	step->header_value = s->key;
}

static bool
set_call(struct search *s, const struct form *form, const char *text)
{
	struct buf request = BUF_INIT(STEP_BYTES / 2);
	struct step step = { .kind = STEP_CALL, .text = text };
	bool good = print_request(s, form, NULL, &request, &step.keep);

	step.request = buf_view(&request);
	add_key(s, &step);
	if (good)
		refusal_set(s->r->parts->arena, &step, s->result);
	buf_release(&request);
	return good;
}

/* The request as it was sent, but for what no tool takes. */
static struct form
form_as_sent(const struct proto_request *q)
{
	return (struct form){ .words = q->words,
		.word_count = q->word_count,
		.name = q->call_name,
		.args = q->call_args,
		.arg_count = q->call_arg_count,
		.sent = true };
}

static bool
try_as_sent(struct search *s, const char *text)
{
	struct form form = form_as_sent(s->r->request);

	if (form.words == NULL && form.name == NULL)
		return false;
	s->request = *s->r->request;
	s->request.env = s->env;
	s->request.env_count = s->env_count;
	s->request.next = s->request.confirm = NULL;
	if (!runs(s)) {
		s->request.has_stdin = false;
		if (!runs(s))
			return false;
	}
	return set_call(s, &form, text);
}

/* Of the refused words or call. */
static bool
find_near(const struct search *s, struct form *form)
{
	const struct proto_request *q = s->r->request;
	struct meant meant;

	if (s->r->body != NULL) {
		if (!meant_read(
			    s->page.arena, s->r->body, s->r->body_len, &meant))
			return false;
		return meant.name != NULL
			? form_of_call(&s->page, meant.name, meant.args,
				  meant.arg_count, form)
			: form_of_words(&s->page, meant.words, meant.word_count,
				  form);
	}
	if (q->call_name != NULL)
		return form_of_call(&s->page, q->call_name, q->call_args,
			q->call_arg_count, form);
	return form_of_words(&s->page, q->words, q->word_count, form);
}

static bool
try_forms(struct search *s)
{
	struct form form = { .tool = 0 };
	bool near = find_near(s, &form);

	if (near && form_runs(s, &form))
		return set_call(s, &form,
			form.own > 0 ? "send the nearest request that this "
				       "page allows"
				     : "send a request that this page allows");
	for (size_t i = near ? form.tool : 0, tried = 0;
		i < s->page.count && tried < EXAMPLES_MAX; i++, tried++)
		if (!s->page.specs[i].confirm &&
			form_of_tool(&s->page, i, &form) && form_runs(s, &form))
			return set_call(s, &form,
				"send a request that this page allows");
	return false;
}

static bool
find_call(struct search *s)
{
	if (try_as_sent(s,
		    s->keyed ? "send the same request with a new key"
			    : s->lost
			    ? "send the same request without a session, or "
			      "create one first: POST /__workspaces/ or "
			      "`statespace workspace create`"
			    : "send the same request without what this tool "
			      "does not take"))
		return true;
	if (try_forms(s))
		return true;
	if (s->r->page->front.env.count == 0)
		return false;
	add_open_names(s);
	return try_as_sent(s,
		       "send the same request with the variables that "
		       "this tool needs") ||
		try_forms(s);
}

/* ------------------------------------------------------------------- steps -- */

static const char *
site_path(const struct refusal *r, const char *path)
{
	const char *prefix = r->parts->config->http.prefix;
	size_t n = strlen(prefix);

	while (n > 0 && prefix[n - 1] == '/')
		n--;
	return arena_printf(r->parts->arena, "%.*s/%s", (int)n, prefix, path);
}

static void
set_get(const struct refusal *r, const char *path, const char *text,
	struct ss_result *result)
{
	const struct step step = {
		.kind = STEP_GET, .text = text, .path = site_path(r, path)
	};

	if (step.path != NULL)
		refusal_set(r->parts->arena, &step, result);
}

static bool
has_file(void *ctx, struct ss_text path)
{
	const struct search *s = ctx;

	return exists_below(s->r->parts->documents, s->r->doc, path);
}

static void
begin_search(
	struct search *s, const struct refusal *r, struct ss_result *result)
{
	*s = (struct search){ .r = r, .result = result };
	s->call = (struct call){ .doc = r->doc,
		.page = r->page,
		.request = &s->request,
		.request_id = "0",
		.stdin_fd = -1,
		.client_fd = -1,
		.dry_run = true };
	s->page = (struct form_page){ .specs = r->page->front.specs,
		.count = r->page->front.spec_count,
		.path = r->doc->path,
		.arena = r->parts->arena,
		.has_file = has_file,
		.ctx = s };
}

static void
set_matching(
	const struct refusal *r, enum ss_err code, struct ss_result *result)
{
	struct search s;

	begin_search(&s, r, result);
	s.keyed = code == SS_KEY_REQUIRED || code == SS_KEY_REUSED;
	s.lost = code == SS_NOT_FOUND && r->request->has_workspace;
	if (keep_open_names(&s) && !find_call(&s))
		set_get(r, r->doc->path,
			"read the page: it says how its tools are called",
			result);
}

/* The same request with the token, once a person has agreed. */
static void
set_confirm(const struct refusal *r, struct ss_result *result)
{
	struct step step = { .kind = STEP_ASK,
		.who = "person",
		.text = "show the command to a person and, if they agree, "
			"send the same request with this token" };
	struct buf request = BUF_INIT(STEP_BYTES / 2);
	struct form form = form_as_sent(r->request);
	struct search s;

	if (r->token == NULL || r->token[0] == '\0')
		return;
	begin_search(&s, r, result);
	s.request = *r->request;
	if (print_request(&s, &form, r->token, &request, &step.keep)) {
		step.request = buf_view(&request);
		refusal_set(r->parts->arena, &step, result);
	}
	buf_release(&request);
}

/* The page asks for an address before the operator can grant it. */
static void
set_network(const struct refusal *r, const struct ss_error *err,
	struct ss_result *result)
{
	const struct step step = { .kind = STEP_ASK,
		.who = "author",
		.text = "the author lists it in sandbox: network of the page",
		.page = result->page,
		.line = err->line,
		.key = "network",
		.add = err->value + 1 };

	refusal_set(r->parts->arena, &step, result);
}

static void
set_timeout(const struct refusal *r, const struct ss_error *err,
	struct ss_result *result)
{
	const struct step step = { .kind = STEP_ASK,
		.who = "author",
		.text = "the author gives it more time",
		.page = result->page,
		.line = err->line,
		.key = "timeout",
		.set = err->value };

	refusal_set(r->parts->arena, &step, result);
}

static bool
is_matching(enum ss_err code)
{
	return code == SS_BAD_REQUEST || code == SS_NOT_ALLOWED ||
		code == SS_PATH_REFUSED || code == SS_COMMAND_TOO_LARGE ||
		code == SS_BAD_ENV || code == SS_KEY_REQUIRED ||
		code == SS_KEY_REUSED || code == SS_NEXT_GONE ||
		code == SS_CONTENT_TYPE || code == SS_LENGTH_REQUIRED ||
		code == SS_NOT_FOUND;
}

void
refusal_step(const struct refusal *r, const struct ss_error *err,
	struct ss_result *result)
{
	struct refusal own = *r;

	if (r->doc == NULL || err == NULL || err->code == SS_OK)
		return;
	result->page = site_path(r, r->doc->path);
	if (err->code == SS_TIMEOUT && err->setting[0] == '\0' &&
		err->value[0] != '\0')
		set_timeout(r, err, result);
	if (err->code == SS_ADDRESS_REFUSED && err->value[0] == '+')
		set_network(r, err, result);
	if (err->setting[0] != '\0' || err->code == SS_INTERNAL)
		return;
	if (own.page == NULL &&
		(!path_is_page(r->doc->path) ||
			page_get(r->parts->pages, r->doc, &own.page, NULL) !=
				SS_OK))
		own.page = NULL;
	if (own.page == NULL || own.page->error.code != SS_OK ||
		own.page->front.spec_count == 0) {
		if (err->code != SS_BAD_FRONTMATTER)
			set_get(r, "AGENTS.md",
				"this lists the pages and how to call their "
				"tools",
				result);
		return;
	}
	if (err->code == SS_CONFIRM_REQUIRED)
		set_confirm(&own, result);
	else if (is_matching(err->code))
		set_matching(&own, err->code, result);
}
