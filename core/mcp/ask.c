/* SPDX-License-Identifier: MIT */
#include "mcp/ask.h"

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
		if (!may_omit(a, name))
			names[count++] = name;
		mcp_key(m, name);
		buf_char(m->out, '{');
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
