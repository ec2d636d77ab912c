/* SPDX-License-Identifier: MIT */
#include "mcp/ask.h"

#define TRIES_MAX 5 /* of one form in one call, when answers do not fit */

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
	for (size_t i = 0; i < r->answer_count; i++)
		if (!a->has(a->ctx, r->answers[i].name))
			a->take(a->ctx, r->answers[i].name,
				r->answers[i].value);
}

/*
 * Takes the answers that fit; the form is shown again for the others.  Copies
 * them: the response may be freed before the request ends.
 */
static void
take_form(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form, const struct rpc_value *content)
{
	for (size_t i = 0; i < form->arguments.count; i++) {
		const char *name = form->arguments.names[i];
		const char *value = rpc_text(rpc_member(content, name));

		if (value != NULL)
			value = arena_copy(
				&m->site->arena, value, strlen(value));
		if (value != NULL && !a->has(a->ctx, name) &&
			a->take(a->ctx, name, value))
			mcp_round_answer(r, name, value);
	}
}

static enum mcp_answered
show_form(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form, const char **names)
{
	size_t count = 0;

	mcp_question_begin(m, form->name);
	mcp_string(m, form->message);
	mcp_question_form(m);
	for (size_t i = 0; i < form->arguments.count; i++) {
		const char *name = form->arguments.names[i];

		if (a->has(a->ctx, name))
			continue;
		names[count++] = name;
		mcp_key(m, name);
		buf_text(m->out, "{\"type\":\"string\"");
		a->describe(a->ctx, m, name);
		buf_char(m->out, '}');
	}
	return mcp_question_end(m, r, names, count, false);
}

/* MCP_AGREED: the form is complete, or the client cannot be asked. */
static enum mcp_answered
ask_form(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a,
	const struct ask *form)
{
	const struct rpc_value *response = mcp_question_response(m, form->name);
	const char **names;

	if (is_complete(a, form) || !mcp_question_possible(m))
		return MCP_AGREED;
	if (mcp_question_is_accepted(response))
		take_form(m, r, a, form, rpc_member(response, "content"));
	else if (rpc_text(rpc_member(response, "action")) != NULL) {
		error_set(&m->err, SS_NOT_ALLOWED,
			"the person did not answer: \"%.200s\"", form->message);
		return MCP_DECLINED;
	}
	if (is_complete(a, form))
		return MCP_AGREED;
	names = arena_array(
		&m->site->arena, form->arguments.count, sizeof(*names));
	if (names == NULL) {
		error_memory(&m->err);
		return MCP_DECLINED;
	}
	return show_form(m, r, a, form, names);
}

/* MCP_ASKS_BY_REQUEST: ask_form returns with the answer, taken in the loop. */
enum mcp_answered
mcp_ask(struct mcp *m, struct mcp_round *r, const struct mcp_ask *a)
{
	take_earlier(r, a);
	for (size_t i = 0; i < a->form_count; i++) {
		const struct ask *form = &a->forms[i];
		unsigned tries = 0;

		while (!is_complete(a, form) && mcp_question_possible(m)) {
			enum mcp_answered answered = ask_form(m, r, a, form);

			if (answered != MCP_AGREED)
				return answered;
			if (tries++ == TRIES_MAX)
				return MCP_AGREED;
		}
	}
	return MCP_AGREED;
}
