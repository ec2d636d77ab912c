/* SPDX-License-Identifier: MIT */
#include "mcp/ask.h"

#include "wire/escape.h"
#include "wire/json.h"
#include "wire/proto.h"

#define TRIES_MAX 5 /* of one form in one call, when answers do not fit */

/* Before the name of an argument that a person left out: no name has it. */
#define LEFT_OUT '-'

size_t
mcp_ask_count(const struct ask *forms, size_t count)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		n += forms[i].arguments.count;
	return n;
}

bool
mcp_ask_may_omit(const struct mcp *m, const struct ask *forms, size_t count,
	const char *name)
{
	for (size_t i = 0; m->revision->asked_is_optional && i < count; i++)
		if (name_list_has(&forms[i].arguments, text_of(name)))
			return true;
	return false;
}

static bool
is_complete(const struct mcp_ask *a, const struct ask *form)
{
	for (size_t i = 0; i < form->arguments.count; i++)
		if (!a->has(a->ctx, form->arguments.names[i]))
			return false;
	return true;
}

/* Takes the answers of earlier rounds. */
static void
take_earlier(struct mcp_round *r, const struct mcp_ask *a)
{
	for (size_t i = 0; i < r->answer_count; i++) {
		const struct ss_pair *p = &r->answers[i];

		if (p->name[0] == LEFT_OUT)
			a->skip(a->ctx, p->name + 1);
		else if (!a->has(a->ctx, p->name))
			a->take(a->ctx, p->name, p->value);
	}
}

static bool
may_omit(const struct mcp_ask *a, const char *name)
{
	return a->may_omit != NULL && a->may_omit(a->ctx, name);
}

static void
skip(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const char *name)
{
	const char *mark =
		arena_printf(&m->site->arena, "%c%s", LEFT_OUT, name);

	a->skip(a->ctx, name);
	if (mark != NULL)
		mcp_round_answer(r, mark, "");
	else
		m->out->failed = true;
}

/* What was written for the argument; NULL: nothing that is one value. */
static const char *
find_answer(const struct proto_argument *answers, size_t count,
	const char *name, bool *absent)
{
	*absent = true;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(answers[i].name, name) != 0)
			continue;
		*absent = false;
		return answers[i].text.data;
	}
	return NULL;
}

/*
 * Takes the answers that fit; the form is shown again for the others.  Copies
 * them: the response may be freed before the request ends.
 */
static void
take_form(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form, const struct rpc_value *content)
{
	struct proto_argument *answers;
	size_t count;

	if (!rpc_arguments(&m->site->arena, content, 0, &answers, &count)) {
		m->out->failed = true;
		return;
	}
	for (size_t i = 0; i < form->arguments.count; i++) {
		const char *name = form->arguments.names[i], *value;
		bool absent;

		value = find_answer(answers, count, name, &absent);
		if (a->has(a->ctx, name))
			continue;
		if (value != NULL && a->take(a->ctx, name, value))
			mcp_round_answer(r, name, value);
		else if (absent && may_omit(a, name))
			skip(m, r, a, name);
	}
}

/* The author's text, with the values of arguments that are there. */
static void
write_message(struct mcp *m, const struct mcp_ask *a, const struct ask *form)
{
	struct buf text = BUF_INIT(PROTO_WORD_MAX);
	const char *at = form->message, *open, *end;

	while (a->value != NULL && (open = strchr(at, '{')) != NULL &&
		(end = strchr(open, '}')) != NULL) {
		const char *name = arena_copy(
			&m->site->arena, open + 1, (size_t)(end - open) - 1);
		const char *value =
			name != NULL ? a->value(a->ctx, name) : NULL;

		buf_add(&text, at, (size_t)(open - at));
		if (value != NULL && form->from == ASK_PERSON)
			escape_shown(&text, value, strlen(value));
		else if (value != NULL)
			buf_text(&text, value);
		else
			buf_add(&text, open, (size_t)(end + 1 - open));
		at = end + 1;
	}
	buf_text(&text, at);
	json_string(m->out, text.data, text.len);
	m->out->failed |= !buf_ok(&text);
	buf_release(&text);
}

static enum mcp_answered
show_form(struct mcp *m, const struct mcp_ask *a, const struct ask *form)
{
	const char **names = arena_array(
		&m->site->arena, form->arguments.count, sizeof(*names));
	size_t count = 0;

	if (names == NULL) {
		error_memory(&m->err);
		return MCP_DECLINED;
	}
	mcp_question_begin(m, form->name, form->from);
	if (form->from != ASK_ROOTS)
		write_message(m, a, form);
	if (form->from == ASK_PERSON)
		mcp_question_form(m);
	for (size_t i = 0;
		form->from == ASK_PERSON && i < form->arguments.count; i++) {
		const char *name = form->arguments.names[i];

		if (a->has(a->ctx, name))
			continue;
		if (!may_omit(a, name))
			names[count++] = name;
		mcp_key(m, name);
		buf_char(m->out, '{');
		a->describe(a->ctx, m, name);
		buf_char(m->out, '}');
	}
	return mcp_question_end(m, form->from, names, count);
}

/* The text of a model's message, which may have several blocks. */
static const char *
model_text(const struct rpc_value *response)
{
	const struct rpc_value *content = rpc_member(response, "content");

	if (rpc_is_list(content))
		content = rpc_first(content);
	return rpc_text(rpc_member(content, "text"));
}

/* The URIs of the client's directories, one in each line. */
static const char *
roots_text(struct mcp *m, const struct rpc_value *response)
{
	const struct rpc_value *list = rpc_member(response, "roots");
	struct buf text = BUF_INIT(PROTO_WORD_MAX);
	const char *uri, *copy = NULL;

	if (!rpc_is_list(list))
		return NULL;
	for (const struct rpc_value *v = rpc_first(list); v != NULL;
		v = rpc_next(v)) {
		uri = rpc_text(rpc_member(v, "uri"));
		if (uri != NULL)
			buf_printf(
				&text, "%s%s", text.len > 0 ? "\n" : "", uri);
	}
	if (buf_ok(&text))
		copy = arena_copy(&m->site->arena, text.data, text.len);
	buf_release(&text);
	return copy;
}

/* The answer of a model or of the client; the caller looks whether it fits. */
static void
take_text(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form, const struct rpc_value *response)
{
	const char *name = form->arguments.names[0];
	const char *text = form->from == ASK_MODEL ? model_text(response)
						   : roots_text(m, response);

	if (text != NULL)
		text = arena_copy(&m->site->arena, text, strlen(text));
	if (text != NULL && a->take(a->ctx, name, text))
		mcp_round_answer(r, name, text);
}

/* Takes the response to a form, if there is one.  False: m->err. */
static bool
take_response(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form)
{
	const struct rpc_value *response = mcp_question_response(m, form->name);

	if (response == NULL || is_complete(a, form))
		return true;
	if (form->from != ASK_PERSON) {
		take_text(m, r, a, form, response);
	} else if (mcp_question_is_accepted(response)) {
		take_form(m, r, a, form, rpc_member(response, "content"));
	} else if (rpc_text(rpc_member(response, "action")) != NULL) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"the person did not answer: \"%.200s\"", form->message);
		return false;
	}
	return true;
}

/* One after the other; each question waits for its response. */
static enum mcp_answered
ask_by_request(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a)
{
	for (size_t i = 0; i < a->form_count; i++) {
		const struct ask *form = &a->forms[i];
		unsigned tries = 0;

		while (!is_complete(a, form) &&
			mcp_question_possible(m, form->from)) {
			enum mcp_answered answered = show_form(m, a, form);

			if (answered != MCP_AGREED)
				return answered;
			if (!take_response(m, r, a, form))
				return MCP_DECLINED;
			if (tries++ == TRIES_MAX)
				return MCP_AGREED;
		}
	}
	return MCP_AGREED;
}

/* Needs a tool what only a model or the client itself can say? */
static enum mcp_answered
cannot_ask(struct mcp *m, const struct mcp_ask *a)
{
	for (size_t i = 0; i < a->form_count; i++) {
		const struct ask *form = &a->forms[i];

		if (form->from == ASK_PERSON || is_complete(a, form) ||
			may_omit(a, form->arguments.names[0]) ||
			mcp_question_possible(m, form->from))
			continue;
		mcp_question_impossible(m, form->from,
			"the client did not declare that it can answer what "
			"is asked here");
		return MCP_CANNOT_ASK;
	}
	return MCP_AGREED;
}

/* In one result the next form for each that can be asked. */
static enum mcp_answered
ask_by_result(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a)
{
	bool asked[ASK_KINDS] = { false };
	enum mcp_answered answered = MCP_AGREED;

	for (size_t i = 0; i < a->form_count; i++)
		if (!take_response(m, r, a, &a->forms[i]))
			return MCP_DECLINED;
	for (size_t i = 0; i < a->form_count; i++) {
		const struct ask *form = &a->forms[i];

		if ((asked[form->from] && !m->parks) || is_complete(a, form) ||
			!mcp_question_possible(m, form->from))
			continue;
		asked[form->from] = true;
		answered = show_form(m, a, form);
		if (answered != MCP_ASKED)
			return answered;
	}
	if (answered != MCP_ASKED)
		return cannot_ask(m, a);
	mcp_question_send(m, r, false);
	return MCP_ASKED;
}

enum mcp_answered
mcp_ask(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a)
{
	take_earlier(r, a);
	return m->revision->asking == MCP_ASKS_BY_REQUEST
		? ask_by_request(m, r, a)
		: ask_by_result(m, r, a);
}
